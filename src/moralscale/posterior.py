"""A posterior's file as what it was made of: judgments, composites, options, draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.arrays import DATA, Arrays, slots_of
from moralscale.config import Observation
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.records import VERDICTS, Origin, intensities_of

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
#: What draws lie along first, and what those of strengths lie along.
SAMPLE = ("chain", "draw")
DRAWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"theta": (*SAMPLE, "judge", "scene"), "phi": (*SAMPLE, "judge", "composite")}
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
        A group or a variable is missing, there are no draws or judgments, draws of strengths are
        no numbers, or dims and places do not go together.
    """
    for group in groups:
        require(tree, group, CONTENT[group], where=where)
        if group in _FURTHER:
            _FURTHER[group](tree, where)


def require(
    tree: xr.DataTree, group: str, names: Iterable[str], *, where: str = "posterior"
) -> None:
    """Refuse a posterior without a group, or without some of its variables; see `check_content`."""
    if group not in tree.children:
        raise _not_ours(f"no group '{group}'", where)
    for name in names:
        if name not in tree[group].variables:
            raise _not_ours(f"no variable '{name}' in group '{group}'", where)


def _not_ours(what: str, where: str) -> ModelError:
    mend = "give the posterior.nc of a fit; one of an older version has to be fitted again"
    return ModelError(what, where=where, mend=mend)


def _check_draws(tree: xr.DataTree, where: str) -> None:
    for name, draws in tree["posterior"].to_dataset().data_vars.items():
        wanted = DRAWN.get(str(name), SAMPLE)
        if draws.dims[: len(wanted)] != wanted:
            has = ", ".join(map(str, draws.dims)) or "none"
            raise _not_ours(f"'{name}' has the dims {has}, not {', '.join(wanted)}", where)
        if name in DRAWN and not draws.size:
            raise _not_ours(f"no draws of '{name}'", where)
        if name in _READ and not np.isfinite(draws).all():
            raise _not_ours(f"a draw of '{name}' is no number", where)


def _check_judgments(tree: xr.DataTree, where: str) -> None:
    observed, draws = tree["observed_data"].to_dataset(), tree["posterior"].to_dataset()
    if not observed["outcome"].size:
        raise _not_ours("no judgments", where)
    sizes = draws.sizes
    slots = slots_of(sizes["scene"], sizes["composite"], bridged=_is_bridged(draws))
    strengths = sizes["judge"] * slots
    bounds = {"first_idx": strengths, "second_idx": strengths, "judge_idx": sizes["judge"]}
    bounds |= {"arena_idx": len(DATA["bridged"]), "outcome": len(VERDICTS)}
    for name, bound in bounds.items():
        _check_within(observed[name], bound, where, least=-1 if name == "outcome" else 0)


def _check_composites(tree: xr.DataTree, where: str) -> None:
    if "posterior" not in tree.children:
        return
    constant, sizes = tree["constant_data"].to_dataset(), tree["posterior"].to_dataset().sizes
    for dim in ("scene", "composite"):
        there, drawn = constant.sizes.get(dim, 0), sizes.get(dim, 0)
        if there != drawn:
            what = f"{there} along '{dim}' in group 'constant_data', {drawn} in 'posterior'"
            raise _not_ours(what, where)
    for name in ("a_idx", "b_idx"):
        _check_within(constant[name], sizes["scene"], where)
    _check_within(constant["foundation_idx"], constant.sizes["foundation"], where)


def _check_within(places: xr.DataArray, bound: int, where: str, *, least: int = 0) -> None:
    if ((places < least) | (places >= bound)).any():
        raise _not_ours(f"'{places.name}' leads beyond the {bound} that there are", where)


_FURTHER = {
    "posterior": _check_draws,
    "observed_data": _check_judgments,
    "constant_data": _check_composites,
}


def _is_bridged(draws: xr.Dataset) -> bool:
    return "bridge_consistency" in draws


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
    bridged = _is_bridged(draws)
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
    """Read the options of the observation model that a posterior was fitted with.

    Raises
    ------
    ModelError
        It says nothing that could be read.
    """
    try:
        return Observation.model_validate_json(tree.attrs.get("model", "{}"))
    except ValueError as error:
        what = f"attribute 'model' cannot be read: {' '.join(str(error).split())[:200]}"
        raise ModelError(what, where="posterior", mend="fit it again") from None


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
