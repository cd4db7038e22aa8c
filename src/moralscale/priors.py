"""Priors as plain YAML, one distribution a key, that round-trips."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
from pymc.distributions import continuous
from pytensor.compile.mode import Mode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

from moralscale.composition import QUANTITIES
from moralscale.config import load_yaml
from moralscale.errors import ConfigError, shortened, suggestion

if TYPE_CHECKING:
    from pymc_extras.prior import Prior

#: Priors that every file gives: those of every model.
REQUIRED = tuple(name for name, quantity in QUANTITIES.items() if quantity.file)
#: Priors that a file may change: those of single rules and options.
DEFAULTS = {name: q.prior for name, q in QUANTITIES.items() if q.prior is not None}
PARAMETERS = (*REQUIRED, *DEFAULTS)
#: Name of the data container of a model's priors.
NUMBERS = "prior_numbers"
#: A density is evaluated once, which neither rewriting nor compiling it would pay.
_AS_IT_IS = Mode("py", RewriteDatabaseQuery(include=()))
_FORM = "write {dist: Normal, kwargs: {mu: 0, sigma: 1}}"


class Priors(Mapping[str, "Prior"]):
    """Priors by parameter, each a `Prior` of pymc-extras; read-only.

    Parameters
    ----------
    data : mapping
        For every name in `PARAMETERS` a distribution, as prior files write it. `load_priors` looks
        at arguments and their bounds; nothing does so here or later.
    name : str
        Name of the set, such as ``"default"``.
    """

    def __init__(self, data: Mapping[str, Mapping[str, Any]], *, name: str) -> None:
        # PyTensor reads a plain 6 or 6.0 in single precision, and so 1 / 6 to eight digits only.
        self._numbers = {
            key: {argument: np.float64(x) for argument, x in prior["kwargs"].items()}
            for key, prior in data.items()
        }
        self._distributions = {key: str(prior["dist"]) for key, prior in data.items()}
        self.name = name

    def __getitem__(self, key: str) -> Prior:
        from pymc_extras.prior import Prior  # it brings twice as much as all else here

        return Prior(self._distributions[key], **self._numbers[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._distributions)

    def __len__(self) -> int:
        return len(self._distributions)

    def dist(self, name: str) -> Any:
        """Give the distribution of a parameter, outside of any model."""
        return getattr(pm, self._distributions[name]).dist(**self._numbers[name])

    def variables(self) -> Callable[[str], Any]:
        """Give what makes a parameter by its name, in the model on the context stack.

        The numbers of the priors are data, so that sets of the same distributions compile once.
        """
        values = pm.Data(NUMBERS, self.numbers())
        places = {both: k for k, both in enumerate(self.form())}

        def variable(name: str) -> Any:
            family = self._distributions[name]
            arguments = {each: values[places[name, family, each]] for each in self._numbers[name]}
            return getattr(pm, family)(name, **arguments)

        return variable

    def form(self) -> list[tuple[str, str, str]]:
        """Name parameter, distribution and argument of every number."""
        return [
            (key, family, argument)
            for key, family in self._distributions.items()
            for argument in self._numbers[key]
        ]

    def numbers(self) -> list[float]:
        """Give all numbers, which are the data of a model."""
        return [float(self._numbers[key][argument]) for key, _, argument in self.form()]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Give the plain data that `load_priors` reads."""
        return {
            name: {
                "dist": self._distributions[name],
                "kwargs": {key: float(value) for key, value in self._numbers[name].items()},
            }
            for name in self
        }


#: Where a scale must have no density.
NEGATIVE = -np.logspace(-12, 4, 65)


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
    for key, given in data.items():
        _check_form(given, f"{path}, {key}")
    priors = Priors({key: (DEFAULTS | data)[key] for key in PARAMETERS}, name=path.stem)
    for key in data:
        _check_density(priors, key, f"{path}, {key}")
    return priors


def _is_scale(parameter: str) -> bool:
    return parameter.endswith(("_sd", "_consistency"))


def _check_form(data: object, where: str) -> None:
    """Look at what a file says of one prior, before PyMC does."""
    if (
        not isinstance(data, dict)
        or set(data) != {"dist", "kwargs"}
        or not isinstance(data["dist"], str)
        or not isinstance(data["kwargs"], dict)
    ):
        raise ConfigError("not a distribution", where=where, mend=_FORM)
    for key, value in data["kwargs"].items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:
            mend = "write one such as 0.5 or 1.0e-3, without quotes"
            what = f"'{shortened(str(value))}' is not a number"
            raise ConfigError(what, where=f"{where}, kwargs.{key}", mend=mend)
    _check_names(data["dist"], data["kwargs"], where)


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


def _check_density(priors: Priors, name: str, where: str) -> None:
    """Evaluate a density once, which checks its arguments, where a scale must not be."""
    try:
        variable = priors.dist(name)
        if variable.ndim or not variable.dtype.startswith("float"):
            family = priors.to_dict()[name]["dist"]
            raise ConfigError(
                f"{family} has no density over the real numbers",
                where=where,
                mend="use a continuous one of single numbers, such as Normal",
            )
        below = pm.logp(variable, NEGATIVE).eval(mode=_AS_IT_IS)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(" ".join(str(error).split()), where=where, mend=_FORM) from None
    if _is_scale(name) and np.isfinite(below).any():
        raise ConfigError(
            "a scale cannot be negative",
            where=where,
            mend="use a distribution of positive numbers, such as HalfNormal or Gamma",
        )
