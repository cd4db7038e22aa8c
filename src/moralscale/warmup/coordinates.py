"""The map from the sampler's coordinates to the model's parameters, and the gradient's way back.

Coordinates u are meant to be standard normal, a posteriori. Three steps lead to parameters x:

1. Spreads: log_sd = centre + scale * u.
2. Everything else at given spreads, v = centre + T (u - sd/sd_0 * T' H w), where T T' is the
   posterior covariance. The effects w that the data hardly tell one by one, and that are thousands,
   are free: what the others must give way to them is a fixed pattern times their spread.
3. Standardised effects, x = m(sd) + s(sd) * v with s = (1 + i sd^2)^(-1/2) and
   m = score * sd / (1 + i sd^2): mean and sd of an effect whose prior is standard normal and about
   which the data know i. No information leaves it standardised; much of it centres it.

The density in u is that of the model, times the volume of step 3 (steps 1 and 2 are linear in u at
given spreads and of constant volume).
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Coordinates(NamedTuple):
    """A map between the sampler's coordinates and a model's parameters.

    Attributes
    ----------
    centre : (size,)
        Parameters, after step 2, of u = 0.
    spread, spread_scale : (spread,)
        Places of the logarithms of spreads, and how far one unit of u moves them.
    weak : (weak,)
        Places of the effects that are free in step 2.
    weak_spread : int
        Place of their spread; -1 where there are none.
    shared : (shared,)
        Places of what judges share.
    root : (shared, shared)
        A root of its covariance.
    local, local_scale : (local,)
        Places of what judges have of their own, and scales given what they share.
    follow_start, follow_at, follow : compressed rows (local by shared)
        How they follow what is shared.
    yield_start, yield_at, yielded : compressed rows (weak by shared and local)
        Curvature between weak effects and all others, by places, over the weak effects' spread.
    effect, effect_spread : (effect,)
        Places of standardised effects, the weak ones first, and of their spreads.
    score, information : (effect,)
        What the data say of an effect: slope at 0, and curvature.
    """

    centre: Array
    spread: Index
    spread_scale: Array
    weak: Index
    weak_spread: int
    shared: Index
    root: Array
    local: Index
    local_scale: Array
    follow_start: Index
    follow_at: Index
    follow: Array
    yield_start: Index
    yield_at: Index
    yielded: Array
    effect: Index
    effect_spread: Index
    score: Array
    information: Array


_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


@_jit
def to_parameters(c: Coordinates, u: Array) -> tuple[Array, Array, Array, float]:
    """Map coordinates to parameters.

    Returns
    -------
    x, v : (size,)
        Parameters, and the same before step 3.
    way : (size,)
        What the others give way to the weak effects, in coordinates, over their spread.
    log_volume : float
        Logarithm of the volume of the map, up to a constant.
    """
    v, way = c.centre.copy(), np.zeros(len(u))
    for k in range(len(c.spread)):
        v[c.spread[k]] += c.spread_scale[k] * u[c.spread[k]]
    for k in range(len(c.weak)):
        v[c.weak[k]] += u[c.weak[k]]
    n_weak, x = len(c.weak), v.copy()
    log_volume = _inform(c, v, x, 0, n_weak)
    if n_weak:
        pulled = np.zeros(len(u))
        for k in range(n_weak):
            for q in range(c.yield_start[k], c.yield_start[k + 1]):
                pulled[c.yield_at[q]] += c.yielded[q] * x[c.weak[k]]
        _root_transposed(c, pulled, way)
        _root(c, u - np.exp(v[c.weak_spread]) * way, v)
    else:
        _root(c, u, v)
    x[c.shared] = v[c.shared]
    x[c.local] = v[c.local]
    log_volume += _inform(c, v, x, n_weak, len(c.effect))
    return x, v, way, log_volume


@_jit
def to_coordinates(c: Coordinates, v: Array, way: Array, x: Array, gradient: Array) -> Array:
    """Take a gradient over parameters to one over coordinates, and add that of the log volume.

    Parameters
    ----------
    v, way, x : (size,)
        As `to_parameters` gave them.
    gradient : (size,)
        Of the log density, over parameters.
    """
    n_weak, slope, out = len(c.weak), gradient.copy(), np.zeros(len(x))
    _inform_back(c, v, slope, n_weak, len(c.effect))
    _root_transposed(c, slope, out)
    if n_weak:
        sd, pulled = np.exp(v[c.weak_spread]), np.zeros(len(x))
        slope[c.weak_spread] -= sd * np.dot(way, out)
        _root(c, out, pulled)
        for k in range(n_weak):
            for q in range(c.yield_start[k], c.yield_start[k + 1]):
                slope[c.weak[k]] -= sd * c.yielded[q] * pulled[c.yield_at[q]]
        _inform_back(c, v, slope, 0, n_weak)
    for k in range(n_weak):
        out[c.weak[k]] = slope[c.weak[k]]
    for k in range(len(c.spread)):
        out[c.spread[k]] = c.spread_scale[k] * slope[c.spread[k]]
    return out


@_jit
def _root(c: Coordinates, u: Array, v: Array) -> None:
    """Add T u to v."""
    shared = np.dot(c.root, u[c.shared])
    for k in range(len(c.shared)):
        v[c.shared[k]] += shared[k]
    for k in range(len(c.local)):
        value = c.local_scale[k] * u[c.local[k]]
        for q in range(c.follow_start[k], c.follow_start[k + 1]):
            value += c.follow[q] * shared[c.follow_at[q]]
        v[c.local[k]] += value


@_jit
def _root_transposed(c: Coordinates, v: Array, u: Array) -> None:
    """Set u to T' v."""
    shared = v[c.shared]
    for k in range(len(c.local)):
        value = v[c.local[k]]
        u[c.local[k]] = c.local_scale[k] * value
        for q in range(c.follow_start[k], c.follow_start[k + 1]):
            shared[c.follow_at[q]] += c.follow[q] * value
    u[c.shared] = np.dot(shared, c.root)


@_jit
def _inform(c: Coordinates, v: Array, x: Array, start: int, stop: int) -> float:
    """Take step 3 for some of the effects, and return its log volume."""
    volume, log_volume = 1.0, 0.0
    for k in range(start, stop):
        sd = np.exp(v[c.effect_spread[k]])
        more = 1 + c.information[k] * sd * sd
        x[c.effect[k]] = c.score[k] * sd / more + v[c.effect[k]] / np.sqrt(more)
        volume *= more
        if volume > 1e200:
            log_volume -= np.log(volume) / 2
            volume = 1.0
    return float(log_volume - np.log(volume) / 2)


@_jit
def _inform_back(c: Coordinates, v: Array, slope: Array, start: int, stop: int) -> None:
    """Take a slope over x to one over v, that of the log volume added, for some of the effects."""
    for k in range(start, stop):
        sd = np.exp(v[c.effect_spread[k]])
        told = c.information[k] * sd * sd
        scale = 1 / np.sqrt(1 + told)
        here = slope[c.effect[k]]
        by_sd = c.score[k] * sd * (1 - told) * scale**4 - v[c.effect[k]] * told * scale**3
        slope[c.effect_spread[k]] += here * by_sd - told * scale**2
        slope[c.effect[k]] = here * scale
