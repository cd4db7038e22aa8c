"""The study's estimands on every posterior draw, beside the structural parameters.

A projection is a function of the strengths alone, so it means the same whatever rule or prior was
fitted, and the planted strengths of a simulated panel go through the very same function.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from moralscale.composition import QUANTITIES
from moralscale.elo import ELO_MEAN, ELO_PER_LOGIT
from moralscale.estimands import Estimands
from moralscale.posterior_file import load_dataset

#: What is computed from strengths: unit, and one sentence for tables and captions.
PROJECTIONS: dict[str, tuple[str, str]] = {
    "slope": ("ratio", "Slope of composite strength on component sum, mean over judges."),
    "slope_judge": ("ratio", "Slope of composite strength on component sum, of a judge."),
    "intercept": ("log-odds", "Intercept of that line, mean over judges."),
    "intercept_judge": ("log-odds", "Intercept of that line, of a judge."),
    "rated_intercept": (
        "elo",
        "Intercept for ratings with mean 1000 in either arena: the study's alpha.",
    ),
    "rated_intercept_judge": (
        "elo",
        "Intercept for ratings with mean 1000 in either arena, of a judge.",
    ),
    "r_squared": ("share", "Share of composite variance on the line, mean over judges."),
    "r_squared_judge": ("share", "Share of composite variance on the line, of a judge."),
    "foundation_residual": (
        "log-odds",
        "Mean deviation from the line over composites with the foundation, mean over judges.",
    ),
    "foundation_residual_judge": (
        "log-odds",
        "Mean deviation from the line over composites with the foundation, of a judge.",
    ),
    "intensity_mean": ("strength", "Mean composite strength by intensity sum, mean over judges."),
    "intensity_components": (
        "log-odds",
        "Mean component sum by intensity sum, from two average scenes, mean over judges.",
    ),
    "config_mean": ("strength", "Mean composite strength by configuration, mean over judges."),
    "anchoring": ("log-odds", "+2/-1 over +1/+1 composites, raw, mean over judges."),
    "anchoring_components": (
        "log-odds",
        "Component sums of +2/-1 over +1/+1 composites, mean over judges.",
    ),
    "anchoring_adjusted": (
        "log-odds",
        "+2/-1 over +1/+1 composites at equal component sum, mean over judges.",
    ),
    "convergence": ("correlation", "Mean correlation of composite strengths between judges."),
    "correlation": ("correlation", "Correlation of composite strengths between two judges."),
    "scene_strength": ("strength", "Strength of a scene, mean over judges."),
    "component_sum": ("sum", "Sum of a composite's component strengths, mean over judges."),
    "composite_strength": ("strength", "Strength of a composite, mean over judges."),
}
#: Structural quantities that go through `quantities` as `scene_strength` and such, or not at all.
_LATENT = ("mu", "theta", "phi", "gamma_judge")
#: What each reported quantity is: its unit, and one sentence for tables and captions.
#: ``log-odds`` differences are reported in Elo too; ``strength`` also as ratings with mean 1000.
DEFINITIONS: dict[str, tuple[str, str]] = {
    name: (quantity.unit, quantity.definition)
    for name, quantity in QUANTITIES.items()
    if name not in _LATENT
} | PROJECTIONS


def quantities(strengths: xr.Dataset, estimands: Estimands) -> xr.Dataset:
    """Compute every reported quantity from draws, or from a simulated panel's truth.

    Parameters
    ----------
    strengths : Dataset
        ``theta (..., judge, scene)`` and ``phi (..., judge, composite)``, log-odds, with any
        structural parameters; ``...`` is (chain, draw) for a posterior and nothing for a truth.
    estimands : Estimands
        What the composites are made of.

    Returns
    -------
    Dataset
        One variable a quantity of `DEFINITIONS` that can be had, with attrs ``unit`` and
        ``definition``. Strengths are centred on the mean over their contestants.
    """
    out = xr.Dataset(coords=strengths.coords)
    for name in DEFINITIONS:
        if name in strengths:
            out[name] = strengths[name].astype(np.float64)
    sample = tuple(dim for dim in ("chain", "draw") if dim in strengths.dims)
    theta = strengths["theta"].transpose(*sample, "judge", "scene").values.astype(np.float64)
    phi = strengths["phi"].transpose(*sample, "judge", "composite").values.astype(np.float64)
    out = out.assign(_on_arrays(theta, phi, estimands, sample))
    if not estimands.has_anchoring:  # of composites that this corpus does not have
        out = out.drop_vars([name for name in PROJECTIONS if name.startswith("anchoring")])
    if "alpha" not in strengths:  # without a bridge the level of composites is not identified
        out = out.drop_vars(["intercept", "intercept_judge"])
    out = out.assign_coords(
        config=list(estimands.config_names),
        foundation=list(estimands.foundation_names),
        intensity_sum=estimands.intensity_sums,
        other_judge=strengths["judge"].values,
    )
    for name in map(str, out.data_vars):
        out[name].attrs = dict(zip(("unit", "definition"), DEFINITIONS[name], strict=True))
    return out.drop_vars([name for name in out.coords if name not in out.dims])


def _on_arrays(
    theta: np.ndarray, phi: np.ndarray, estimands: Estimands, sample: tuple[str, ...]
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Project strengths (..., judge, contestant); each result with its dims."""
    sums = estimands.component_sum(theta)
    slope, intercept, residual = estimands.line(sums, phi)
    by_foundation = estimands.foundation_residual(residual)
    centred_sums = sums - 2 * theta.mean(axis=-1, keepdims=True)
    rated = estimands.rated_intercept(slope, -slope * centred_sums.mean(axis=-1))
    r_squared = estimands.r_squared(phi, residual)
    centred = phi - phi.mean(axis=-1, keepdims=True)
    strength = centred.mean(axis=-2)
    judge = (*sample, "judge")
    out = {
        "slope": (sample, slope.mean(axis=-1)),
        "slope_judge": (judge, slope),
        "intercept": (sample, intercept.mean(axis=-1)),
        "intercept_judge": (judge, intercept),
        "rated_intercept": (sample, rated.mean(axis=-1)),
        "rated_intercept_judge": (judge, rated),
        "r_squared": (sample, r_squared.mean(axis=-1)),
        "r_squared_judge": (judge, r_squared),
        "foundation_residual": ((*sample, "foundation"), by_foundation.mean(axis=-2)),
        "foundation_residual_judge": ((*judge, "foundation"), by_foundation),
        "intensity_mean": ((*sample, "intensity_sum"), estimands.intensity_mean(strength)),
        "intensity_components": (
            (*sample, "intensity_sum"),
            estimands.intensity_mean(centred_sums.mean(axis=-2)),
        ),
        "config_mean": ((*sample, "config"), estimands.config_mean(strength)),
        "anchoring": (sample, estimands.anchoring(strength)),
        "anchoring_components": (sample, estimands.anchoring(sums).mean(axis=-1)),
        "anchoring_adjusted": (sample, estimands.anchoring(residual).mean(axis=-1)),
        "scene_strength": ((*sample, "scene"), theta.mean(axis=-2)),
        "component_sum": ((*sample, "composite"), sums.mean(axis=-2)),
        "composite_strength": ((*sample, "composite"), strength),
    }
    if phi.shape[-2] > 1:
        out["convergence"] = (sample, estimands.convergence(phi))
        out["correlation"] = ((*judge, "other_judge"), estimands.correlation(phi))
    return out


#: Elo of 0 log-odds, by the unit of quantities that have an Elo equivalent.
ELO_STARTS = {"strength": ELO_MEAN, "log-odds": 0.0}


def in_elo(variable: xr.DataArray) -> xr.DataArray | None:
    """Put a quantity on the Elo scale: a rating for strengths, points for differences.

    Returns
    -------
    DataArray or None
        None where the quantity has no Elo equivalent.
    """
    start = ELO_STARTS.get(variable.attrs["unit"])
    return None if start is None else start + ELO_PER_LOGIT * variable


def read_truth(path: str | Path, estimands: Estimands) -> xr.Dataset:
    """Read a simulated panel's truth as the quantities that fits report.

    Raises
    ------
    ModelError
        As of `posterior_file.load_dataset`.
    """
    return quantities(load_dataset(path, "truth"), estimands)
