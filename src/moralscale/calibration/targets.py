"""The quantities that the calibration looks at, of a truth or of draws."""

from __future__ import annotations

from collections.abc import Iterator

import xarray as xr

from moralscale.estimands import Estimands
from moralscale.projections import quantities

#: Parameters with a value for every judge, whose mean over this panel is looked at. What the fit
#: calls ``beta`` is the mean of the population that the judges come from, and wider.
OF_PANEL = ("beta", "alpha", "position_bias", "lapse")
RECOVERED = (
    "beta of the panel",
    "foundation_residual",
    "anchoring",
    "anchoring_adjusted",
    "convergence",
    "composite_consistency",
    "bridge_consistency",
    "alpha of the panel",
    "intercept",
    "position_bias of the panel",
    "lapse of the panel",
)
RANKED = (
    "beta",
    "gamma",
    "anchoring",
    "anchoring_adjusted",
    "convergence",
    "composite_consistency",
    "bridge_consistency",
    "alpha",
    "position_bias",
)


def targets(
    strengths: xr.Dataset, estimands: Estimands, names: tuple[str, ...]
) -> Iterator[tuple[str, str, xr.DataArray]]:
    """Compute the quantities `names` of a truth or of draws.

    Parameters
    ----------
    strengths : Dataset
        Truth, or posterior: ``theta``, ``phi`` and structural parameters.
    estimands : Estimands
        What the composites are made of.
    names : tuple of str
        `RECOVERED` or `RANKED`.

    Yields
    ------
    name, index : str
        Quantity, and foundation where it has one.
    value : DataArray
        Dims chain and draw, or none.
    """
    found = quantities(strengths, estimands)
    for name in OF_PANEL:
        if f"{name}_judge" in strengths:
            found[f"{name} of the panel"] = strengths[f"{name}_judge"].mean("judge")
    for name in names:
        if name not in found:
            continue
        value = found[name]
        if "foundation" not in value.dims:
            yield name, "", value
            continue
        for foundation in value["foundation"].values:
            yield name, str(foundation), value.sel(foundation=foundation, drop=True)
