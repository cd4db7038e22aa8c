"""Draws into numbers: every reported quantity with interval, diagnostics and units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import arviz_stats
import numpy as np
import pandas as pd
import xarray as xr

from moralscale.config import Reporting
from moralscale.elo import ELO_PER_LOGIT
from moralscale.projections import DEFINITIONS, ELO_STARTS

SAMPLE_DIMS = ("chain", "draw")
#: Reference value of a ratio: adding. Of everything else: none.
REFERENCE = {"ratio": 1.0, "elo": 0.0, "log-odds": 0.0}
#: Columns that are places on the scale of the draws, and with them those that are lengths on it.
_PLACES = ["mean", "median", "hdi_low", "hdi_high"]
_SIZES = [*_PLACES, "sd", "mcse"]


def summarise(quantities: xr.Dataset, reporting: Reporting) -> pd.DataFrame:
    """Summarise draws of the reported quantities.

    Parameters
    ----------
    quantities : Dataset
        As `projections.quantities` returns them, dims chain and draw first.
    reporting : Reporting
        Kind and probability of intervals, and regions of no effect.

    Returns
    -------
    DataFrame
        One row a value and unit: quantity, index (labels of its dims, joined by a comma), unit,
        mean, median, sd, hdi_low, hdi_high (the configured interval), pd (probability of the
        direction from the reference: 1 for ratios, 0 for differences), rope (share inside the
        region of no effect), mcse, ess_bulk, ess_tail, rhat, definition.
    """
    frames = []
    for name, variable in quantities.data_vars.items():
        frame = _summary(str(name), variable, reporting)
        frames.append(frame)
        start = ELO_STARTS.get(variable.attrs["unit"])
        if start is not None:
            frames.append(_in_elo(frame, start))
    table = pd.concat(frames, ignore_index=True)
    table["definition"] = table["quantity"].map(lambda name: DEFINITIONS[name][1])
    return table


def _in_elo(frame: pd.DataFrame, start: float) -> pd.DataFrame:
    """Take a summary in log-odds to Elo, all of which follows from the one by the other's scale."""
    elo = frame.assign(unit="elo")
    elo[_SIZES] *= ELO_PER_LOGIT
    elo[_PLACES] += start
    return elo


def _summary(name: str, draws: xr.DataArray, reporting: Reporting) -> pd.DataFrame:
    draws, unit = draws.transpose(*SAMPLE_DIMS, ...), draws.attrs["unit"]
    bounds = interval_bounds(draws, reporting)
    flat = {
        "mean": draws.mean(SAMPLE_DIMS),
        "median": draws.median(SAMPLE_DIMS),
        "sd": draws.std(SAMPLE_DIMS, ddof=1),
        "hdi_low": bounds.sel(ci_bound="lower", drop=True),
        "hdi_high": bounds.sel(ci_bound="upper", drop=True),
        **_against_reference(draws, unit, reporting),
        **_diagnostics(draws),
    }
    frame = pd.DataFrame({key: np.ravel(value.values) for key, value in flat.items()})
    frame.insert(0, "quantity", name)
    frame.insert(1, "index", list(labels(draws)))
    frame.insert(2, "unit", unit)
    # A constant (a correlation of a judge with itself) has no error to diagnose.
    constant = frame["sd"] < 1e-12
    frame.loc[constant, ["mcse", "ess_bulk", "ess_tail", "rhat"]] = np.nan
    # What moves but cannot be diagnosed has not converged: a gate must see it.
    broken = (frame["sd"] >= 1e-12) & frame[["ess_bulk", "ess_tail", "rhat"]].isna().any(axis=1)
    frame.loc[broken, ["ess_bulk", "ess_tail", "rhat"]] = [0.0, 0.0, np.inf]
    return frame


def interval_bounds(draws: Any, reporting: Reporting) -> Any:
    """Compute the configured interval of draws.

    Parameters
    ----------
    draws : DataArray or ndarray
        Dims chain and draw are reduced; of an array, the only axis.
    reporting : Reporting
        Kind and probability.

    Returns
    -------
    DataArray or ndarray
        Lower and upper bound along the dim ``ci_bound``, or the last axis.
    """
    interval = arviz_stats.hdi if reporting.ci_kind == "hdi" else arviz_stats.eti
    return interval(draws, prob=reporting.ci_prob)


def _diagnostics(draws: xr.DataArray) -> dict[str, xr.DataArray]:
    # What does not move gives 0 / 0 here; `_summary` says what becomes of that.
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "mcse": arviz_stats.mcse(draws),
            "ess_bulk": arviz_stats.ess(draws, method="bulk"),
            "ess_tail": arviz_stats.ess(draws, method="tail"),
            "rhat": arviz_stats.rhat(draws),
        }


def _against_reference(
    draws: xr.DataArray, unit: str, reporting: Reporting
) -> dict[str, xr.DataArray]:
    """Probability of direction and share inside the region of no effect, where they make sense."""
    if unit not in REFERENCE:
        nothing = xr.full_like(draws.isel(chain=0, draw=0), np.nan)
        return {"pd": nothing, "rope": nothing}
    low, high = reporting.rope_beta if unit == "ratio" else reporting.rope_elo
    if unit == "log-odds":
        low, high = low / ELO_PER_LOGIT, high / ELO_PER_LOGIT
    above = (draws > REFERENCE[unit]).mean(SAMPLE_DIMS)
    inside = ((draws >= low) & (draws <= high)).mean(SAMPLE_DIMS)
    # Comparisons with NaN are false: a quantity that this design cannot tell has no direction.
    defined = draws.notnull().all(SAMPLE_DIMS)
    return {
        "pd": above.where(above > 0.5, 1 - above).where(defined),
        "rope": inside.where(defined),
    }


def labels(draws: xr.DataArray) -> Iterable[str]:
    """Label every value: the labels of its dims, chain and draw aside, joined by a comma."""
    dims = [dim for dim in draws.dims if dim not in SAMPLE_DIMS]
    if not dims:
        return [""]
    index = pd.MultiIndex.from_product([draws[dim].values for dim in dims])
    return [", ".join(_label(part) for part in parts) for parts in index]


def _label(value: object) -> str:
    return f"{value:+d}" if isinstance(value, int | np.integer) else str(value)
