"""Priors on the scale on which the mode is sought: spreads by their logarithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from moralscale.errors import ModelError
from moralscale.priors import Priors

Arguments = dict[str, float]


class _Family(NamedTuple):
    """Log density of a spread over its logarithm z, from the arguments of the prior.

    `derivatives` are its slope and minus its curvature, `typical` is a value of middling size.
    """

    typical: Callable[[Arguments], float]
    log_density: Callable[[Arguments, NDArray[np.float64]], NDArray[np.float64]]
    derivatives: Callable[[Arguments, float], tuple[float, float]]


_FAMILIES = {
    "Gamma": _Family(
        lambda k: k["alpha"] / k["beta"],
        lambda k, z: k["alpha"] * z - k["beta"] * np.exp(z),
        lambda k, z: (k["alpha"] - k["beta"] * np.exp(z), k["beta"] * np.exp(z)),
    ),
    "Exponential": _Family(
        lambda k: 1 / k["lam"],
        lambda k, z: z - k["lam"] * np.exp(z),
        lambda k, z: (1 - k["lam"] * np.exp(z), k["lam"] * np.exp(z)),
    ),
    "HalfNormal": _Family(
        lambda k: k["sigma"],
        lambda k, z: z - np.exp(2 * z) / (2 * k["sigma"] ** 2),
        lambda k, z: (1 - np.exp(2 * z) / k["sigma"] ** 2, 2 * np.exp(2 * z) / k["sigma"] ** 2),
    ),
    "LogNormal": _Family(
        lambda k: float(np.exp(k["mu"])),
        lambda k, z: -(((z - k["mu"]) / k["sigma"]) ** 2) / 2,
        lambda k, z: ((k["mu"] - z) / k["sigma"] ** 2, 1 / k["sigma"] ** 2),
    ),
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
    arguments: Arguments

    @property
    def typical(self) -> float:
        """A value of middling size, to start from."""
        return _FAMILIES[self.family].typical(self.arguments)

    def log_density(self, log_sd: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of the spread's logarithm, up to a constant."""
        return _FAMILIES[self.family].log_density(self.arguments, log_sd)

    def slope_and_curvature(self, log_sd: float) -> tuple[float, float]:
        """Slope and minus the curvature of the log density of the spread's logarithm."""
        return _FAMILIES[self.family].derivatives(self.arguments, log_sd)


def spread_prior(priors: Priors, name: str) -> SpreadPrior:
    """Look a spread's prior up.

    Raises
    ------
    ModelError
        It is of a family that the Laplace approximation has no derivative for.
    """
    family, arguments = _parts(priors, name)
    if family not in _FAMILIES:
        raise _unusable(name, family, " or ".join(_FAMILIES))
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


def _parts(priors: Priors, name: str) -> tuple[str, Arguments]:
    prior = priors.to_dict()[name]
    return prior["dist"], prior["kwargs"]


def _unusable(name: str, family: str, wanted: str) -> ModelError:
    return ModelError(
        f"no Laplace approximation with the prior {family}",
        where=f"priors '{name}'",
        mend=f"use {wanted}, or sample",
    )
