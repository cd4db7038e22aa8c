"""The model as PyMC's manual would have it, through the samplers that PyMC knows."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.linalg import null_space

from moralscale.arrays import Arrays
from moralscale.estimands import zero_sum_basis
from moralscale.priors import Priors
from peers import CHAINS, DRAWS, TUNE, Sampled, Spent

LENGTH = f"{CHAINS} x ({TUNE} + {DRAWS})"


def build(arrays: Arrays, priors: Priors) -> pm.Model:
    """Write the bridged model with the rule `compressed`, each judgment a Bernoulli variable."""
    foundations, estimands = arrays.coords["foundation"], arrays.estimands
    intensities = np.array(arrays.coords["intensity"], dtype=float)
    off_line = null_space(intensities[None, :])
    basis = estimands.config_basis()
    n_judges = len(arrays.coords["judge"])
    over_judges, over_foundations = zero_sum_basis(n_judges), zero_sum_basis(len(foundations))
    first, second = arrays.slots
    with pm.Model(coords=arrays.coords) as model:
        sd = {name: priors[name].create_variable(name) for name in priors if name in _SPREADS}
        mean = {name: priors[name].create_variable(name) for name in priors if name in _MEANS}
        tilt = over_foundations @ pm.Normal("intensity_slope_z", shape=len(foundations) - 1)
        slopes = mean["intensity_slope"] + sd["intensity_slope_sd"] * tilt
        cell_z = pm.Normal("cell_z", shape=(len(foundations), off_line.shape[1]))
        cells = slopes[:, None] * intensities + sd["cell_sd"] * cell_z @ off_line.T
        level = pm.Normal(
            "scene_level",
            cells[arrays.foundation_idx, arrays.level],
            sd["scene_sd"],
            dims="scene",
        )
        consistency = over_judges @ pm.Normal(
            "consistency_deviation", sigma=sd["consistency_sd"], shape=n_judges - 1
        )
        own = sd["judge_sd"] * pm.Normal("judge_z", dims=("judge", "scene"))
        theta = pt.exp(consistency)[:, None] * (level - level.mean())
        theta = theta + own - own.mean(axis=1, keepdims=True)

        beta = mean["beta"] + sd["beta_sd"] * pm.Normal("beta_z", dims="judge")
        alpha = mean["alpha"] + sd["alpha_sd"] * pm.Normal("alpha_z", dims="judge")
        gamma_z = pm.Normal("gamma_z", shape=len(foundations) - 1)
        own_z = pm.Normal("gamma_judge_z", shape=(n_judges, len(foundations) - 1))
        gamma = sd["gamma_sd"] * gamma_z + sd["gamma_judge_sd"] * own_z
        gamma = gamma @ over_foundations.T
        delta = basis @ (sd["config_sd"] * pm.Normal("config_z", shape=basis.shape[1]))
        profile = sd["profile_sd"] * pm.Normal("profile_z", dims="composite")
        composite = sd["composite_sd"] * pm.Normal("composite_z", dims=("judge", "composite"))
        phi = (
            alpha[:, None]
            + beta[:, None] * (theta[:, estimands.a_idx] + theta[:, estimands.b_idx])
            + gamma @ estimands.foundation.T
            + (estimands.config @ delta)
            + profile
            + composite
        )
        bias = pm.Normal(
            "position_bias_judge", mean["position_bias"], sd["position_bias_sd"], dims="judge"
        )
        bridge = mean["bridge_consistency"]
        table = pt.concatenate(
            [theta, mean["composite_consistency"] * phi, bridge * theta, bridge * phi], axis=1
        )
        judge = arrays.judge_idx
        eta = table[judge, first] - table[judge, second] + bias[judge]
        pm.Bernoulli("first_won", logit_p=eta, observed=arrays.first_won)
    return model


_MEANS = (
    *("intensity_slope", "beta", "alpha", "position_bias"),
    *("composite_consistency", "bridge_consistency"),
)
_SPREADS = (
    *("intensity_slope_sd", "cell_sd", "scene_sd", "judge_sd", "consistency_sd", "beta_sd"),
    *("gamma_sd", "gamma_judge_sd", "config_sd", "profile_sd", "composite_sd", "alpha_sd"),
    "position_bias_sd",
)


def run(arrays: Arrays, priors: Priors, *, seed: int, cores: int, kind: str) -> Sampled:
    """Sample the plain model by nutpie, NumPyro or PyMC."""
    model = build(arrays, priors)
    return {"nutpie": _nutpie, "numpyro": _numpyro, "pymc": _pymc}[kind](model, seed, cores)


def _nutpie(model: pm.Model, seed: int, cores: int) -> Sampled:
    import nutpie

    result = Sampled(LENGTH, ("pymc", "nutpie", "numba"))
    with result.compiled.counted():
        machine = nutpie.compile_pymc_model(model, var_names=_free(model))
    with result.sampled.counted():
        tree = nutpie.sample(
            machine, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=cores, seed=seed,
            progress_bar=False, save_warmup=False,
        )  # fmt: skip
    result.draws = tree["posterior"].to_dataset()
    return result


def _numpyro(model: pm.Model, seed: int, cores: int) -> Sampled:
    # One device a chain; read when JAX starts.
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={cores}"
    import jax

    jax.config.update("jax_enable_x64", True)
    result = Sampled(LENGTH, ("pymc", "numpyro", "jax"))
    with result.sampled.counted(), _jax_compiles(result.compiled):
        result.draws = _pm_sample(model, seed, nuts_sampler="numpyro")
    result.sampled.wall -= result.compiled.wall
    return result


def _pymc(model: pm.Model, seed: int, cores: int) -> Sampled:
    result = Sampled(LENGTH, ("pymc", "pytensor"))
    with result.compiled.counted():
        model.logp_dlogp_function(ravel_inputs=True)
    with result.sampled.counted():
        result.draws = _pm_sample(model, seed, nuts_sampler="pymc", cores=cores)
    result.sampled.wall -= result.compiled.wall
    result.sampled.cpu -= result.compiled.cpu
    return result


def _pm_sample(model: pm.Model, seed: int, **how: Any) -> Any:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with model:
        tree = pm.sample(
            draws=DRAWS, tune=TUNE, chains=CHAINS, random_seed=seed, var_names=_free(model),
            progressbar=False, compute_convergence_checks=False, **how,
        )  # fmt: skip
    return tree["posterior"].to_dataset()


def _free(model: pm.Model) -> list[str]:
    return [variable.name for variable in model.free_RVs]


@contextmanager
def _jax_compiles(spent: Spent) -> Iterator[None]:
    """Add up the time that JAX compiles for."""
    import jax

    def heard(event: str, seconds: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            spent.wall += seconds

    jax.monitoring.register_event_duration_secs_listener(heard)
    yield
