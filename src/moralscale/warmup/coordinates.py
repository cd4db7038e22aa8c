"""The map from the sampler's coordinates to the model's parameters, and the gradient's way back.

Coordinates u are meant to be standard normal, a posteriori. Spreads come first,
log_sd = centre + scale * u - softplus(-(u + bend))^2 / 2: where data do not keep a spread from 0,
its logarithm has an exponential tail to the left, which this makes a normal one. Then all else in
the order in which it can be told:

1. Weak effects, those of a judge that are thousands and that the data hardly tell one by one, are
   free: v = u.
2. Leading effects, those that judges share with a spread: v = centre + P (u - sd H w), where P P'
   is their posterior covariance at typical spreads and H w what they give way to the weak effects.
   They are turned to the axes of what the data say of all those of their spread, along which each
   is told by itself; their prior looks alike in all directions.
3. The rest follows what an effect is in log-odds, its spread times itself, by fixed patterns:
   v = centre + (root) (leading effects, u - sd H w).

Standardised effects are m(sd) + s(sd) v with s = (1 + i sd^2)^(-1/2) and
m = score * sd / (1 + i sd^2): mean and sd of an effect whose prior is standard normal and about
which the data know i. No information leaves it standardised; much of it centres it.

The density in u is that of the model, times the volume of the maps of spreads and effects: all else
is linear in u at given spreads and of constant volume.
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
        v of u = 0.
    spread, spread_scale, spread_bend : (spread,)
        Places of the logarithms of spreads, how far one unit of u moves them, and how many units
        below the centre their tail begins.
    weak : (weak,)
        Places of the weak effects.
    weak_spread : int
        Place of their spread; -1 where there are none.
    lead : (lead,)
        Places of the leading effects.
    lead_root : (lead, lead)
        P, a root of their covariance.
    lead_mean, lead_sd : (lead,)
        In log-odds, at the spreads that were learnt at.
    turn : (lead, lead)
        The rotation that takes leading effects along their axes to the model's.
    shared : (shared,)
        Places of all else that judges share.
    root : (shared, lead and shared)
        How it follows the leading effects, in units of their sd, and a root of its covariance.
    local, local_scale : (local,)
        Places of what judges have of their own, and scales given what they share.
    follow_start, follow_at, follow : compressed rows (local by lead and shared)
        How they follow what is shared.
    yield_start, yield_at, yielded : compressed rows (weak by size)
        Curvature between weak effects and all others, by places, over the weak effects' spread.
    width : (size,)
        Scales of effects at the spreads that were learnt at, 1 for all others.
    effect, effect_spread : (effect,)
        Places of standardised effects, the weak ones first and then the leading ones, and of their
        spreads.
    score, information : (effect,)
        What the data say of an effect: slope at 0, and curvature.
    """

    centre: Array
    spread: Index
    spread_scale: Array
    spread_bend: Array
    weak: Index
    weak_spread: int
    lead: Index
    lead_root: Array
    lead_mean: Array
    lead_sd: Array
    turn: Array
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
    width: Array
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
        Parameters, and the same before effects are scaled. Leading effects are turned in x alone.
    way : (size,)
        What the others give way to the weak effects, in coordinates, over their spread.
    log_volume : float
        Logarithm of the volume of the map, up to a constant.
    """
    n_weak, n_lead = len(c.weak), len(c.lead)
    v, way, z = c.centre.copy(), np.zeros(len(u)), u
    log_volume = 0.0
    for k in range(len(c.spread)):
        tail, share = _tail(u[c.spread[k]] + c.spread_bend[k])
        v[c.spread[k]] += c.spread_scale[k] * u[c.spread[k]] - tail * tail / 2
        log_volume += np.log(c.spread_scale[k] + tail * share)
    sds = _sds(c, v)
    for k in range(n_weak):
        v[c.weak[k]] += u[c.weak[k]]
    x = v.copy()
    log_volume += _inform(c, sds, v, x, 0, n_weak)
    if n_weak:
        pulled = np.zeros(len(u))
        for k in range(n_weak):
            for q in range(c.yield_start[k], c.yield_start[k + 1]):
                pulled[c.yield_at[q]] += c.yielded[q] * x[c.weak[k]]
        pulled[c.lead] = np.dot(pulled[c.lead], c.turn)
        pulled *= c.width
        lead = pulled[c.lead] + _rest_transposed(c, pulled, way)
        way[c.lead] = np.dot(lead, c.lead_root)
        z = u - sds[c.weak_spread] * way
    v[c.lead] += np.dot(c.lead_root, z[c.lead])
    log_volume += _inform(c, sds, v, x, n_weak, n_weak + n_lead)
    moved = np.empty(n_lead)
    for k in range(n_lead):
        sd = sds[c.effect_spread[n_weak + k]]
        moved[k] = (sd * x[c.lead[k]] - c.lead_mean[k]) / c.lead_sd[k]
    _rest(c, moved, z, v)
    x[c.shared] = v[c.shared]
    x[c.local] = v[c.local]
    log_volume += _inform(c, sds, v, x, n_weak + n_lead, len(c.effect))
    x[c.lead] = np.dot(c.turn, x[c.lead])
    return x, v, way, log_volume


@_jit
def to_coordinates(
    c: Coordinates, u: Array, v: Array, way: Array, x: Array, gradient: Array
) -> Array:
    """Take a gradient over parameters to one over coordinates, and add that of the log volume.

    Parameters
    ----------
    u, v, way, x : (size,)
        Coordinates, and what `to_parameters` gave of them.
    gradient : (size,)
        Of the log density, over parameters.
    """
    n_weak, n_lead = len(c.weak), len(c.lead)
    slope, out, sds = gradient.copy(), np.zeros(len(x)), _sds(c, v)
    slope[c.lead] = np.dot(slope[c.lead], c.turn)
    _inform_back(c, sds, v, slope, n_weak + n_lead, len(c.effect))
    by_moved, lead = _rest_transposed(c, slope, out), np.dot(x[c.lead], c.turn)
    for k in range(n_lead):
        at = c.effect_spread[n_weak + k]
        here = by_moved[k] * sds[at] / c.lead_sd[k]
        slope[c.lead[k]] += here
        slope[at] += here * lead[k]
    _inform_back(c, sds, v, slope, n_weak, n_weak + n_lead)
    out[c.lead] = np.dot(slope[c.lead], c.lead_root)
    if n_weak:
        sd, pulled = sds[c.weak_spread], np.zeros(len(x))
        slope[c.weak_spread] -= sd * np.dot(way, out)
        lead = np.dot(c.lead_root, out[c.lead])
        _rest(c, lead, out, pulled)
        pulled[c.lead] = lead
        pulled *= c.width
        pulled[c.lead] = np.dot(c.turn, pulled[c.lead])
        for k in range(n_weak):
            for q in range(c.yield_start[k], c.yield_start[k + 1]):
                slope[c.weak[k]] -= sd * c.yielded[q] * pulled[c.yield_at[q]]
        _inform_back(c, sds, v, slope, 0, n_weak)
    for k in range(n_weak):
        out[c.weak[k]] = slope[c.weak[k]]
    for k in range(len(c.spread)):
        tail, share = _tail(u[c.spread[k]] + c.spread_bend[k])
        steep = c.spread_scale[k] + tail * share
        curved = share * share + tail * share * (1 - share)
        out[c.spread[k]] = steep * slope[c.spread[k]] - curved / steep
    return out


@_jit
def _sds(c: Coordinates, v: Array) -> Array:
    """Spreads, at their places: (size,)."""
    out = np.ones(len(v))
    for k in range(len(c.spread)):
        out[c.spread[k]] = np.exp(v[c.spread[k]])
    return out


@_jit
def _tail(u: float) -> tuple[float, float]:
    """Softplus of -u, and its slope over -u."""
    small = np.exp(-abs(u))
    return float(max(-u, 0.0) + np.log1p(small)), float((small if u > 0 else 1.0) / (1 + small))


@_jit
def _rest(c: Coordinates, lead: Array, u: Array, v: Array) -> None:
    """Add to v how the rest follows the leading effects, (lead,), and its own coordinates."""
    n_lead = len(lead)
    shared = np.empty(n_lead + len(c.shared))
    shared[:n_lead] = lead
    shared[n_lead:] = u[c.shared]
    shared[n_lead:] = np.dot(c.root, shared)
    for k in range(len(c.shared)):
        v[c.shared[k]] += shared[n_lead + k]
    for k in range(len(c.local)):
        value = c.local_scale[k] * u[c.local[k]]
        for q in range(c.follow_start[k], c.follow_start[k + 1]):
            value += c.follow[q] * shared[c.follow_at[q]]
        v[c.local[k]] += value


@_jit
def _rest_transposed(c: Coordinates, v: Array, u: Array) -> Array:
    """Take slopes over the rest of v to u, and return those over the leading effects: (lead,)."""
    n_lead = len(c.lead)
    shared = np.zeros(n_lead + len(c.shared))
    shared[n_lead:] = v[c.shared]
    for k in range(len(c.local)):
        value = v[c.local[k]]
        u[c.local[k]] = c.local_scale[k] * value
        for q in range(c.follow_start[k], c.follow_start[k + 1]):
            shared[c.follow_at[q]] += c.follow[q] * value
    back: Array = np.dot(shared[n_lead:], c.root)
    u[c.shared] = back[n_lead:]
    back[:n_lead] += shared[:n_lead]
    return back[:n_lead]


@_jit
def _inform(c: Coordinates, sds: Array, v: Array, x: Array, start: int, stop: int) -> float:
    """Scale some of the effects, and return the log volume."""
    volume, log_volume = 1.0, 0.0
    for k in range(start, stop):
        sd = sds[c.effect_spread[k]]
        more = 1 + c.information[k] * sd * sd
        x[c.effect[k]] = c.score[k] * sd / more + v[c.effect[k]] / np.sqrt(more)
        volume *= more
        if volume > 1e200:
            log_volume -= np.log(volume) / 2
            volume = 1.0
    return float(log_volume - np.log(volume) / 2)


@_jit
def _inform_back(c: Coordinates, sds: Array, v: Array, slope: Array, start: int, stop: int) -> None:
    """Take a slope over x to one over v, that of the log volume added, for some of the effects."""
    for k in range(start, stop):
        sd = sds[c.effect_spread[k]]
        told = c.information[k] * sd * sd
        scale = 1 / np.sqrt(1 + told)
        here = slope[c.effect[k]]
        by_sd = c.score[k] * sd * (1 - told) * scale**4 - v[c.effect[k]] * told * scale**3
        slope[c.effect_spread[k]] += here * by_sd - told * scale**2
        slope[c.effect[k]] = here * scale
