"""Learn coordinates from a short first run, and sample in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from nutpie.sample import CompiledModel
from scipy import sparse

from moralscale.errors import ModelError
from moralscale.sampling import by_nutpie
from moralscale.warmup.coordinates import Coordinates
from moralscale.warmup.curvature import FLOOR, Curvature, Layout, average, measure
from moralscale.warmup.density import Density
from moralscale.warmup.effects import Effects, survey, weakest
from moralscale.warmup.map import Map
from moralscale.warmup.mapped import in_coordinates

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Iterations of each chain of the first run; the last ones are learnt from.
CHAINS, TUNE, DRAWS = 2, 150, 120
#: Step to begin with, and most doublings of a trajectory: 7 steps of 0.4 are nearly half a turn of
#: a standard normal, after which it comes back.
FIRST_STEP, DEPTH = 0.5, 3
#: Most memory that learning may take, GB, unless told otherwise.
MEMORY = 4.0
#: Arrays of the curvature's size that are held at a time, at most.
COPIES = 6
#: How far draws may be that serve another posterior, in sds.
NEAR = 2.0
#: Couplings below this, in units of posterior sds, are left out.
NEGLIGIBLE = 0.06
#: Scales of the logarithms of spreads are kept within these; the sampler adapts them further.
SPREAD_SCALE = (0.05, 0.8)
#: Where the tail of a spread begins: this over its scale.
BEND = 0.5


@dataclass(frozen=True, eq=False)
class Learnt:
    """A compiled model in coordinates of its posterior.

    Attributes
    ----------
    density : Density
    coordinates : Coordinates
    """

    density: Density
    coordinates: Coordinates

    @cached_property
    def mapping(self) -> Map:
        """The map of the coordinates, compiled."""
        return Map(self.coordinates)

    def __call__(self, u: Array) -> tuple[float, Array]:
        """Log density over coordinates, and its gradient."""
        place = self.mapping.to_parameters(u)
        value, gradient = self.density(place.x)
        return value + place.log_volume, self.mapping.to_coordinates(u, place, gradient)

    def parameters(self, u: Array) -> Array:
        """Parameters of the model, at their unconstrained scale: (size,)."""
        return self.mapping.to_parameters(u).x

    def machine(self, names: Sequence[str]) -> CompiledModel:
        """Make of it what nutpie samples, and keep the variables of these names."""
        made = in_coordinates(self.density, self.mapping, names)
        return exact(made, initial_step=FIRST_STEP, maxdepth=DEPTH)


def exact[M: CompiledModel](compiled: M, **settings: Any) -> M:
    """Let trajectories follow a standard normal exactly and the rest of the density by steps.

    A leapfrog's error grows with the number of parameters even where each is standard normal; this
    integrator errs only by what the posterior is otherwise. It is nutpie's, which has no argument
    for it.

    Parameters
    ----------
    compiled : CompiledModel
    **settings
        Others that nutpie has no argument for: ``initial_step`` and ``maxdepth``.
    """

    class Exact(type(compiled)):  # type: ignore[misc]
        def _make_sampler(self, chosen: Any, *rest: Any) -> Any:
            tree = chosen.as_dict()["settings"] | {"trajectory_kind": "ExactNormal"}
            step = tree["adapt_options"]["step_size_settings"]
            for name, value in settings.items():
                (step if name in step else tree)[name] = value
            chosen.update_settings(tree)
            return super()._make_sampler(chosen, *rest)

    return Exact(**{field.name: getattr(compiled, field.name) for field in fields(compiled)})


def learn(
    machine: Any,
    model: pm.Model,
    *,
    seed: int,
    cores: int,
    memory: float = MEMORY,
    near: Array | None = None,
) -> Learnt:
    """Learn coordinates from a first run of two short chains.

    Parameters
    ----------
    machine : CompiledPyMCModel
        What nutpie compiled, with its data.
    model : Model
        What it was compiled from.
    seed, cores : int
        Seed, and chains at a time.
    memory : float, optional
        Most memory that it may take, GB.
    near : (draw, size), optional
        What `first_run` gave of the same model with nearly the same data, to do without another;
        where the spreads are elsewhere, there is another all the same.

    Raises
    ------
    ModelError
        It would take more memory, or the curvature cannot be measured.
    """
    density = Density(machine)
    layout, effects = survey(density, model)
    _check_memory(layout, memory)
    draws = near
    if draws is None or distance(density, draws, layout) > NEAR:
        draws = first_run(machine, seed=seed, cores=cores)
    spreads = np.exp(draws[:, layout.spreads])
    log_sd = np.log(spreads.mean(axis=0))
    # What judgments say is compared at the same spreads: the draws are taken to typical ones.
    there = effects.at_spreads(draws, layout.spreads, log_sd)
    points = list(there[DRAWS - 1 :: DRAWS])
    curvature = average(measure(density.gradient, points, layout, threads=cores))
    solver = curvature.solver()
    gradients = np.array([density.gradient(x) for x in there])
    mean = (there + solver(gradients)).mean(axis=0)
    spread_scale = np.clip(spreads.std(axis=0) / spreads.mean(axis=0), *SPREAD_SCALE)
    effects = effects.told(mean, solver.variances())
    return Learnt(density, _coordinates(effects, curvature, mean, spread_scale))


def distance(density: Density, draws: Array, layout: Layout) -> float:
    """Tell how far draws of another posterior are from this one.

    Parameters
    ----------
    density : Density
    draws : (draw, size)
    layout : Layout

    Returns
    -------
    float
        Of the logarithm of the spread that is farthest, in sds of the draws: the mean slope of the
        density over it, which is 0 over its own posterior.
    """
    slopes = np.array([density.gradient(x)[layout.spreads] for x in draws])
    off: Array = np.abs(slopes.mean(axis=0)) * draws[:, layout.spreads].std(axis=0)
    return float(off.max(initial=0.0))


def bytes_needed(layout: Layout) -> int:
    """Memory that learning takes at most, over that of the model: `COPIES` of the curvature."""
    n_judges, n_local = layout.local.shape
    n_shared = len(layout.shared)
    return int(8 * COPIES * (n_judges * n_local * (n_local + n_shared) + n_shared**2))


def _check_memory(layout: Layout, memory: float) -> None:
    needed = bytes_needed(layout) / 1e9
    if needed > memory:
        n_judges, n_local = layout.local.shape
        raise ModelError(
            f"learning the coordinates of {n_judges} judges with {n_local:,} parameters each would "
            f"take {needed:.1f} GB, more than {memory:g}",
            where="sampler.coordinates",
            mend="use `coordinates: plain` with `tune: 1000`, or allow more with `sampler.memory: "
            f"{math.ceil(needed)}`",
        )


def first_run(machine: Any, *, seed: int, cores: int) -> Array:
    """Draw from the posterior roughly: (draw, size), chain after chain."""
    tree = by_nutpie(
        exact(machine),
        draws=DRAWS,
        tune=TUNE,
        chains=CHAINS,
        cores=min(cores, CHAINS),
        seed=seed,
        progress_bar=False,
        save_warmup=False,
        store_unconstrained=True,
    )
    stats = tree["sample_stats"].to_dataset()
    return np.asarray(stats["unconstrained_draw"]).reshape(CHAINS * DRAWS, -1)


def _coordinates(
    effects: Effects, curvature: Curvature, mean: Array, spread_scale: Array
) -> Coordinates:
    """Put together what was learnt at the spreads of `mean`: (size,)."""
    at = curvature.layout
    is_weak = weakest(at, effects, mean)
    weak = at.local[:, is_weak]
    # All others are told given the weak effects, the leading ones along their axes.
    rest = curvature.without(is_weak)
    lead, turn = effects.axes(at, rest.solver().shared)
    mean = mean.copy()
    mean[lead] = mean[lead] @ turn
    rest = rest.turned(lead, turn)
    variance = rest.solver().variances()
    effects = effects.told(mean, variance, but=weak).first([weak.ravel(), lead])
    weak_spread = int(effects.spread[0]) if weak.size else -1
    centre = mean.copy()
    centre[effects.place] = 0
    width = effects.scale(mean)
    rest = rest.scaled(width)
    solver = rest.solver()
    sd = np.sqrt(solver.variances())
    is_lead = np.isin(at.shared, lead)
    order = np.concatenate([np.searchsorted(at.shared, lead), np.flatnonzero(~is_lead)])
    n_lead = len(lead)
    root = np.linalg.cholesky(solver.shared[np.ix_(order, order)])
    lead_root = root[:n_lead, :n_lead]
    by_lead = np.linalg.solve(lead_root.T, root[n_lead:, :n_lead].T).T
    alone = 1 / np.sqrt(np.maximum(np.einsum("jll->jl", rest.local), FLOOR))
    follow = -solver.reach[:, :, order]
    follow[np.abs(follow) * sd[at.shared[order]] < NEGLIGIBLE * alone[..., None]] = 0
    smallest = NEGLIGIBLE / (width * sd)
    if weak.size:
        # Judged at a wide spread: there they matter most.
        smallest /= np.exp(SPREAD_SCALE[1])
    yielded = _yielded(curvature, is_weak, smallest) / np.exp(mean[weak_spread])
    lead_spread = np.exp(mean[effects.spread[weak.size : weak.size + n_lead]])
    made = Coordinates(
        centre=centre,
        spread=at.spreads,
        spread_scale=spread_scale,
        spread_bend=BEND / spread_scale,
        weak=weak.ravel(),
        weak_spread=weak_spread,
        lead=lead,
        lead_root=np.ascontiguousarray(lead_root),
        lead_mean=lead_spread * mean[lead],
        lead_sd=lead_spread * width[lead],
        turn=turn,
        shared=at.shared[~is_lead],
        root=np.hstack([by_lead, root[n_lead:, n_lead:]]),
        local=rest.layout.local.ravel(),
        local_scale=alone.ravel(),
        **_rows("follow", follow.reshape(-1, len(at.shared)), "follow"),
        **_rows("yield", yielded, "yielded"),
        width=width,
        effect=effects.place,
        effect_spread=effects.spread,
        score=effects.score,
        information=effects.information,
    )
    # u = 0 is to lead to the means: spreads have a tail there, and others give way to weak effects.
    reached = Map(made).to_parameters(np.zeros(at.size)).v
    return made._replace(centre=2 * centre - reached)


def _yielded(curvature: Curvature, is_weak: NDArray[np.bool_], smallest: Array) -> sparse.csr_array:
    """Curvature between weak effects and all others, (weak, size), but for what is too small."""
    at, parts = curvature.layout, []
    for judge, own in enumerate(at.local[:, ~is_weak]):
        places = np.concatenate([own, at.shared])
        within = curvature.local[judge][np.ix_(is_weak, ~is_weak)]
        block = np.hstack([within, curvature.across[judge][is_weak]])
        block[np.abs(block) < smallest[places]] = 0
        part = sparse.csr_array(block)
        shape = (len(block), at.size)
        parts.append(sparse.csr_array((part.data, places[part.indices], part.indptr), shape=shape))
    found = sparse.csr_array(sparse.vstack(parts))
    found.sort_indices()
    return found


def _rows(stem: str, matrix: Array | sparse.csr_array, entries: str) -> dict[str, Any]:
    """Compress the rows of a matrix into fields of `Coordinates`."""
    rows = sparse.csr_array(matrix)
    start, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return {f"{stem}_start": start, f"{stem}_at": columns, entries: rows.data}
