"""Learn coordinates from a short first run, and sample in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from nutpie.compiled_pyfunc import PyFuncModel, from_pyfunc
from nutpie.sample import CompiledModel
from scipy import sparse

from moralscale.errors import ModelError
from moralscale.sampling import by_nutpie
from moralscale.warmup.coordinates import Coordinates, to_coordinates, to_parameters
from moralscale.warmup.curvature import FLOOR, Curvature, Layout, average, measure
from moralscale.warmup.density import Density
from moralscale.warmup.effects import Effects, survey, weakest

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Iterations of each chain of the first run; the last ones are learnt from.
CHAINS, TUNE, DRAWS = 2, 150, 60
#: Most memory that learning may take, GB, unless told otherwise.
MEMORY = 4.0
#: Arrays of the curvature's size that are held at a time, at most.
COPIES = 6
#: Couplings below this, in units of posterior sds, are left out.
NEGLIGIBLE = 0.03
#: Scales of the logarithms of spreads are kept within these; the sampler adapts them further.
SPREAD_SCALE = (0.05, 0.8)


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

    def __call__(self, u: Array) -> tuple[float, Array]:
        """Log density over coordinates, and its gradient."""
        x, v, way, log_volume = to_parameters(self.coordinates, u)
        value, gradient = self.density(x)
        return value + log_volume, to_coordinates(self.coordinates, v, way, x, gradient)

    def parameters(self, u: Array) -> Array:
        """Parameters of the model, at their unconstrained scale: (size,)."""
        return to_parameters(self.coordinates, u)[0]

    def machine(self, names: Sequence[str]) -> PyFuncModel:
        """Make of it what nutpie samples, and keep the variables of these names."""
        machine, size = self.density.machine, self.density.size
        made = from_pyfunc(
            size,
            lambda: self,
            lambda *_: lambda u: self.density.expand(self.parameters(u), names),
            [np.dtype("float64")] * len(names),
            [self.density.shapes[name] for name in names],
            list(names),
            coords=dict(machine.coords),
            dims={name: dims for name, dims in machine.dims.items() if name in names},
            make_initial_point_fn=lambda seed: np.random.default_rng(seed).normal(0, 0.5, size),
        )
        return exact(made)


def exact[M: CompiledModel](compiled: M) -> M:
    """Let trajectories follow a standard normal exactly and the rest of the density by steps.

    A leapfrog's error grows with the number of parameters even where each is standard normal; this
    integrator errs only by what the posterior is otherwise. It is nutpie's, which has no argument
    for it.
    """

    class Exact(type(compiled)):  # type: ignore[misc]
        def _make_sampler(self, settings: Any, *rest: Any) -> Any:
            chosen = settings.as_dict()["settings"]
            settings.update_settings(chosen | {"trajectory_kind": "ExactNormal"})
            return super()._make_sampler(settings, *rest)

    return Exact(**{field.name: getattr(compiled, field.name) for field in fields(compiled)})


def learn(
    machine: Any, model: pm.Model, *, seed: int, cores: int, memory: float = MEMORY
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

    Raises
    ------
    ModelError
        It would take more memory, or the curvature cannot be measured.
    """
    density = Density(machine)
    layout, effects = survey(density, model)
    _check_memory(layout, memory)
    draws = _first_run(machine, seed, cores)
    log_sd, log_sd_scale = (f(draws[:, layout.spreads], axis=0) for f in (np.mean, np.std))
    # What judgments say is compared at the same spreads: the draws are taken to typical ones.
    there = effects.at_spreads(draws, layout.spreads, log_sd)
    points = list(there[DRAWS - 1 :: DRAWS])
    curvature = average(measure(density.gradient, points, layout, threads=cores))
    solver = curvature.solver()
    gradients = np.array([density.gradient(x) for x in there])
    mean = (there + solver(gradients)).mean(axis=0)
    effects = effects.told(mean, solver.variances())
    spread_scale = np.clip(log_sd_scale, *SPREAD_SCALE)
    return Learnt(density, _coordinates(effects, curvature, mean, spread_scale))


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


def _first_run(machine: Any, seed: int, cores: int) -> Array:
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
    effects = effects.first(weak.ravel())
    weak_spread = int(effects.spread[0]) if weak.size else -1
    centre = mean.copy()
    centre[effects.place] = 0
    scale = effects.scale(mean)
    scale[weak] = np.exp(-mean[weak_spread])
    whole = curvature.scaled(scale)
    rest = whole.without(is_weak)
    solver = rest.solver()
    sd = np.sqrt(solver.variances())
    alone = 1 / np.sqrt(np.maximum(np.einsum("jll->jl", rest.local), FLOOR))
    follow = -solver.reach
    follow[np.abs(follow) * sd[at.shared] < NEGLIGIBLE * alone[..., None]] = 0
    # Judged at a wide spread: there they matter most.
    wide = np.exp(mean[weak_spread] + SPREAD_SCALE[1])
    yielded = _yielded(whole, rest, is_weak, NEGLIGIBLE / wide / sd)
    return Coordinates(
        centre=centre,
        spread=at.spreads,
        spread_scale=spread_scale,
        weak=weak.ravel(),
        weak_spread=weak_spread,
        shared=at.shared,
        root=np.linalg.cholesky(solver.shared),
        local=rest.layout.local.ravel(),
        local_scale=alone.ravel(),
        **_rows("follow", follow.reshape(-1, len(at.shared)), "follow"),
        **_rows("yield", yielded, "yielded"),
        effect=effects.place,
        effect_spread=effects.spread,
        score=effects.score,
        information=effects.information,
    )


def _yielded(
    whole: Curvature, rest: Curvature, is_weak: NDArray[np.bool_], smallest: Array
) -> sparse.csr_array:
    """Curvature between weak effects and all others, (weak, size), but for what is too small."""
    parts = []
    for judge, own in enumerate(rest.layout.local):
        places = np.concatenate([own, rest.layout.shared])
        within = whole.local[judge][np.ix_(is_weak, ~is_weak)]
        block = np.hstack([within, whole.across[judge][is_weak]])
        block[np.abs(block) < smallest[places]] = 0
        part = sparse.csr_array(block)
        shape = (len(block), rest.layout.size)
        parts.append(sparse.csr_array((part.data, places[part.indices], part.indptr), shape=shape))
    found = sparse.csr_array(sparse.vstack(parts))
    found.sort_indices()
    return found


def _rows(stem: str, matrix: Array | sparse.csr_array, entries: str) -> dict[str, Any]:
    """Compress the rows of a matrix into fields of `Coordinates`."""
    rows = sparse.csr_array(matrix)
    start, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return {f"{stem}_start": start, f"{stem}_at": columns, entries: rows.data}
