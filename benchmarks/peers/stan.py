"""Stan, through pystan 3."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpstan.cache
import httpstan.models
import numpy as np
import stan
import xarray as xr
from scipy.linalg import null_space

from moralscale.arrays import Arrays
from moralscale.estimands import zero_sum_basis
from moralscale.priors import Priors
from peers import CHAINS, DRAWS, TUNE, Sampled, Spent

PROGRAM = Path(__file__).with_name("bradley_terry.stan")
SPREADS = (
    *("intensity_slope_sd", "cell_sd", "scene_sd", "judge_sd", "consistency_sd", "beta_sd"),
    *("gamma_sd", "gamma_judge_sd", "config_sd", "profile_sd", "composite_sd", "alpha_sd"),
    "position_bias_sd",
)
MEANS = ("intensity_slope", "beta", "alpha", "position_bias")
RATIOS = ("composite_consistency", "bridge_consistency")


def run(arrays: Arrays, priors: Priors, *, seed: int, cores: int) -> Sampled:
    """Sample the program; pystan gives each chain a process."""
    logging.getLogger("httpstan").setLevel(logging.ERROR)
    result = Sampled(f"{CHAINS} x ({TUNE} + {DRAWS})", ("pystan", "httpstan"))
    built, result.compiled = build(data_of(arrays, priors), seed)
    with result.sampled.counted():
        fit = built.sample(num_chains=CHAINS, num_warmup=TUNE, num_samples=DRAWS)
    result.draws = draws_of(fit)
    return result


def build(data: dict[str, Any], seed: int) -> tuple[Any, Spent]:
    """Build the program, or take it from pystan's cache with the time that it took then.

    Draws that pystan keeps of an earlier run are deleted: it would give them out as if sampled.
    """
    program = PROGRAM.read_text()
    name = httpstan.models.calculate_model_name(program)
    folder = httpstan.cache.model_directory(name)
    shutil.rmtree(folder / "fits", ignore_errors=True)
    noted = folder / "build.json"
    if not noted.exists():
        httpstan.cache.delete_model_directory(name)
    spent = Spent()
    with spent.counted():
        built = stan.build(program, data=data, random_seed=seed)
    if noted.exists():
        return built, Spent(**json.loads(noted.read_text()))
    noted.write_text(json.dumps(asdict(spent)))
    return built, spent


def data_of(arrays: Arrays, priors: Priors) -> dict[str, Any]:
    """Put judgments, design and priors into the program's data block."""
    coords, estimands = arrays.coords, arrays.estimands
    basis = estimands.config_basis()
    intensity = np.array(coords["intensity"], dtype=float)
    n = {key: len(coords[name]) for key, name in _SIZES.items()}

    def prior(names: tuple[str, ...], key: str) -> list[float]:
        return [float(priors[name].parameters[key]) for name in names]

    return n | {
        "K": basis.shape[1],
        "N": len(arrays.outcome),
        "foundation": arrays.foundation_idx + 1,
        "level": arrays.level + 1,
        "intensity": intensity,
        "off_line": null_space(intensity[None, :]),
        "a": estimands.a_idx + 1,
        "b": estimands.b_idx + 1,
        "member": estimands.foundation,
        "config": estimands.config @ basis,
        "judge_basis": zero_sum_basis(n["J"]),
        "foundation_basis": zero_sum_basis(n["F"]),
        "first": arrays.first_idx + 1,
        "second": arrays.second_idx + 1,
        "judge": arrays.judge_idx + 1,
        "won": arrays.first_won.astype(int),
        "spread_alpha": prior(SPREADS, "alpha"),
        "spread_beta": prior(SPREADS, "beta"),
        "mean_mu": prior(MEANS, "mu"),
        "mean_sigma": prior(MEANS, "sigma"),
        "ratio_mu": prior(RATIOS, "mu"),
        "ratio_sigma": prior(RATIOS, "sigma"),
    }


_SIZES = {"J": "judge", "S": "scene", "C": "composite", "F": "foundation", "L": "intensity"}


def draws_of(fit: Any) -> xr.Dataset:
    """Name Stan's draws, (..., draw x chain), as the project's model does."""

    def get(name: str) -> np.ndarray:
        # pystan lays draws of all chains side by side, chain by chain within a draw.
        values = np.moveaxis(fit[name], -1, 0).reshape(DRAWS, CHAINS, *fit[name].shape[:-1])
        return values.swapaxes(0, 1)

    out = {}
    for block, names in (("spread", SPREADS), ("mean_", MEANS), ("ratio", RATIOS)):
        out |= {name: get(block)[..., k] for k, name in enumerate(names)}
    out |= {name: get(name) for name in _AS_THEY_ARE}
    out |= {name: get(name).swapaxes(-1, -2) for name in _TURNED}
    return xr.Dataset(
        {
            name: (("chain", "draw", *(f"{name}_{k}" for k in range(values.ndim - 2))), values)
            for name, values in out.items()
        }
    )


_AS_THEY_ARE = (
    *("intensity_slope_z", "gamma_z", "consistency_deviation"),
    *("cell_z", "scene_level", "beta_z", "alpha_z", "config_z", "profile_z"),
    "position_bias_judge",
)
_TURNED = ("judge_z", "gamma_judge_z", "composite_z")
