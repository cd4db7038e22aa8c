"""What the priors say of the quantities that are reported, before any judgment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from pytensor.compile.mode import Mode

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation
from moralscale.elo import ELO_PER_LOGIT
from moralscale.estimands import Estimands
from moralscale.model import REPORTED, build_model
from moralscale.priors import load_priors
from moralscale.projections import quantities
from moralscale.records import Arena, Outcome
from moralscale.scenes import load_scenes

#: Draws from the priors.
DRAWS = 500

#: Compiling would take ten times as long as the draws.
INTERPRETED = Mode(linker="py", optimizer="fast_compile")

#: Quantiles of the table: a 94% and a 50% interval, and the median.
QUANTILES = {"q03": 0.03, "q25": 0.25, "median": 0.5, "q75": 0.75, "q97": 0.97}
#: Quantities of the table as they are: name and label, by unit.
_PLAIN = {
    "elo": {
        "intensity_slope": "scene, per step of intensity",
        "intercept": "composite of component sum 0",
        "foundation_residual": "foundation residual",
        "anchoring": "+2/-1 over +1/+1, raw",
        "anchoring_adjusted": "+2/-1 over +1/+1, adjusted",
        "position_bias_judge": "position bias of a judge",
    },
    "ratio": {
        "slope": "slope on component sum",
        "composite_consistency": "consistency, composite arena",
        "bridge_consistency": "consistency, bridge arena",
        "consistency": "consistency of a judge",
    },
    "correlation": {"convergence": "convergence of judges"},
}


def prior_draws(model: pm.Model, *, draws: int, seed: int) -> xr.Dataset:
    """Draw strengths and structural parameters from the priors.

    Parameters
    ----------
    model : Model
        Of `model.build_model`; outcomes play no part.
    draws, seed : int
        How many, and the seed. Fewer draws of the same seed are the first of more.

    Returns
    -------
    Dataset
        As the posterior of `fit.fit`, with a single chain.
    """
    names = [name for name in REPORTED if name in model.named_vars]
    with model:
        found = pm.sample_prior_predictive(
            draws, var_names=names, random_seed=seed, compile_kwargs={"mode": INTERPRETED}
        )
    parameters: xr.Dataset = found["prior"].to_dataset()
    return parameters


def prior_table(draws: xr.Dataset, estimands: Estimands) -> pd.DataFrame:
    """Summarise prior draws on the scales of the report.

    Parameters
    ----------
    draws : Dataset
        As `prior_draws` returns it.
    estimands : Estimands
        What the composites are made of.

    Returns
    -------
    DataFrame
        One row a quantity: quantity, label, unit (elo, ratio, correlation, percent), q03, q25,
        median, q75, q97. Values of several judges, scenes or foundations count together.
    """
    rows = [
        {"quantity": name, "label": label, "unit": unit, **_quantiles(values)}
        for name, label, unit, values in _values(draws, quantities(draws, estimands))
    ]
    return pd.DataFrame(rows)


def prior_table_from_files(
    *,
    scenes: str,
    composites: str,
    schedules: Sequence[str],
    priors: str,
    rule: str,
    options: Mapping[str, Any],
    seed: int,
) -> pd.DataFrame:
    """Summarise what priors say of a design that nobody judged yet; arguments are paths."""
    planned = pd.concat([pd.read_parquet(path) for path in schedules], ignore_index=True)
    table = planned.assign(outcome=Outcome.FIRST.value)
    bridged = (table["arena"] == Arena.BRIDGE).any()
    arrays = make_arrays(
        table,
        load_scenes(scenes),
        pd.read_parquet(composites),
        data="bridged" if bridged else "study",
    )
    model = build_model(arrays, load_priors(priors), get_rule(rule), Observation(**options))
    return prior_table(prior_draws(model, draws=DRAWS, seed=seed), arrays.estimands)


def _values(draws: xr.Dataset, found: xr.Dataset) -> Iterator[tuple[str, str, str, np.ndarray]]:
    for dim, name in (("scene", "theta"), ("composite", "phi")):
        strength = draws[name] - draws[name].mean(dim)
        yield name, f"rating of a {dim}, over the mean", "elo", strength.values * ELO_PER_LOGIT
    for unit, labels in _PLAIN.items():
        for name, label in labels.items():
            if name in found:
                scale = ELO_PER_LOGIT if unit == "elo" else 1.0
                yield name, label, unit, found[name].values * scale
    for dim, name in (("scene", "theta"), ("composite", "phi")):
        half = draws[name].transpose(..., dim).values
        gap = half[..., 1::2] - half[..., : half.shape[-1] // 2 * 2 : 2]
        win = 100 / (1 + np.exp(-np.abs(gap)))
        yield f"{name}_gap", f"the stronger of two {dim}s wins", "percent", win


def _quantiles(values: np.ndarray) -> dict[str, float]:
    flat = values[np.isfinite(values)]
    return dict(zip(QUANTILES, np.quantile(flat, list(QUANTILES.values())).tolist(), strict=True))
