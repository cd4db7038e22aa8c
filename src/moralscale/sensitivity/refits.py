"""Fitting again under one alternative at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from moralscale.arrays import Arrays, make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation, Sampler
from moralscale.errors import ModelError, suggestion
from moralscale.estimands import Estimands
from moralscale.fit import Compiled, compile
from moralscale.judgments import read_judgments
from moralscale.posterior import options_of
from moralscale.posterior_file import save
from moralscale.printing import KEY
from moralscale.priors import load_priors
from moralscale.projections import quantities
from moralscale.scenes import load_scenes


@dataclass(frozen=True, eq=False)
class Base:
    """The fit that alternatives are held against, and what it was made of.

    Attributes
    ----------
    posterior : DataTree
        The fit.
    judgments, scenes, composites : DataFrame
        What it read.
    priors : path
        File of its priors; alternatives lie beside it.
    """

    posterior: xr.DataTree
    judgments: pd.DataFrame
    scenes: pd.DataFrame
    composites: pd.DataFrame
    priors: Path

    @property
    def options(self) -> Observation:
        """Observation model of the fit."""
        return options_of(self.posterior)

    @cached_property
    def compiled(self) -> Compiled:
        """The model of the fit, compiled once for all refits that share it."""
        return self.compile()

    def arrays(
        self, *, judgments: pd.DataFrame | None = None, options: Observation | None = None
    ) -> Arrays:
        """Index the judgments of the fit, or others."""
        return make_arrays(
            self.judgments if judgments is None else judgments,
            self.scenes,
            self.composites,
            data=str(self.posterior.attrs["data"]),
            ties=(options or self.options).ties == "davidson",
        )

    def compile(
        self,
        *,
        priors: Path | None = None,
        options: Observation | None = None,
        judgments: pd.DataFrame | None = None,
    ) -> Compiled:
        """Compile the model of the fit with some part exchanged."""
        options = options or self.options
        return compile(
            self.arrays(judgments=judgments, options=options),
            rule=get_rule(str(self.posterior.attrs["rule"])),
            priors=load_priors(priors or self.priors),
            options=options,
        )


def refits(
    kind: str,
    values: Iterable[str],
    *,
    base: Base,
    sampler: Sampler,
    seed: int,
    cores: int,
) -> Iterator[tuple[str, xr.DataTree]]:
    """Fit again under alternatives of one kind.

    Parameters
    ----------
    kind : str
        A key of `KINDS`: another ``prior``; an option of the ``model`` switched; a ``judge`` or a
        ``foundation`` left out; the answers to one ``prompt`` alone.
    values : iterable of str
        Names of priors, options, judges, foundations or prompts. Without any, each judge,
        foundation or prompt of the fit in turn.
    base : Base
        What to hold them against.
    sampler, seed, cores
        How to sample.

    Yields
    ------
    value : str
    refit : DataTree
        Draws of the key quantities under the alternative (group ``alternative``) and of the same
        estimands in the fit it is held against (group ``base``): where a judge or a foundation is
        left out, it is left out of both. Attributes kind, alternative, divergences, draws and
        sampler.

    Raises
    ------
    ModelError
        There is no such kind, or the fit has no such judge, foundation, option or prompt.
    """
    if kind not in KINDS:
        raise ModelError(
            f"unknown kind of alternative '{kind}'", where="kind", mend=suggestion(kind, KINDS)
        )
    how: dict[str, Any] = {"sampler": sampler, "seed": seed, "cores": cores}
    near = None
    for one in KINDS[kind](base, list(values)):
        if one.near and near is None:
            near = base.compiled.first_run(**how)
        tree = one.compiled.sample(outcomes=one.outcomes, near=near if one.near else None, **how)
        draws = {
            "alternative": one.project(tree["posterior"].to_dataset()),
            "base": one.project(base.posterior["posterior"].to_dataset()),
        }
        refit = xr.DataTree.from_dict(draws)
        refit.attrs = {
            "kind": kind,
            "alternative": one.value,
            "divergences": int(tree["sample_stats"]["diverging"].sum()),
            "sampler": sampler.model_dump_json(),
        }
        yield one.value, refit


def save_refit(refit: xr.DataTree, path: str | Path) -> None:
    """Write a refit in the form of a posterior."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    save(refit, path)


Project = Callable[[xr.Dataset], xr.Dataset]


