"""Composites as every judge weighs them, for the figure that can be searched."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.config import Reporting
from moralscale.elo import ELO_PER_LOGIT, rating
from moralscale.estimands import Estimands
from moralscale.summaries import interval_bounds

_DIMS = ("chain", "draw", "judge")


def composites_by_judge(
    draws: xr.Dataset, estimands: Estimands, reporting: Reporting
) -> pd.DataFrame:
    """Summarise what every judge makes of every composite and of its parts.

    Parameters
    ----------
    draws : Dataset
        ``theta (chain, draw, judge, scene)`` and ``phi (chain, draw, judge, composite)``, log-odds.
    estimands : Estimands
        What the composites are made of.
    reporting : Reporting
        Kind and probability of intervals.

    Returns
    -------
    DataFrame
        One row a judge and composite: judge, composite; then mean, ``_low`` and ``_high`` of
        ``sum`` (sum of component strengths, Elo points from two average scenes) and of ``rating``
        (Elo, mean 1000 over a judge's composites).
    """
    columns = {
        "sum": _sums(draws["theta"], estimands, draws["composite"]),
        "rating": draws["phi"].transpose(*_DIMS, "composite").pipe(_rating),
    }
    table = {
        f"{name}{end}": values.values.ravel()
        for name, variable in columns.items()
        for end, values in _summary(variable, reporting).items()
    }
    index = pd.MultiIndex.from_product(
        [draws["judge"].values, draws["composite"].values], names=["judge", "composite"]
    )
    return pd.DataFrame(table, index=index).reset_index()


def _sums(theta: xr.DataArray, estimands: Estimands, composite: xr.DataArray) -> xr.DataArray:
    values = theta.transpose(*_DIMS, "scene").values.astype(np.float64)
    sums = estimands.component_sum(values - values.mean(axis=-1, keepdims=True))
    return xr.DataArray(ELO_PER_LOGIT * sums, dims=(*_DIMS, "composite"), coords=composite.coords)


def _rating(phi: xr.DataArray) -> xr.DataArray:
    return phi.copy(data=rating(phi.values.astype(np.float64)))


def _summary(draws: xr.DataArray, reporting: Reporting) -> dict[str, xr.DataArray]:
    bounds = interval_bounds(draws, reporting)
    ends = {
        "": draws.mean(("chain", "draw")),
        "_low": bounds.sel(ci_bound="lower", drop=True),
        "_high": bounds.sel(ci_bound="upper", drop=True),
    }
    return {end: values.transpose("judge", "composite") for end, values in ends.items()}
