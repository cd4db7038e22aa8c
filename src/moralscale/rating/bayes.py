"""Hierarchical Bradley-Terry: strengths, judges, position bias and ties, with priors.

    strength[i]        ~ Normal(0, strength_sd), zero-sum        strength_sd ~ HalfNormal(2)
    own[j, i]          ~ Normal(0, judge_sd)                     judge_sd ~ HalfNormal(1)
    position_bias      ~ Normal(0, 1)
    bias[j]            ~ Normal(0, position_bias_sd), zero-sum   position_bias_sd ~ HalfNormal(0.5)
    log nu             ~ Normal(0, 2)

    eta = strength[first] + own[j, first] - strength[second] - own[j, second]
          + position_bias + bias[j]
    P(first) : P(tie) : P(second) = exp(eta / 2) : nu : exp(-eta / 2)

What is of judges is there where there are two or more, and of ties where there are any.
"""

from __future__ import annotations

from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from moralscale import elo
from moralscale.bradley_terry.connectivity import names
from moralscale.bradley_terry.counts import FIRST, SECOND, TIE, Counts, count
from moralscale.checks.convergence import check_convergence
from moralscale.checks.sampling import check_sampling
from moralscale.config import Gates, Sampler
from moralscale.errors import GateError
from moralscale.machine import compile_model
from moralscale.rating.comparisons import Comparisons
from moralscale.sampling import by_nutpie

SAMPLE_DIMS = ("chain", "draw")
#: Judgments a contestant, and judge, from which effects are free variables themselves.
CENTRED_FROM = 20


def build_rating_model(comparisons: Comparisons, *, position_bias: bool) -> pm.Model:
    """Build the model of this module's docstring.

    Parameters
    ----------
    comparisons : Comparisons
        Judgments without weights.
    position_bias : bool
        Whether `first` may have an advantage of its own.
    """
    cells, judge_idx = _cells(comparisons)
    n_judgments = cells.outcomes.sum()
    coords: dict[str, Any] = {"contestant": list(comparisons.contestants)}
    if len(comparisons.judges) > 1:
        coords["judge"] = list(comparisons.judges)
    size = len(comparisons.contestants)
    with pm.Model(coords=coords) as model:
        sd = pm.HalfNormal("strength_sd", 2)
        if 2 * n_judgments / size >= CENTRED_FROM:
            strength = pm.ZeroSumNormal("strength", sigma=sd, dims="contestant")
        else:
            z = pm.ZeroSumNormal("strength_z", dims="contestant")
            strength = pm.Deterministic("strength", sd * z, dims="contestant")
        eta = strength[cells.first_idx] - strength[cells.second_idx]
        if "judge" in coords:
            own = pm.HalfNormal("judge_sd", 1) * pm.Normal("own_z", dims=("judge", "contestant"))
            eta += own[judge_idx, cells.first_idx] - own[judge_idx, cells.second_idx]
        if position_bias:
            eta += _position_bias(judge_idx, "judge" in coords)
        pm.Potential("judgments", _log_likelihood(eta, cells))
    return model


