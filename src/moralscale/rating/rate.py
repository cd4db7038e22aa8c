"""Rate contestants by maximum likelihood, by Bayes, or by online Elo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moralscale import elo
from moralscale.bradley_terry import (
    VERDICTS,
    Errors,
    Estimate,
    maximum_likelihood,
    quasi_variances,
)
from moralscale.config import validate
from moralscale.errors import JudgmentError, MoralscaleError
from moralscale.rating.comparisons import Comparisons
from moralscale.rating.orders import over_orders
from moralscale.rating.reading import read_comparisons
from moralscale.rating.settings import Method, Settings

#: Columns of the table, and what is told of them.
type Rated = tuple[dict[str, Any], dict[str, Any]]


def rate(
    comparisons: str | Path | pd.DataFrame,
    *,
    method: str = Method.MLE,
    columns: Mapping[str, str] | None = None,
    outcomes: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    **settings: Any,
) -> pd.DataFrame:
    """Rate contestants that were compared in pairs.

    Parameters
    ----------
    comparisons : path or DataFrame
        Columns first, second, outcome (first, second or tie); optional n (how often), weight,
        judge. A CSV, TSV, JSON lines or Parquet file, or a table.
    method : {"mle", "bayes", "elo"}, optional
        Bradley-Terry by maximum likelihood, hierarchical Bradley-Terry, or online Elo averaged
        over random orders of the judgments.
    columns, outcomes, ignore
        Names of columns, labels of outcomes, and labels to leave out: see
        `moralscale.rating.read_comparisons`.
    **settings
        As the attributes of `moralscale.rating.settings.Settings`: position_bias,
        errors, ci_prob, seed, draws, tune, chains, target_accept, k, start, orders.

    Returns
    -------
    DataFrame
        One row a contestant, the strongest first: contestant; strength (log-odds, mean zero); for
        mle ``se`` and ``quasi_se``, for bayes ``low`` and ``high``, for elo ``spread`` (sd of the
        rating over orders); rating (Elo, mean 1000); n (judgments it took part in).
        ``attrs["summary"]`` holds what was rated how, position bias and ties.

    Raises
    ------
    JudgmentError
        The comparisons cannot be read.
    UnboundedError
        Maximum likelihood has no finite estimate: contestants are not connected, or separated.
    GateError
        The sampler did not converge.
    ConfigError
        A setting is not possible.

    Examples
    --------
    Two meet ten times, and one wins seven: the strengths differ by log(7 / 3).

    >>> games = pd.DataFrame(
    ...     [("a", "b", "first", 7), ("a", "b", "second", 3)],
    ...     columns=["first", "second", "outcome", "n"],
    ... )
    >>> table = rate(games, position_bias=False)
    >>> table[["contestant", "strength", "n"]].round(3).values.tolist()
    [['a', 0.424, 10], ['b', -0.424, 10]]
    """
    checked = validate(Settings, {"method": method, **settings}, source="rate")
    read = read_comparisons(comparisons, columns=columns, outcomes=outcomes, ignore=ignore)
    return rate_comparisons(read, checked)


def rate_comparisons(comparisons: Comparisons, settings: Settings) -> pd.DataFrame:
    """Rate comparisons that were read already; as `rate`."""
    by_method = {Method.MLE: _by_likelihood, Method.BAYES: _by_bayes, Method.ELO: _by_elo}
    try:
        estimates, found = by_method[settings.method](comparisons, settings)
    except MoralscaleError as error:
        # The estimators do not know where the data come from.
        error.where = error.where or comparisons.source
        raise
    columns = {"contestant": list(comparisons.contestants), **estimates}
    columns["n"] = comparisons.taken_part()
    table = pd.DataFrame(columns).sort_values(
        ["strength", "contestant"], ascending=[False, True], kind="stable", ignore_index=True
    )
    table.attrs["summary"] = {"method": str(settings.method), **_data(comparisons), **found}
    return table


def _data(comparisons: Comparisons) -> dict[str, Any]:
    by_outcome = comparisons.by_outcome()
    return {
        "source": comparisons.source,
        "contestants": len(comparisons.contestants),
        "judges": len(comparisons.judges) or None,
        "judgments": int(by_outcome.sum()),
        "outcomes": dict(zip(map(str, VERDICTS), by_outcome.tolist(), strict=True)),
        "ignored": comparisons.ignored,
    }


def _by_likelihood(comparisons: Comparisons, settings: Settings) -> Rated:
    errors = settings.errors or (Errors.HESSIAN if comparisons.weight is None else Errors.SANDWICH)
    counts = comparisons.counts()
    estimate = maximum_likelihood(counts, position_bias=settings.position_bias, errors=errors)
    columns = {
        "strength": estimate.strength,
        "se": estimate.strength_se,
        "quasi_se": _quasi_se(estimate),
        "rating": elo.rating(estimate.strength),
    }
    return columns, {
        "errors": str(errors),
        "position_bias": _with_se(estimate.position_bias, estimate.position_bias_se),
        "log_tie": _with_se(estimate.tie, estimate.tie_se),
        "log_likelihood": estimate.log_likelihood,
        "iterations": estimate.iterations,
        "warnings": _unknown_errors(estimate),
    }


def _quasi_se(estimate: Estimate) -> np.ndarray:
    """Quasi standard errors; NaN where there is no covariance, or no real root."""
    if estimate.covariance is None:
        return np.full(len(estimate.strength), np.nan)
    q = quasi_variances(estimate.covariance)
    return np.sqrt(np.where(q >= 0, q, np.nan))


def _unknown_errors(estimate: Estimate) -> list[str]:
    if not np.isnan(estimate.strength_se).any():
        return []
    return [f"no standard errors: {len(estimate.strength):,} contestants are too many to invert"]


def _with_se(value: float | None, se: float | None) -> dict[str, float | None] | None:
    if value is None or se is None:
        return None
    return {"estimate": value, "se": None if np.isnan(se) else se}


def _by_bayes(comparisons: Comparisons, settings: Settings) -> Rated:
    # PyMC takes seconds to import, and the other methods do without.
    from moralscale.rating.bayes import posterior_strengths

    if comparisons.weight is not None:
        raise JudgmentError(
            "weights have no place in a posterior",
            where=comparisons.source,
            mend="give how often each judgment was made as n, or use --method mle",
        )
    return posterior_strengths(
        comparisons,
        position_bias=settings.position_bias,
        ci_prob=settings.ci_prob,
        seed=settings.seed,
        sampler=settings.sampler(),
    )


def _by_elo(comparisons: Comparisons, settings: Settings) -> Rated:
    if comparisons.weight is not None:
        raise JudgmentError(
            "Elo's rule knows no weights",
            where=comparisons.source,
            mend="give how often each judgment was made as n, or use --method mle",
        )
    ratings = over_orders(
        comparisons, k=settings.k, start=settings.start, orders=settings.orders, seed=settings.seed
    )
    mean = ratings.mean(axis=0)
    spread = ratings.std(axis=0, ddof=1) if len(ratings) > 1 else np.full(len(mean), np.nan)
    strength = (mean - mean.mean()) / elo.ELO_PER_LOGIT
    columns = {"strength": strength, "rating": elo.rating(strength), "spread": spread}
    return columns, {
        "k": settings.k,
        "start": settings.start,
        "orders": settings.orders,
        "median_spread": float(np.median(spread)) if len(ratings) > 1 else None,
        "position_bias": None,
        "log_tie": None,
        "warnings": [],
    }
