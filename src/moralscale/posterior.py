"""A posterior's file as what it was made of: judgments, composites, options, draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.arrays import DATA, Arrays
from moralscale.config import Observation
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.records import Origin, intensities_of

#: What every posterior has, by group.
CONTENT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "posterior": ("theta", "phi", "judge", "scene", "composite"),
        "sample_stats": (),
        "observed_data": ("outcome", "first_idx", "second_idx", "judge_idx", "arena_idx"),
        "constant_data": (
            *("a_idx", "b_idx", "foundation_member", "config_member", "composite_intensity"),
            *("config", "foundation", "foundation_idx", "intensity"),
        ),
    }
)
#: What the draws of a posterior lie along.
DRAWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "theta": ("chain", "draw", "judge", "scene"),
        "phi": ("chain", "draw", "judge", "composite"),
    }
)
#: Draws that the likelihood reads, where the model has them.
_READ = (
    *("theta", "phi", "composite_consistency", "bridge_consistency"),
    *("position_bias_judge", "position_bias_arena_judge", "position_bias_slope_judge"),
    *("lapse_judge", "tie_judge"),
)


def constant_data(arrays: Arrays) -> xr.Dataset:
    """Put what judgments are about into a dataset that a posterior keeps."""
    scenes = {
        "foundation_idx": ("scene", arrays.foundation_idx.astype(np.int8)),
        "intensity": ("scene", arrays.intensity.astype(np.int8)),
    }
    return arrays.estimands.to_dataset().assign(scenes)


def check_content(
    tree: xr.DataTree, *, groups: Iterable[str] = CONTENT, where: str = "posterior"
) -> None:
    """Refuse what is no posterior of this package, or was written by an older version.

    Parameters
    ----------
    tree : DataTree
        What a file holds.
    groups : iterable of str, optional
        Groups of `CONTENT` that are needed.
    where : str, optional
        The file, for errors.

    Raises
    ------
    ModelError
        A group or a variable is missing, draws have other dims, or there are none.
    """
    mend = "give the posterior.nc of a fit; one of an older version has to be fitted again"
    for group in groups:
        if group not in tree.children:
            raise ModelError(f"no group '{group}'", where=where, mend=mend)
        for name in CONTENT[group]:
            if name not in tree[group].variables:
                what = f"no variable '{name}' in group '{group}'"
                raise ModelError(what, where=where, mend=mend)
            if name in DRAWN:
                _check_draws(tree[group].to_dataset()[name], name, where, mend)


def _check_draws(draws: xr.DataArray, name: str, where: str, mend: str) -> None:
    if draws.dims != DRAWN[name]:
        what = f"'{name}' has the dims {', '.join(map(str, draws.dims))}"
        raise ModelError(f"{what}, not {', '.join(DRAWN[name])}", where=where, mend=mend)
    if not draws.size:
        raise ModelError(f"no draws of '{name}'", where=where, mend=mend)


def estimands_of(tree: xr.DataTree, *, where: str = "posterior") -> Estimands:
    """Tell what the composites of a posterior are made of.

    Raises
    ------
    ModelError
        The file does not say.
    """
    check_content(tree, groups=["constant_data"], where=where)
    return Estimands.from_dataset(tree["constant_data"].to_dataset())


def arrays_of(tree: xr.DataTree, *, where: str = "posterior") -> Arrays:
    """Make the judgments of a posterior anew, as the likelihood reads them.

    Parameters
    ----------
    tree : DataTree
        As `fit.fit` returns it.
    where : str, optional
        Its file, for errors.

    Raises
    ------
    ModelError
        As of `check_content`.
    """
    check_content(tree, where=where)
    observed = tree["observed_data"].to_dataset()
    constant = tree["constant_data"].to_dataset()
    draws = tree["posterior"].to_dataset()
    bridged = "bridge_consistency" in draws
    estimands = Estimands.from_dataset(constant)
    named = {name: draws[name].values.tolist() for name in ("judge", "scene", "composite")}
    return Arrays(
        first_idx=observed["first_idx"].values.astype(np.int64),
        second_idx=observed["second_idx"].values.astype(np.int64),
        outcome=observed["outcome"].values.astype(np.int8),
        judge_idx=observed["judge_idx"].values.astype(np.int64),
        arena_idx=observed["arena_idx"].values.astype(np.int64),
        foundation_idx=constant["foundation_idx"].values.astype(np.int64),
        intensity=constant["intensity"].values.astype(np.int64),
        estimands=estimands,
        coords={
            **named,
            "foundation": list(estimands.foundation_names),
            "intensity": list(intensities_of(constant["intensity"].values)),
            "config": list(estimands.config_names),
            "arena": [str(arena) for arena in DATA["bridged" if bridged else "study"]],
        },
        bridged=bridged,
    )


def options_of(tree: xr.DataTree) -> Observation:
    """Read the options of the observation model that a posterior was fitted with."""
    return Observation.model_validate_json(tree.attrs.get("model", "{}"))


def origin_of(tree: xr.DataTree) -> Origin | None:
    """Say whether the judgments of a posterior were simulated; None where they were not."""
    return Origin.SIMULATED if Origin.SIMULATED in tree.attrs.get("origin", "") else None


def n_draws(tree: xr.DataTree) -> int:
    """Count the draws of all chains."""
    sizes = tree["posterior"].to_dataset().sizes
    return int(sizes["chain"] * sizes["draw"])


def spread(tree: xr.DataTree, number: int) -> NDArray[np.int64]:
    """Places of at most `number` draws, evenly spaced over the chains."""
    total = n_draws(tree)
    return np.unique(np.linspace(0, total - 1, min(number, total)).round().astype(np.int64))


def take_draws(tree: xr.DataTree, places: Sequence[int] | NDArray[np.int64]) -> xr.Dataset:
    """Take some of the draws of what the likelihood reads: dim sample, chain after chain."""
    draws = tree["posterior"].to_dataset()
    read = draws[[name for name in _READ if name in draws]]
    stacked = read.stack(sample=("chain", "draw")).isel(sample=np.asarray(places))
    return stacked.drop_vars(["sample", "chain", "draw"])
