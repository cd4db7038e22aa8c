"""Draws into numbers: every reported quantity with interval, diagnostics and units."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

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
_NUMBERS = ["mean", "median", "sd", "hdi_low", "hdi_high", "pd", "rope", "mcse"]
_DIAGNOSTICS = ["ess_bulk", "ess_tail", "rhat"]
#: Draws of a smaller sd do not move.
_CONSTANT = 1e-12


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
    table = _tabulated(quantities, lambda draws: _summary(draws, reporting))
    table["definition"] = table["quantity"].map(lambda name: DEFINITIONS[name][1])
    return table


def moments(quantities: xr.Dataset) -> pd.DataFrame:
    """Give mean, sd and Monte Carlo error of the reported quantities, and no more.

    Parameters
    ----------
    quantities : Dataset
        As for `summarise`.

    Returns
    -------
    DataFrame
        One row a value and unit: quantity, index, unit, mean, sd and mcse, as in `summarise`.
    """
    return _tabulated(quantities, _moments)


def _tabulated(
    quantities: xr.Dataset, summary: Callable[[xr.DataArray], pd.DataFrame]
) -> pd.DataFrame:
    """Summarise one variable after the other, what is in log-odds in Elo too."""
    frames = []
    for name, variable in quantities.data_vars.items():
        draws, unit = variable.transpose(*SAMPLE_DIMS, ...), variable.attrs["unit"]
        frame = summary(draws.where(np.isfinite(draws)))
        frame.insert(0, "quantity", str(name))
        frame.insert(1, "index", list(labels(draws)))
        frame.insert(2, "unit", unit)
        frames.append(frame)
        start = ELO_STARTS.get(unit)
        if start is not None:
            frames.append(_in_elo(frame, start))
    return pd.concat(frames, ignore_index=True)


def _in_elo(frame: pd.DataFrame, start: float) -> pd.DataFrame:
    """Take a summary in log-odds to Elo, all of which follows from the one by the other's scale."""
    elo = frame.assign(unit="elo")
    elo[[name for name in _SIZES if name in elo]] *= ELO_PER_LOGIT
    elo[[name for name in _PLACES if name in elo]] += start
    return elo


def _moments(draws: xr.DataArray) -> pd.DataFrame:
    frame = _flat(
        mean=draws.mean(SAMPLE_DIMS), sd=draws.std(SAMPLE_DIMS, ddof=1), mcse=_error(draws)
    )
    # A constant (a correlation of a judge with itself) has no error to diagnose.
    return frame.assign(mcse=frame["mcse"].where(frame["sd"] >= _CONSTANT))


def _summary(draws: xr.DataArray, reporting: Reporting) -> pd.DataFrame:
    bounds = interval_bounds(draws, reporting)
    others = _flat(
        median=draws.median(SAMPLE_DIMS),
        hdi_low=bounds.sel(ci_bound="lower", drop=True),
        hdi_high=bounds.sel(ci_bound="upper", drop=True),
        **_against_reference(draws, draws.attrs["unit"], reporting),
        **_diagnostics(draws),
    )
    frame = _moments(draws).join(others)
    # What no draw defines, a design cannot tell.
    nothing = (frame["sd"] < _CONSTANT) | np.ravel(draws.isnull().all(SAMPLE_DIMS).values)
    frame.loc[nothing, _DIAGNOSTICS] = np.nan
    # What moves but cannot be diagnosed has not converged: a gate must see it.
    broken = ~nothing & frame[_DIAGNOSTICS].isna().any(axis=1)
    frame.loc[broken, _DIAGNOSTICS] = [0.0, 0.0, np.inf]
    return frame[[*_NUMBERS, *_DIAGNOSTICS]]


def _flat(**columns: xr.DataArray) -> pd.DataFrame:
    return pd.DataFrame({name: np.ravel(values.values) for name, values in columns.items()})


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
    import arviz_stats  # takes a second, which tables and figures without draws can do without

    interval = arviz_stats.hdi if reporting.ci_kind == "hdi" else arviz_stats.eti
    return interval(draws, prob=reporting.ci_prob)


def _error(draws: xr.DataArray) -> xr.DataArray:
    import arviz_stats

    with np.errstate(divide="ignore", invalid="ignore"):
        error: xr.DataArray = arviz_stats.mcse(draws)
    return error


def _diagnostics(draws: xr.DataArray) -> dict[str, xr.DataArray]:
    import arviz_stats

    # What does not move gives 0 / 0 here; `_summary` says what becomes of that.
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
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
