"""Priors as plain YAML, one distribution a key, that round-trips."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions import continuous
from pymc_extras.prior import Prior

from moralscale.composition import QUANTITIES
from moralscale.config import load_yaml
from moralscale.errors import ConfigError, suggestion

#: Priors that every file gives: those of every model.
REQUIRED = tuple(name for name, quantity in QUANTITIES.items() if quantity.file)
#: Priors that a file may change: those of single rules and options.
DEFAULTS = {name: q.prior for name, q in QUANTITIES.items() if q.prior is not None}
PARAMETERS = (*REQUIRED, *DEFAULTS)
#: Name of the data container of a model's priors.
NUMBERS = "prior_numbers"


class Priors(Mapping[str, Prior]):
    """Priors by parameter; read-only.

    Parameters
    ----------
    priors : mapping
        A distribution for every name in `PARAMETERS`.
    name : str
        Name of the set, such as ``"default"``.
    """

    def __init__(self, priors: Mapping[str, Prior], *, name: str) -> None:
        self._priors = dict(priors)
        self.name = name

    def __getitem__(self, key: str) -> Prior:
        return self._priors[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._priors)

    def __len__(self) -> int:
        return len(self._priors)

    def variables(self) -> Callable[[str], Any]:
        """Give what makes a parameter by its name, in the model on the context stack.

        The numbers of the priors are data, so that sets of the same distributions compile once.
        """
        counts = [len(prior.parameters) for prior in self._priors.values()]
        starts = dict(zip(self, np.cumsum([0, *counts[:-1]]).tolist(), strict=True))
        numbers = pm.Data(
            NUMBERS, [float(x) for prior in self.values() for x in prior.parameters.values()]
        )

        def variable(name: str) -> Any:
            prior = self[name]
            arguments = {key: numbers[starts[name] + k] for k, key in enumerate(prior.parameters)}
            return prior.pymc_distribution(name, **arguments)

        return variable

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Give the plain data that `load_priors` reads."""
        return {
            name: {
                "dist": prior.distribution,
                "kwargs": {key: float(value) for key, value in prior.parameters.items()},
            }
            for name, prior in self._priors.items()
        }


def load_priors(path: str | Path) -> Priors:
    """Read a prior file; what single rules and options need has defaults.

    Raises
    ------
    ConfigError
        A parameter is unknown or missing, or a distribution or one of its arguments is; an argument
        is out of its bounds; or a spread or a ratio of consistencies could be negative.
    """
    path = Path(path)
    data = load_yaml(path)
    for key in data:
        if key not in PARAMETERS:
            raise ConfigError(
                f"unknown parameter '{key}'",
                where=str(path),
                mend=suggestion(str(key), PARAMETERS),
            )
    for key in REQUIRED:
        if key not in data:
            raise ConfigError(f"no prior for '{key}'", where=str(path), mend="add it")
    given = {key: _prior(data[key], f"{path}, {key}", _is_scale(key)) for key in data}
    defaults = {key: _distribution(DEFAULTS[key]) for key in DEFAULTS if key not in data}
    return Priors({key: (given | defaults)[key] for key in PARAMETERS}, name=path.stem)


def _is_scale(parameter: str) -> bool:
    return parameter.endswith(("_sd", "_consistency"))


def _prior(data: object, where: str, scale: bool) -> Prior:
    mend = "write {dist: Normal, kwargs: {mu: 0, sigma: 1}}"
    if (
        not isinstance(data, dict)
        or set(data) != {"dist", "kwargs"}
        or not isinstance(data["dist"], str)
        or not isinstance(data["kwargs"], dict)
    ):
        raise ConfigError("not a distribution", where=where, mend=mend)
    for key, value in data["kwargs"].items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            raise ConfigError(f"'{value}' is not a number", where=f"{where}, kwargs.{key}")
    _check_names(data["dist"], data["kwargs"], where)
    try:
        prior = _distribution(data)
        _check_support(prior, where, scale)
        return prior
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(reason, where=where, mend=mend) from None


def _check_names(name: str, arguments: Mapping[str, Any], where: str) -> None:
    """Look a distribution and its arguments up among those of PyMC."""
    create = getattr(getattr(pm, name, None), "dist", None)
    if create is None:
        mend = suggestion(name, continuous.__all__)
        raise ConfigError(f"unknown distribution '{name}'", where=where, mend=mend)
    known = set(inspect.signature(create).parameters) - {"args", "kwargs"}
    for argument in arguments:
        if argument not in known:
            raise ConfigError(
                f"{name} has no argument '{argument}'",
                where=where,
                mend=suggestion(str(argument), sorted(known)),
            )


def _distribution(data: Mapping[str, Any]) -> Prior:
    # PyTensor reads a plain 6 or 6.0 in single precision, and so 1 / 6 to eight digits only.
    numbers = {key: np.float64(value) for key, value in data["kwargs"].items()}
    return Prior.from_dict({"dist": data["dist"], "kwargs": numbers})


def _check_support(prior: Prior, where: str, scale: bool) -> None:
    """Evaluate the density once, which checks the arguments, where a scale must not be."""
    variable = prior.pymc_distribution.dist(**prior.parameters)
    if variable.ndim or not variable.dtype.startswith("float"):
        name = prior.distribution
        mend = "use a continuous one of single numbers, such as Normal"
        raise ConfigError(f"{name} has no density over the real numbers", where=where, mend=mend)
    below = pm.logp(variable, -1e-6).eval(mode="FAST_COMPILE")
    if scale and math.isfinite(below):
        mend = "use a distribution of positive numbers, such as HalfNormal or Gamma"
        raise ConfigError("a scale cannot be negative", where=where, mend=mend)
