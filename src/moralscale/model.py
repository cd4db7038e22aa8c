"""The joint model: scene strengths, composite strengths and every judgment, in one likelihood.

The generative equations stand here and in docs/model.md, and nowhere else. Strengths are log-odds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.linalg import null_space

from moralscale.arrays import Arrays
from moralscale.composition import QUANTITIES, Rule
from moralscale.config import Observation
from moralscale.errors import ModelError
from moralscale.estimands import zero_sum_basis
from moralscale.observation import Observed, observe
from moralscale.priors import Priors

#: Named quantities that a fit keeps, where the model has them; raw ones are not of interest.
REPORTED = tuple(QUANTITIES)

#: Makes a parameter that has a prior, by its name.
type Draw = Callable[[str], Any]

#: Judgments a scene, over the panel, from which scenes and consistencies are centred.
CENTRED_FROM = 50


def build_model(
    arrays: Arrays,
    priors: Priors,
    rule: Rule,
    options: Observation | None = None,
    *,
    centred: bool | None = None,
    counted: bool | None = None,
) -> pm.Model:
    """Build the joint model of all arenas.

    With a single judge nothing can be told about the spread between judges, so the levels that
    describe it are left out. Without bridge judgments the intercept is not identified and left out,
    and the consistency of the composite arena is 1 by convention.

    Parameters
    ----------
    arrays : Arrays
        Judgments and what they are about.
    priors : Priors
        A prior for every parameter.
    rule : Rule
        How composites follow from components.
    options : Observation, optional
        How judgments follow from strengths; without lapses and ties unless given.
    centred : bool, optional
        Whether scenes and judges' consistencies are free variables themselves, or standardised.
        Both are the same model; the first samples well where the data tell a scene better than its
        cell does. Unless given, it is chosen by the number of judgments a scene (`CENTRED_FROM`).
    counted : bool, optional
        Whether outcomes are observed as counts of every comparison. Unless given, they are where
        comparisons were asked twice or more on average.

    Returns
    -------
    Model
        Deterministic variables carry the names of docs/model.md. Effects with a spread ``X_sd`` are
        standardised, ``X_z``, but for those that are centred and each judge's position bias. The
        outcomes are a data container, `observation.OBSERVED`, in the form that
        `observation.Observed` gives.

    Raises
    ------
    ModelError
        There are ties, and the options have no place for them.
    """
    options = options or Observation()
    if options.ties == "left_out" and (arrays.outcome > 1).any():
        raise ModelError(
            "there are ties among the judgments, and the model has no place for them",
            where="model.ties",
            mend="use `ties: davidson`, or leave ties out of the arrays",
        )
    if centred is None:
        centred = arrays.judgments_a_scene >= CENTRED_FROM
    # Numbers of priors were looked at when they were read, and spreads are positive by transform.
    with pm.Model(coords=arrays.coords, check_bounds=False) as model:
        draw = priors.variables()
        theta = _scene_strengths(arrays, draw, centred)
        phi = _composite_strengths(arrays, draw, rule, theta)
        bias = _over_judges("position_bias", arrays, draw, centred=True)
        table = _strength_table(arrays, draw, theta, phi)
        observe(
            arrays,
            options,
            Observed.of(arrays, options, counted=counted),
            table,
            bias,
            partial(_over_judges, arrays=arrays, draw=draw),
            draw,
        )
    return model


def _scene_strengths(arrays: Arrays, draw: Draw, centred: bool) -> Any:
    """theta: (judge, scene), sums to zero over scene."""
    coords = arrays.coords
    intensities = np.array(coords["intensity"], dtype=float)
    n_foundations = len(coords["foundation"])
    # Cells deviate across the line of their foundation, never along it: that is the slope's.
    off_line = null_space(intensities[None, :])
    slope = draw("intensity_slope")
    tilt = draw("intensity_slope_sd") * _zero_sum("intensity_slope_z", n_foundations)
    cell = draw("cell_sd") * pm.Normal("cell_z", shape=(n_foundations, off_line.shape[1]))
    kappa = (slope + tilt)[:, None] * intensities + cell @ off_line.T
    mean = kappa[arrays.foundation_idx, arrays.level]
    if centred:
        mu = pm.Normal("scene_level", mean, draw("scene_sd"), dims="scene")
    else:
        mu = mean + draw("scene_sd") * pm.Normal("scene_z", dims="scene")
    mu = pm.Deterministic("mu", mu - mu.mean(), dims="scene")
    n_judges = len(coords["judge"])
    if n_judges == 1:
        return pm.Deterministic("theta", mu[None, :], dims=("judge", "scene"))
    if centred:
        log_consistency = _zero_sum("consistency_deviation", n_judges, draw("consistency_sd"))
    else:
        log_consistency = draw("consistency_sd") * _zero_sum("consistency_z", n_judges)
    consistency = pm.Deterministic("consistency", pt.exp(log_consistency), dims="judge")
    own = draw("judge_sd") * pm.Normal("judge_z", dims=("judge", "scene"))
    theta = consistency[:, None] * mu + own - own.mean(axis=1, keepdims=True)
    return pm.Deterministic("theta", theta, dims=("judge", "scene"))


def _composite_strengths(arrays: Arrays, draw: Draw, rule: Rule, theta: Any) -> Any:
    """phi: (judge, composite)."""
    estimands = arrays.estimands
    parameters = {name: _over_judges(name, arrays, draw)[:, None] for name in rule.parameters}
    composed = rule.compose(theta[:, estimands.a_idx], theta[:, estimands.b_idx], parameters, pt)
    member = np.ascontiguousarray(estimands.foundation.T)  # rows are what a product runs along
    effects = _foundation_effects(arrays, draw) @ member
    basis = estimands.config_basis()
    config = draw("config_sd") * pm.Normal("config_z", shape=basis.shape[1])
    pm.Deterministic("delta_config", basis @ config, dims="config")
    phi = composed + effects + (estimands.config @ basis) @ config
    phi += draw("profile_sd") * pm.Normal("profile_z", dims="composite")
    if len(arrays.coords["judge"]) > 1:
        phi += draw("composite_sd") * pm.Normal("composite_z", dims=("judge", "composite"))
    if arrays.bridged:
        phi += _over_judges("alpha", arrays, draw)[:, None]
    return pm.Deterministic("phi", phi, dims=("judge", "composite"))


def _foundation_effects(arrays: Arrays, draw: Draw) -> Any:
    """gamma_judge: (judge, foundation), sums to zero over foundation."""
    n_foundations = len(arrays.coords["foundation"])
    gamma = pm.Deterministic(
        "gamma", draw("gamma_sd") * _zero_sum("gamma_z", n_foundations), dims="foundation"
    )
    by_judge = gamma[None, :]
    if len(arrays.coords["judge"]) > 1:
        basis = zero_sum_basis(n_foundations)
        shape = (len(arrays.coords["judge"]), basis.shape[1])
        by_judge += draw("gamma_judge_sd") * (pm.Normal("gamma_judge_z", shape=shape) @ basis.T)
    return pm.Deterministic("gamma_judge", by_judge, dims=("judge", "foundation"))


def _strength_table(arrays: Arrays, draw: Draw, theta: Any, phi: Any) -> Any:
    """Strengths as each arena shows them, that is times its consistency: (judge, slot)."""
    if not arrays.bridged:
        return pt.concatenate([theta, phi], axis=1)
    composite, bridge = draw("composite_consistency"), draw("bridge_consistency")
    return pt.concatenate([theta, composite * phi, bridge * theta, bridge * phi], axis=1)


def _over_judges(name: str, arrays: Arrays, draw: Draw, *, centred: bool = False) -> Any:
    """Make a parameter that has a mean over judges and a value for each: (judge,).

    `centred` is for parameters that each judge's own data tell better than the panel does.
    """
    mean = draw(name)
    if len(arrays.coords["judge"]) == 1:
        return pm.Deterministic(f"{name}_judge", mean[None], dims="judge")
    sd = draw(f"{name}_sd")
    if centred:
        return pm.Normal(f"{name}_judge", mean, sd, dims="judge")
    value = mean + sd * pm.Normal(f"{name}_z", dims="judge")
    return pm.Deterministic(f"{name}_judge", value, dims="judge")


def _zero_sum(name: str, n: int, sd: Any = 1.0) -> Any:
    """Make n effects that sum to zero of n - 1 free ones."""
    return zero_sum_basis(n) @ pm.Normal(name, sigma=sd, shape=n - 1)
