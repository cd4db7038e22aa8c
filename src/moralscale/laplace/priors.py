"""Priors on the scale on which the mode is sought: spreads by their logarithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moralscale.errors import ModelError
from moralscale.priors import Priors

#: Of a spread's log density over its logarithm z, s = exp(z): slope, and minus the curvature.
_SPREADS: dict[str, Callable[[dict[str, float], float], tuple[float, float]]] = {
    "Gamma": lambda k, z: (k["alpha"] - k["beta"] * np.exp(z), k["beta"] * np.exp(z)),
    "Exponential": lambda k, z: (1 - k["lam"] * np.exp(z), k["lam"] * np.exp(z)),
    "HalfNormal": lambda k, z: (
        1 - np.exp(2 * z) / k["sigma"] ** 2,
        2 * np.exp(2 * z) / k["sigma"] ** 2,
    ),
    "LogNormal": lambda k, z: ((k["mu"] - z) / k["sigma"] ** 2, 1 / k["sigma"] ** 2),
}

_DENSITIES: dict[str, Callable[[dict[str, float], NDArray[np.float64]], NDArray[np.float64]]] = {
    "Gamma": lambda k, z: k["alpha"] * z - k["beta"] * np.exp(z),
    "Exponential": lambda k, z: z - k["lam"] * np.exp(z),
    "HalfNormal": lambda k, z: z - np.exp(2 * z) / (2 * k["sigma"] ** 2),
    "LogNormal": lambda k, z: -(((z - k["mu"]) / k["sigma"]) ** 2) / 2,
}

_TYPICAL: dict[str, Callable[[dict[str, float]], float]] = {
    "Gamma": lambda k: k["alpha"] / k["beta"],
    "Exponential": lambda k: 1 / k["lam"],
    "HalfNormal": lambda k: k["sigma"],
    "LogNormal": lambda k: float(np.exp(k["mu"])),
}


@dataclass(frozen=True)
class SpreadPrior:
    """Prior of one spread.

    Attributes
    ----------
    family : str
        Name of the distribution.
    arguments : dict
        Its arguments.
    """

    family: str
    arguments: dict[str, float]

    @property
    def typical(self) -> float:
        """A value of middling size, to start from."""
        return _TYPICAL[self.family](self.arguments)

    def log_density(self, log_sd: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of the spread's logarithm, up to a constant."""
        return _DENSITIES[self.family](self.arguments, log_sd)

    def slope_and_curvature(self, log_sd: float) -> tuple[float, float]:
        """Slope and minus the curvature of the log density of the spread's logarithm."""
        return _SPREADS[self.family](self.arguments, log_sd)


def spread_prior(priors: Priors, name: str) -> SpreadPrior:
    """Look a spread's prior up.

    Raises
    ------
    ModelError
        It is of a family that the Laplace approximation has no derivative for.
    """
    family, arguments = _parts(priors, name)
    if family not in _SPREADS:
        raise _unusable(name, family, " or ".join(_SPREADS))
    return SpreadPrior(family, arguments)


def normal_prior(priors: Priors, name: str) -> tuple[float, float]:
    """Mean and sd of a parameter's prior; of its logarithm for a consistency.

    Raises
    ------
    ModelError
        It is not normal, or log-normal for a consistency.
    """
    wanted = "LogNormal" if name.endswith("_consistency") else "Normal"
    family, arguments = _parts(priors, name)
    if family != wanted:
        raise _unusable(name, family, wanted)
    return arguments["mu"], arguments["sigma"]


def _parts(priors: Priors, name: str) -> tuple[str, dict[str, float]]:
    prior = priors.to_dict()[name]
    return prior["dist"], prior["kwargs"]


def _unusable(name: str, family: str, wanted: str) -> ModelError:
    return ModelError(
        f"no Laplace approximation with the prior {family}",
        where=f"priors '{name}'",
        mend=f"use {wanted}, or sample",
    )
