"""Two runs side by side: two panels of judges, two framings, two languages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from moralscale.config import Reporting
from moralscale.errors import ModelError
from moralscale.inspection import mark
from moralscale.markup import Sheet
from moralscale.printing import KEY, UNITS, estimate, percent
from moralscale.projections import in_elo
from moralscale.runs import RunResults
from moralscale.summaries import interval_bounds, labels

Array = NDArray[np.float64]

#: Strengths whose correlation between the runs is reported, over the contestants that both have.
SHARED = {"scene_strength": "scenes", "composite_strength": "composites"}


def compare_runs(
    a: RunResults,
    b: RunResults,
    *,
    fit: str | None = None,
    reporting: Reporting | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare the key quantities of two runs.

    Draws of the two posteriors are paired at random, which gives the posterior of a difference
    where the runs have no judgment in common. Where they have, the interval is too wide.

    Parameters
    ----------
    a, b : RunResults
        As `runs.open_run` gives them.
    fit : str, optional
        The fit to take of both, as in `RunResults.posterior`.
    reporting : Reporting, optional
        Kind and probability of intervals.
    seed : int
        Seed of the pairing.

    Returns
    -------
    DataFrame
        One row a quantity: quantity, index, unit, label; ``mean``, ``low`` and ``high`` of each run
        (suffixes ``_a``, ``_b``) and of b - a (``_difference``); ``pd``, the probability of the
        direction of the difference. Last come correlations of strengths between the runs, in the
        columns of the difference. ``attrs`` hold names, origins and the interval's name.

    Raises
    ------
    ModelError
        The fits read different data, so that their quantities mean different things; or the runs
        have no quantity in common.
    """
    reporting = reporting or Reporting()
    data = [str(run.posterior(fit).attrs["data"]) for run in (a, b)]
    if data[0] != data[1]:
        raise ModelError(
            f"'{a.name}' has a fit of {data[0]} data, '{b.name}' one of {data[1]} data",
            mend="name the fit of both: study, or bridged",
        )
    draws_a, draws_b = a.quantities(fit), b.quantities(fit)
    rng = np.random.default_rng(seed)
    rows = [
        *_changes(draws_a, draws_b, reporting, rng),
        *_agreement(draws_a, draws_b, reporting, rng),
    ]
    table = pd.DataFrame(rows)
    table.attrs = {
        "a": a.name,
        "b": b.name,
        "data": data[0],
        "origin_a": a.origin,
        "origin_b": b.origin,
        "interval": reporting.interval_name,
    }
    return table


def _changes(
    a: xr.Dataset, b: xr.Dataset, reporting: Reporting, rng: np.random.Generator
) -> Iterator[dict[str, object]]:
    """Give a row for every value of every key quantity that both have."""
    for quantity, unit, label in KEY:
        if quantity not in a or quantity not in b:
            continue
        here, there = _columns(a[quantity], unit), _columns(b[quantity], unit)
        for index in here:
            if index not in there:
                continue
            first, second = _paired(here[index], there[index], rng)
            change = second - first
            above = float((change > 0).mean())
            yield {
                "quantity": quantity,
                "index": index,
                "unit": unit,
                "label": f"{label} {index}".strip() + UNITS.get(unit, ""),
                **_summary(here[index], reporting, "a"),
                **_summary(there[index], reporting, "b"),
                **_summary(change, reporting, "difference"),
                "pd": max(above, 1 - above),
            }


def _agreement(
    a: xr.Dataset, b: xr.Dataset, reporting: Reporting, rng: np.random.Generator
) -> Iterator[dict[str, object]]:
    """Correlate strengths over the contestants that both runs have, draw by draw."""
    for quantity, kind in SHARED.items():
        dim = kind.removesuffix("s")
        both = sorted(set(a[dim].values) & set(b[dim].values))
        if len(both) < 3:
            continue
        tables = [
            draws[quantity]
            .sel({dim: both})
            .stack(sample=("chain", "draw"))
            .transpose("sample", dim)
            for draws in (a, b)
        ]
        first, second = _paired(tables[0].values, tables[1].values, rng)
        unit = [x - x.mean(axis=1, keepdims=True) for x in (first, second)]
        unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in unit]
        yield {
            "quantity": "agreement",
            "index": kind,
            "unit": "correlation",
            "label": f"correlation of {kind} between the runs ({len(both)} shared)",
            **_summary((unit[0] * unit[1]).sum(axis=1), reporting, "difference"),
        }


def _columns(variable: xr.DataArray, unit: str) -> dict[str, Array]:
    """Draws in the wanted unit by index label: {label: (sample,)}."""
    if unit == "elo":
        elo = in_elo(variable)
        assert elo is not None, "KEY gives Elo only to what has an equivalent"
        variable = elo
    table = variable.transpose("chain", "draw", ...).values.astype(float)
    flat = table.reshape(table.shape[0] * table.shape[1], -1)
    return dict(zip(labels(variable.transpose("chain", "draw", ...)), flat.T, strict=True))


def _paired(a: Array, b: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pair draws (the first axis) at random, as many as both have."""
    n = min(len(a), len(b))
    return a[rng.permutation(len(a))[:n]], b[rng.permutation(len(b))[:n]]


def _summary(draws: Array, reporting: Reporting, suffix: str) -> dict[str, float]:
    low, high = interval_bounds(draws, reporting)
    return {f"mean_{suffix}": draws.mean(), f"low_{suffix}": low, f"high_{suffix}": high}


def sheet(table: pd.DataFrame) -> Sheet:
    """Prepare a comparison for printing."""
    told = table.attrs
    cells = [
        {
            "quantity": row["label"],
            **{
                head: estimate(
                    pd.Series(
                        {
                            "unit": row["unit"],
                            "mean": row[f"mean_{column}"],
                            "hdi_low": row[f"low_{column}"],
                            "hdi_high": row[f"high_{column}"],
                        }
                    )
                )
                for head, column in ((told["a"], "a"), (told["b"], "b"), ("b - a", "difference"))
            },
            "direction": percent(row["pd"]),
        }
        for _, row in table.iterrows()
    ]
    heading = (
        f"a: {told['a']} ({mark(told['origin_a'])}), b: {told['b']} ({mark(told['origin_b'])}); "
        f"{told['data']} fits, means and {told['interval']}"
    )
    note = "The differences take the two runs to have no judgment in common."
    return Sheet(heading, (pd.DataFrame(cells),), table, note)
