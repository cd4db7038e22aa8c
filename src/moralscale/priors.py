"""Priors as plain YAML, one distribution a key, that round-trips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pymc_extras.prior import Prior, UnsupportedDistributionError

from moralscale.config import load_yaml, suggestion
from moralscale.errors import ConfigError

#: Parameters with a prior of their own: those of every model, then those of single rules.
PARAMETERS = (
    "intensity_slope",
    "intensity_slope_sd",
    "cell_sd",
    "scene_sd",
    "judge_sd",
    "consistency_sd",
    "beta",
    "beta_sd",
    "gamma_sd",
    "gamma_judge_sd",
    "config_sd",
    "profile_sd",
    "composite_sd",
    "alpha",
    "alpha_sd",
    "position_bias",
    "position_bias_sd",
    "composite_consistency",
    "bridge_consistency",
)


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

    def to_dict(self) -> dict[str, dict]:
        """Give the plain data that `load_priors` reads."""
        return {name: prior.to_dict() for name, prior in self._priors.items()}


def load_priors(path: str | Path) -> Priors:
    """Read a prior file.

    Raises
    ------
    ConfigError
        A parameter is unknown or missing, or a distribution or one of its arguments is.
    """
    path = Path(path)
    data = load_yaml(path)
    for key in data:
        if key not in PARAMETERS:
            raise ConfigError(
                f"unknown parameter '{key}'", where=str(path), mend=suggestion(key, PARAMETERS)
            )
    for key in PARAMETERS:
        if key not in data:
            raise ConfigError(f"no prior for '{key}'", where=str(path), mend="add it")
    return Priors({key: _prior(data[key], f"{path}, {key}") for key in PARAMETERS}, name=path.stem)


def _prior(data: object, where: str) -> Prior:
    mend = "write {dist: Normal, kwargs: {mu: 0, sigma: 1}}"
    if not isinstance(data, dict) or set(data) != {"dist", "kwargs"}:
        raise ConfigError("not a distribution", where=where, mend=mend)
    for key, value in dict(data["kwargs"] or {}).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"'{value}' is not a number", where=f"{where}, kwargs.{key}")
    try:
        return Prior.from_dict(data)
    except UnsupportedDistributionError:
        raise ConfigError(
            f"unknown distribution '{data['dist']}'", where=where, mend="use a name that PyMC knows"
        ) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error), where=where, mend=mend) from None
