"""Learn coordinates from a short first run, and sample in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from nutpie.compiled_pyfunc import PyFuncModel, from_pyfunc
from nutpie.sample import CompiledModel
from scipy import sparse

from moralscale.sampling import by_nutpie
from moralscale.warmup.coordinates import Coordinates, to_coordinates, to_parameters
from moralscale.warmup.curvature import Curvature, Layout, measure
from moralscale.warmup.density import Density

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Iterations of each chain of the first run; the last ones are learnt from.
TUNE, DRAWS = 150, 60
#: Draws at which the curvature is measured.
POINTS = 2
#: Effects of judges of which the data tell less than this, over the prior's information, are weak.
WEAK = 0.15
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


def learn(machine: Any, model: pm.Model, *, seed: int, cores: int) -> Learnt:
    """Learn coordinates from a first run of two short chains.

    Parameters
    ----------
    machine : CompiledPyMCModel
        What nutpie compiled, with its data.
    model : Model
        What it was compiled from. Spreads are free variables ``*_sd``, standardised effects are
        ``*_z``, and what a judge has of its own has ``judge`` as its first dim.
    seed, cores : int
        Seed, and chains at a time.
    """
    density = Density(machine)
    layout, effects = _layout(density, model)
    draws = _first_run(machine, seed, cores)
    points = draws[:: max(len(draws) // POINTS, 1)][-POINTS:]
    solver = measure(density.gradient, list(points), layout).solver()
    gradients = np.array([density.gradient(x) for x in draws])
    mean = (draws + solver(gradients)).mean(axis=0)
    mean[layout.spreads] = draws[:, layout.spreads].mean(axis=0)
    effects = effects.told(mean, solver.variances())
    return Learnt(density, _coordinates(density, layout, effects, draws, points, mean))


@dataclass(frozen=True, eq=False)
class Effects:
    """Standardised effects, their spreads, and what the data say of them.

    Attributes
    ----------
    place, spread : (effect,)
        Places of effects and of the logarithms of their spreads.
    score, information : (effect,)
        As in `Coordinates`.
    """

    place: Index
    spread: Index
    score: Array
    information: Array

    def told(self, mean: Array, variance: Array) -> Effects:
        """Read what the data say off the mean and the variances of a posterior: two of (size,)."""
        sd = np.exp(mean[self.spread])
        more = np.maximum(1 / variance[self.place], 1)
        score, information = mean[self.place] * more / sd, (more - 1) / sd**2
        return replace(self, score=score, information=information)

    def back(self, x: Array) -> Array:
        """Undo step 3: (..., size)."""
        sd = np.exp(x[..., self.spread])
        more, v = 1 + self.information * sd**2, x.copy()
        v[..., self.place] = (x[..., self.place] - self.score * sd / more) * np.sqrt(more)
        return v

    def first(self, places: Index) -> Effects:
        """Put those at some places first, in their order."""
        later = ~np.isin(self.place, places)
        found = {place: k for k, place in enumerate(self.place.tolist())}
        order = np.array([*(found[p] for p in places.tolist()), *np.flatnonzero(later)], dtype=int)
        parts = (self.place, self.spread, self.score, self.information)
        return Effects(*(part[order] for part in parts))


def _layout(density: Density, model: pm.Model) -> tuple[Layout, Effects]:
    """Sort parameters into spreads, shared ones and those of a judge, and find effects."""
    values = {str(rv.name): str(model.rvs_to_values[rv].name) for rv in model.free_RVs}
    at = {
        name: np.arange(*density.places[value].indices(density.size))
        for name, value in values.items()
    }
    n_judges = len(model.coords["judge"])
    spreads = [name for name in at if name.endswith("_sd")]
    by_judge = [
        name
        for name in at
        if name.endswith("_judge_z") or model.named_vars_to_dims.get(name, ())[:1] == ("judge",)
    ]
    # Values of a variable that sums to zero over judges are not one a judge.
    local = [
        at[name].reshape(n_judges, -1)
        for name in by_judge
        if density.shapes[values[name]][0] == n_judges > 1
    ]
    own = np.concatenate(local, axis=1) if local else np.empty((n_judges, 0), dtype=int)
    spread_at = np.array([at[name][0] for name in spreads], dtype=int)
    shared = np.setdiff1d(np.arange(density.size), np.concatenate([spread_at, own.ravel()]))
    pairs = [
        (at[f"{name[:-3]}_z"], at[name][0])
        for name in spreads
        if f"{name[:-3]}_z" in at and values[name].endswith("_log__")
    ]
    place = np.concatenate([z for z, _ in pairs])
    spread = np.concatenate([np.full(len(z), sd) for z, sd in pairs])
    nothing = np.zeros(len(place))
    return Layout(density.size, spread_at, shared, own), Effects(place, spread, nothing, nothing)


def _first_run(machine: Any, seed: int, cores: int) -> Array:
    """Draw from the posterior roughly: (draw, size)."""
    tree = by_nutpie(
        exact(machine),
        draws=DRAWS,
        tune=TUNE,
        chains=2,
        cores=min(cores, 2),
        seed=seed,
        progress_bar=False,
        save_warmup=False,
        store_unconstrained=True,
    )
    drawn = tree["sample_stats"].to_dataset()["unconstrained_draw"]
    return drawn.values.reshape(2 * DRAWS, -1)


def _coordinates(
    density: Density, at: Layout, effects: Effects, draws: Array, points: Array, mean: Array
) -> Coordinates:
    weak = _weak(at, effects, mean)
    effects = effects.first(weak.ravel())
    centre = mean.copy()
    centre[effects.place] = 0
    low, high = SPREAD_SCALE
    spread_scale = np.clip(draws[:, at.spreads].std(axis=0), low, high)
    there = effects.back(points)
    there[:, at.spreads] = mean[at.spreads]
    told = Learnt(density, _effects_alone(at, effects))
    whole = measure(lambda v: told(v)[1], list(there), at)
    is_weak = np.isin(at.local[0], weak[0]) if weak.size else np.zeros(at.local.shape[1], bool)
    rest = replace(at, local=at.local[:, ~is_weak])
    solver = Curvature(
        rest, whole.local[:, ~is_weak][:, :, ~is_weak], whole.across[:, ~is_weak], whole.shared
    ).solver()
    scale = np.sqrt(solver.variances())
    local_scale = 1 / np.sqrt(np.einsum("jll->jl", whole.local)[:, ~is_weak])
    follow = -solver.reach * (
        np.abs(solver.reach) * scale[at.shared] / local_scale[..., None] > NEGLIGIBLE
    )
    yielded = np.zeros((weak.size, at.size))
    for judge, own in enumerate(rest.local):
        rows = slice(judge * weak.shape[1], (judge + 1) * weak.shape[1])
        yielded[rows, own] = whole.local[judge][np.ix_(is_weak, ~is_weak)]
        yielded[rows, at.shared] = whole.across[judge][is_weak]
    yielded *= np.abs(yielded) * scale > NEGLIGIBLE
    weak_spread = int(effects.spread[0]) if weak.size else -1
    if weak.size:
        yielded /= np.exp(mean[weak_spread])
    followed = sparse.csr_array(follow.reshape(-1, len(at.shared)))
    yields = sparse.csr_array(yielded)
    return Coordinates(
        centre,
        at.spreads,
        spread_scale,
        weak.ravel(),
        weak_spread,
        at.shared,
        np.linalg.cholesky(solver.shared),
        rest.local.ravel(),
        local_scale.ravel(),
        *_rows(followed),
        *_rows(yields),
        effects.place,
        effects.spread,
        effects.score,
        effects.information,
    )


def _weak(at: Layout, effects: Effects, mean: Array) -> Index:
    """Find the effects of judges that the data hardly tell one by one: (judge, weak)."""
    told = dict(
        zip(
            effects.place.tolist(),
            effects.information * np.exp(2 * mean[effects.spread]),
            strict=True,
        )
    )
    spread = dict(zip(effects.place.tolist(), effects.spread.tolist(), strict=True))
    found: dict[int, list[Index]] = {}
    for column in at.local.T:
        if (sd := spread.get(int(column[0]))) is not None:
            found.setdefault(sd, []).append(column)
    weak = [
        np.array(columns).T
        for columns in found.values()
        if np.mean([told[int(place)] for place in np.ravel(columns)]) < WEAK
    ]
    return max(weak, key=np.size, default=np.empty((len(at.local), 0), dtype=int))


def _effects_alone(at: Layout, effects: Effects) -> Coordinates:
    """Coordinates of step 3 alone."""
    none, nothing = np.zeros(0, dtype=int), np.zeros(0)
    plain = np.zeros(1, dtype=int)
    return Coordinates(
        np.zeros(at.size),
        at.spreads,
        np.ones(len(at.spreads)),
        none,
        -1,
        none,
        np.zeros((0, 0)),
        np.concatenate([at.shared, at.local.ravel()]),
        np.ones(len(at.shared) + at.local.size),
        np.zeros(len(at.shared) + at.local.size + 1, dtype=int),
        none,
        nothing,
        plain,
        none,
        nothing,
        effects.place,
        effects.spread,
        effects.score,
        effects.information,
    )


def _rows(matrix: sparse.csr_array) -> tuple[Index, Index, Array]:
    """Take a matrix apart: starts of rows, columns, entries."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
