"""Two runs side by side: two panels of judges, two framings, two languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
from moralscale.records import Origin
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

    Each run was fitted by itself. Draws of the two posteriors are paired at random, which gives the
    posterior of a difference where the runs have no judgment in common; where they have, the
    interval is too wide. Most quantities are means over the judges of a run: of runs with the same
    judges, say in two languages, their difference is that of these very judges. `beta`, `alpha` and
    `position_bias` are of the population that judges come from, and their difference does not know
    that the judges are the same: its interval is then too wide.

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
        direction of the difference. Where only some judges are in both runs, ``slope_shared`` is
        the slope over these. Last come correlations of strengths between the runs, in the columns
        of the difference. ``attrs`` hold names, origins, languages, how many judges are in both
        runs and in one alone, and the interval's name.

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
        *_shared(draws_a, draws_b, reporting, rng),
        *_agreement(draws_a, draws_b, reporting, rng),
    ]
    judges = [set(map(str, draws["judge"].values)) for draws in (draws_a, draws_b)]
    table = pd.DataFrame(rows)
    table.attrs = {
        "a": a.name,
        "b": b.name,
        "data": data[0],
        "origin_a": a.origin,
        "origin_b": b.origin,
        "language_a": str(a.posterior(fit).attrs.get("language", "")),
        "language_b": str(b.posterior(fit).attrs.get("language", "")),
        "judges_both": len(judges[0] & judges[1]),
        "judges_a": len(judges[0] - judges[1]),
        "judges_b": len(judges[1] - judges[0]),
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
            yield {
                "quantity": quantity,
                "index": index,
                "unit": unit,
                "label": f"{label} {index}".strip() + UNITS.get(unit, ""),
                **_difference(here[index], there[index], reporting, rng),
            }


def _shared(
    a: xr.Dataset, b: xr.Dataset, reporting: Reporting, rng: np.random.Generator
) -> Iterator[dict[str, object]]:
    """Compare the slope over the judges of both runs, where each has others too."""
    both = sorted(set(a["judge"].values) & set(b["judge"].values))
    if not both or len(both) == a.sizes["judge"] == b.sizes["judge"]:
        return
    means = [draws["slope_judge"].sel(judge=both).mean("judge") for draws in (a, b)]
    here, there = (_columns(mean, "ratio")[""] for mean in means)
    yield {
        "quantity": "slope_shared",
        "index": "",
        "unit": "ratio",
        "label": f"slope, mean over the {len(both)} judges of both runs",
        **_difference(here, there, reporting, rng),
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


def _difference(
    a: Array, b: Array, reporting: Reporting, rng: np.random.Generator
) -> dict[str, float]:
    """Summarise the draws of each run, of their difference, and its direction."""
    first, second = _paired(a, b, rng)
    change = second - first
    above = float((change > 0).mean()) if np.isfinite(change).all() else np.nan
    return {
        **_summary(a, reporting, "a"),
        **_summary(b, reporting, "b"),
        **_summary(change, reporting, "difference"),
        "pd": max(above, 1 - above),
    }


def _summary(draws: Array, reporting: Reporting, suffix: str) -> dict[str, float]:
    low, high = interval_bounds(draws, reporting)
    return {f"mean_{suffix}": draws.mean(), f"low_{suffix}": low, f"high_{suffix}": high}


def sheet(table: pd.DataFrame) -> Sheet:
    """Prepare a comparison for printing."""
    told = table.attrs
    columns = ("a", "b", "difference")
    cells = [
        [row["label"], *(_cell(row, column) for column in columns), percent(row["pd"])]
        for _, row in table.iterrows()
    ]
    heads = ["quantity", told["a"], told["b"], "b - a", "direction"]
    if len(set(heads)) < len(heads):  # runs of two folders may be called the same
        heads[1:3] = f"{told['a']} (a)", f"{told['b']} (b)"
    runs = ", ".join(
        f"{run}: {told[run]} ("
        + ", ".join(filter(None, [mark(told[f"origin_{run}"]), told[f"language_{run}"]]))
        + ")"
        for run in ("a", "b")
    )
    heading = f"{runs}; {told['data']} fits, means and {told['interval']}"
    return Sheet(heading, (pd.DataFrame(cells, columns=heads),), table, _note(told))


def _cell(row: pd.Series, column: str) -> str:
    """Print the estimate of a run, or that of the difference."""
    numbers = {"mean": "mean", "hdi_low": "low", "hdi_high": "high"}
    found = {name: row[f"{stem}_{column}"] for name, stem in numbers.items()}
    return estimate(pd.Series({"unit": row["unit"], **found}))


def _note(told: Mapping[Any, Any]) -> str:
    """Say what is compared, and what the differences do not know."""
    note = "The differences take the two runs to have no judgment in common."
    if not told["judges_both"]:
        return f"{note} No judge is in both: a difference is also one between their judges."
    if Origin.SIMULATED in (told["origin_a"], told["origin_b"]):
        return f"{note} Simulated judges have the same names in every panel."
    alone = told["judges_a"] + told["judges_b"]
    who = f"{told['judges_both']} judges are in both runs" + (
        f", {alone} in one alone: a difference is also one between judges." if alone else "."
    )
    return (
        f"{note} {who} Slope, residuals, contrasts and convergence are of the judges of a run; "
        "beta, alpha and position bias are of the population of judges, and their intervals are "
        "too wide where the judges are the same."
    )