def posterior_strengths(
    comparisons: Comparisons, *, position_bias: bool, ci_prob: float, seed: int, sampler: Sampler
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sample the posterior, check it, and put it into columns and a summary.

    Raises
    ------
    GateError
        The chains do not agree, are too short, or met with accidents. Nothing is reported.
    """
    model = build_rating_model(comparisons, position_bias=position_bias)
    reported = [name for name in REPORTED if name in model.named_vars]
    tree = by_nutpie(
        compile_model(model, reported),
        draws=sampler.draws * sampler.thin,
        tune=sampler.tune,
        chains=sampler.chains,
        cores=sampler.chains,
        seed=seed,
        target_accept=sampler.target_accept,
        save_warmup=False,
        progress_bar=False,
    )
    draws = tree["posterior"].to_dataset()[reported]
    _gate(tree, draws)
    bounds = az.hdi(draws, prob=ci_prob)
    strength = draws["strength"].mean(SAMPLE_DIMS).values
    columns = {
        "strength": strength - strength.mean(),
        "low": bounds["strength"].sel(ci_bound="lower").values,
        "high": bounds["strength"].sel(ci_bound="upper").values,
        "rating": elo.rating(strength),
    }
    found = {name: _scalar(name, draws, bounds) for name in REPORTED if name != "strength"}
    return columns, {"ci_prob": ci_prob, **found, "warnings": _warnings(comparisons)}


#: Quantities that are kept and gated; all but the strengths are single numbers.
REPORTED = (
    "strength",
    "strength_sd",
    "judge_sd",
    "position_bias",
    "position_bias_sd",
    "log_tie",
)


def _cells(comparisons: Comparisons) -> tuple[Counts, np.ndarray]:
    """Count by judge and ordered pair: counts, and the judge of each cell."""
    judge = comparisons.judge_idx
    if judge is None or len(comparisons.judges) < 2:
        counts = comparisons.counts()
        return counts, np.zeros(len(counts.first_idx), dtype=np.int64)
    by_judge = []
    for j in range(len(comparisons.judges)):
        own = judge == j
        by_judge.append(
            count(
                comparisons.contestants,
                comparisons.first_idx[own],
                comparisons.second_idx[own],
                comparisons.outcome[own],
                n=None if comparisons.n is None else comparisons.n[own],
            )
        )
    joined = {
        name: np.concatenate([getattr(counts, name) for counts in by_judge], axis=-1)
        for name in ("first_idx", "second_idx", "outcomes", "squares")
    }
    lengths = [len(counts.first_idx) for counts in by_judge]
    return Counts(comparisons.contestants, **joined), np.repeat(np.arange(len(lengths)), lengths)


def _position_bias(judge_idx: np.ndarray, judged: bool) -> Any:
    mean = pm.Normal("position_bias", 0, 1)
    if not judged:
        return mean
    # Zero-sum: a mean over the judges at hand is told well by them, one over all judges is not.
    sd = pm.HalfNormal("position_bias_sd", 0.5)
    return mean + sd * pm.ZeroSumNormal("position_bias_z", dims="judge")[judge_idx]


def _log_likelihood(eta: Any, cells: Counts) -> Any:
    first, second, tie = cells.outcomes[FIRST], cells.outcomes[SECOND], cells.outcomes[TIE]
    total = first + second + tie
    # log(exp(eta / 2) + exp(-eta / 2) + nu), the norm of the three outcomes.
    norm = pt.softplus(-eta) + eta / 2
    log_likelihood = pt.dot((first - second) / 2, eta)
    if cells.has_ties:
        log_tie = pm.Normal("log_tie", 0, 2)
        norm = pt.logaddexp(norm, log_tie)
        log_likelihood += tie.sum() * log_tie
    return log_likelihood - pt.dot(total, norm)


def _gate(tree: xr.DataTree, draws: xr.Dataset) -> None:
    """Hold the chains against the project's gates."""
    frames = []
    for name, variable in draws.data_vars.items():
        diagnostics = {
            "rhat": az.rhat(variable),
            "ess_bulk": az.ess(variable, method="bulk"),
            "ess_tail": az.ess(variable, method="tail"),
        }
        frame = pd.DataFrame({key: np.ravel(value) for key, value in diagnostics.items()})
        labels = variable["contestant"].values if variable.ndim > 2 else [""]
        frames.append(frame.assign(quantity=str(name), index=labels))
    # What cannot be diagnosed has not converged.
    estimates = pd.concat(frames, ignore_index=True)
    estimates = estimates.fillna({"rhat": np.inf, "ess_bulk": 0.0, "ess_tail": 0.0})
    gates = Gates()
    checks = [check_convergence(estimates, gates), check_sampling(tree, gates)]
    failed = [check.text for check in checks if not check.passed]
    if failed:
        raise GateError(
            "; ".join(failed),
            mend="nothing is reported of chains that did not converge: raise --draws, --tune or"
            " --target-accept",
        )


def _scalar(name: str, draws: xr.Dataset, bounds: xr.Dataset) -> dict[str, float] | None:
    if name not in draws:
        return None
    low, high = (float(bounds[name].sel(ci_bound=end)) for end in ("lower", "upper"))
    return {"estimate": float(draws[name].mean()), "low": low, "high": high}


def _warnings(comparisons: Comparisons) -> list[str]:
    """Say what the data do not tell: the order across groups that never met."""
    size = len(comparisons.contestants)
    ones = np.ones(len(comparisons.first_idx), dtype=np.int8)
    met = sparse.coo_array((ones, (comparisons.first_idx, comparisons.second_idx)), (size, size))
    n_groups, group = connected_components(met, directed=False)
    if n_groups == 1:
        return []
    shown = " | ".join(
        names(comparisons.contestants[i] for i in np.flatnonzero(group == g))
        for g in range(min(n_groups, 4))
    )
    more = f" | and {n_groups - 4} more" if n_groups > 4 else ""
    return [
        f"{n_groups} groups of contestants never meet, and their order across groups is the"
        f" prior's alone: {shown}{more}"
    ]