class Alternative(NamedTuple):
    """A refit that is to be made.

    Attributes
    ----------
    value : str
        Its name.
    compiled : Compiled
        Its model.
    project : callable
        Draws to key quantities.
    near : bool
        Whether its parameters are those of the fit, so that one first run serves both.
    outcomes : (judgment,), optional
        Outcomes with some left out.
    """

    value: str
    compiled: Compiled
    project: Project
    near: bool = False
    outcomes: NDArray[np.int8] | None = None


def _priors(base: Base, names: list[str]) -> Iterator[Alternative]:
    for name in names:
        path = base.priors.with_name(f"{name}.yaml")
        priors = load_priors(path)
        near = priors.form() == base.compiled.priors.form()
        compiled = base.compiled.under(priors) if near else base.compile(priors=path)
        yield Alternative(name, compiled, _projection(compiled.arrays.estimands), near)


def _options(base: Base, names: list[str]) -> Iterator[Alternative]:
    known = [name for name, value in base.options if isinstance(value, bool)]
    for name in names:
        _known(name, known, "option that is on or off")
    for name in names:
        options = base.options.model_copy(update={name: not getattr(base.options, name)})
        compiled = base.compile(options=options)
        yield Alternative(name, compiled, _projection(compiled.arrays.estimands))


def _judges(base: Base, names: list[str]) -> Iterator[Alternative]:
    judges = [str(name) for name in base.posterior["posterior"].to_dataset()["judge"].values]
    for name in names:
        _known(name, judges, "judge")
    arrays = base.compiled.arrays
    for name in names or judges:
        outcomes = _without(arrays, arrays.judge_idx == judges.index(name))
        project = _projection(arrays.estimands, judge=name)
        yield Alternative(name, base.compiled, project, True, outcomes)


def _foundations(base: Base, names: list[str]) -> Iterator[Alternative]:
    arrays = base.compiled.arrays
    estimands = arrays.estimands
    foundations = estimands.foundation_names
    for name in names:
        _known(name, foundations, "foundation")
    for name in names or foundations:
        place = foundations.index(name)
        composites = estimands.foundation[:, place] > 0
        once = np.concatenate([arrays.foundation_idx == place, composites])
        holds = np.tile(once, arrays.n_slots // len(once))
        first, second = arrays.slots
        outcomes = _without(arrays, holds[first] | holds[second])
        project = _projection(estimands, composites=~composites)
        yield Alternative(name, base.compiled, project, True, outcomes)


def _prompts(base: Base, names: list[str]) -> Iterator[Alternative]:
    known = sorted(base.judgments["prompt"].unique())
    for name in names or known:
        _known(name, known, "prompt")
        compiled = base.compile(judgments=base.judgments[base.judgments["prompt"] == name])
        yield Alternative(name, compiled, _projection(compiled.arrays.estimands))


#: Kinds of alternatives, and how each is set up.
KINDS: Mapping[str, Callable[[Base, list[str]], Iterator[Alternative]]] = {
    "prior": _priors,
    "model": _options,
    "judge": _judges,
    "foundation": _foundations,
    "prompt": _prompts,
}


def _known(name: str, known: Iterable[str], what: str) -> None:
    known = list(known)
    if name not in known:
        raise ModelError(f"no {what} '{name}' in this fit", mend=suggestion(name, known))


def _without(arrays: Arrays, left_out: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(left_out, np.int8(-1), arrays.outcome)


def _projection(
    estimands: Estimands,
    *,
    judge: str | None = None,
    composites: NDArray[np.bool_] | None = None,
) -> Project:
    """Project draws to the key quantities, without a judge or over some composites only."""

    def project(draws: xr.Dataset) -> xr.Dataset:
        here = estimands
        if judge is not None:
            draws = draws.drop_sel(judge=judge)
        if composites is not None:
            here, draws = estimands.restricted(composites), draws.isel(composite=composites)
        found = quantities(draws, here)
        return found[[name for name in dict.fromkeys(row[0] for row in KEY) if name in found]]

    return project


def read_base(
    *, posterior: xr.DataTree, judgments: str, scenes: str, composites: str, priors: str
) -> Base:
    """Read what a fit was made of; arguments are a posterior and paths."""
    return Base(
        posterior=posterior,
        judgments=read_judgments(judgments),
        scenes=load_scenes(scenes),
        composites=pd.read_parquet(composites),
        priors=Path(priors),
    )
