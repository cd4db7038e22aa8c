"""The map from coordinates to parameters, and the gradient's way back, as compiled functions.

What they need lies in a table: the addresses and shapes of the map's arrays. So they are compiled
once a clone, and called by their own addresses, since whatever is linked with them is optimised
together with them again. What the table is stands in this file, since numba's cache looks at no
other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from moralscale.machine import carray, pointer
from moralscale.warmup.coordinates import Array, Coordinates, Index

#: Arrays of the table, and what compiled code takes their numbers for.
_KINDS: dict[str, type] = {
    "centre": np.float64,
    "spread": np.int64,
    "spread_scale": np.float64,
    "spread_bend": np.float64,
    "weak": np.int64,
    "lead": np.int64,
    "lead_root": np.float64,
    "lead_mean": np.float64,
    "lead_sd": np.float64,
    "turn": np.float64,
    "shared": np.int64,
    "root": np.float64,
    "local": np.int64,
    "local_scale": np.float64,
    "follow_start": np.int64,
    "follow_at": np.int64,
    "follow": np.float64,
    "yield_start": np.int64,
    "yield_at": np.int64,
    "yielded": np.float64,
    "width": np.float64,
    "effect": np.int64,
    "effect_spread": np.int64,
    "score": np.float64,
    "information": np.float64,
}
#: Numbers of the table before those of the arrays, and numbers an array.
_HEAD, _EACH = 1, 3
_N_TABLE = _HEAD + _EACH * len(_KINDS)


class Place(NamedTuple):
    """Where coordinates lead.

    Attributes
    ----------
    x, v : (size,)
        Parameters, and the same before effects are scaled. Leading effects are turned in x alone.
    way : (size,)
        What the others give way to the weak effects, in coordinates, over their spread.
    log_volume : float
        Logarithm of the volume of the map, up to a constant.
    """

    x: Array
    v: Array
    way: Array
    log_volume: float


class Map:
    """The map of some coordinates.

    Parameters
    ----------
    coordinates : Coordinates

    Attributes
    ----------
    size : int
        Length of a point.
    table : (number,), int
        What its functions read; lives as long as the map.
    to_parameters_at, to_coordinates_at : int
        Their addresses: int64(size, u, x, v, way, log_volume, table) and int64(size, u, x, v, way,
        slope, out, table), where all but the size are pointers.
    """

    def __init__(self, coordinates: Coordinates) -> None:
        self.size = len(coordinates.centre)
        self._arrays: list[NDArray[Any]] = [
            np.ascontiguousarray(getattr(coordinates, name), dtype=kind)
            for name, kind in _KINDS.items()
        ]
        described = [(part.ctypes.data, part.shape[0], part.shape[-1]) for part in self._arrays]
        self.table: Index = np.array([coordinates.weak_spread, *np.ravel(described)], np.int64)
        self.to_parameters_at, self.to_coordinates_at = (made.address for made in _functions())

    def to_parameters(self, u: Array) -> Place:
        """Map coordinates to parameters.

        Raises
        ------
        ValueError
            They are not as many as the map has.
        """
        if np.shape(u) != (self.size,):
            raise ValueError(f"{np.shape(u)} coordinates, not {self.size}")
        x, v, way, log_volume = (np.empty(n) for n in (*[self.size] * 3, 1))
        self._call(self.to_parameters_at, u, x, v, way, log_volume)
        return Place(x, v, way, float(log_volume[0]))

    def to_coordinates(self, u: Array, place: Place, gradient: Array) -> Array:
        """Take a gradient over parameters to one over coordinates, and add that of the log volume.

        Parameters
        ----------
        u : (size,)
            Coordinates.
        place : Place
            Where they lead.
        gradient : (size,)
            Of the log density, over parameters.
        """
        slope, out = np.array(gradient, dtype=float), np.empty(self.size)
        self._call(self.to_coordinates_at, u, place.x, place.v, place.way, slope, out)
        return out

    def _call(self, address: int, *arrays: Array) -> None:
        given = [np.ascontiguousarray(array, dtype=float) for array in arrays]
        kinds = [ctypes.c_int64] + [ctypes.c_void_p] * (len(given) + 1)
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)
        function(self.size, *[array.ctypes.data for array in given], self.table.ctypes.data)


@cache
def _functions() -> tuple[Any, Any]:
    """Compile both functions, or read them from numba's cache."""
    kinds = [f"int64(int64, {', '.join(['CPointer(double)'] * n)}, voidptr)" for n in (5, 6)]
    options: Any = {"cache": True, "error_model": "numpy"}
    return (
        numba.cfunc(kinds[0], **options)(_to_parameters),
        numba.cfunc(kinds[1], **options)(_to_coordinates),
    )


def _to_parameters(n, to_u, to_x, to_v, to_way, volume, data):  # type: ignore[no-untyped-def]
    """Fill x, v, way and the log volume, each at its address."""
    c = _coordinates(carray(data, (_N_TABLE,), np.int64))
    u, x, v, way = carray(to_u, (n,)), carray(to_x, (n,)), carray(to_v, (n,)), carray(to_way, (n,))
    n_weak, n_lead = len(c.weak), len(c.lead)
    told = (c.effect, c.effect_spread, c.score, c.information)
    rest = (c.shared, c.root, c.local, c.local_scale, c.follow_start, c.follow_at, c.follow)
    log_volume = 0.0
    for k in range(n):
        v[k] = c.centre[k]
        way[k] = 0.0
    for k in range(len(c.spread)):
        tail, share = _tail(u[c.spread[k]] + c.spread_bend[k])
        v[c.spread[k]] += c.spread_scale[k] * u[c.spread[k]] - tail * tail / 2
        log_volume += np.log(c.spread_scale[k] + tail * share)
    sds = _sds(c.spread, v)
    for k in range(n_weak):
        v[c.weak[k]] += u[c.weak[k]]
    for k in range(n):
        x[k] = v[k]
    log_volume += _inform(told, sds, v, x, 0, n_weak)
    z = np.empty(n)
    for k in range(n):
        z[k] = u[k]
    if n_weak:
        pulled = np.zeros(n)
        for k in range(n_weak):
            for q in range(c.yield_start[k], c.yield_start[k + 1]):
                pulled[c.yield_at[q]] += c.yielded[q] * x[c.weak[k]]
        _put(pulled, c.lead, _transposed_times(c.turn, _take(pulled, c.lead)))
        for k in range(n):
            pulled[k] *= c.width[k]
        lead = _rest_transposed(rest, pulled, way)
        for k in range(n_lead):
            lead[k] += pulled[c.lead[k]]
        _put(way, c.lead, _transposed_times(c.lead_root, lead))
        for k in range(n):
            z[k] -= sds[c.weak_spread] * way[k]
    moved = _times(c.lead_root, _take(z, c.lead))
    for k in range(n_lead):
        v[c.lead[k]] += moved[k]
    log_volume += _inform(told, sds, v, x, n_weak, n_weak + n_lead)
    for k in range(n_lead):
        sd = sds[c.effect_spread[n_weak + k]]
        moved[k] = (sd * x[c.lead[k]] - c.lead_mean[k]) / c.lead_sd[k]
    _rest(rest, moved, z, v)
    _put(x, c.shared, _take(v, c.shared))
    _put(x, c.local, _take(v, c.local))
    log_volume += _inform(told, sds, v, x, n_weak + n_lead, len(c.effect))
    _put(x, c.lead, _times(c.turn, _take(x, c.lead)))
    carray(volume, (1,))[0] = log_volume
    return 0


def _to_coordinates(n, to_u, to_x, to_v, to_way, to_slope, to_out, data):  # type: ignore[no-untyped-def]
    """Take the slope over x to one over u, at the address of `out`; the former is overwritten."""
    c = _coordinates(carray(data, (_N_TABLE,), np.int64))
    u, x, v, way = carray(to_u, (n,)), carray(to_x, (n,)), carray(to_v, (n,)), carray(to_way, (n,))
    slope, out = carray(to_slope, (n,)), carray(to_out, (n,))
    n_weak, n_lead = len(c.weak), len(c.lead)
    told = (c.effect, c.effect_spread, c.score, c.information)
    rest = (c.shared, c.root, c.local, c.local_scale, c.follow_start, c.follow_at, c.follow)
    sds = _sds(c.spread, v)
    for k in range(n):
        out[k] = 0.0
    _put(slope, c.lead, _transposed_times(c.turn, _take(slope, c.lead)))
    _inform_back(told, sds, v, slope, n_weak + n_lead, len(c.effect))
    by_moved = _rest_transposed(rest, slope, out)
    lead = _transposed_times(c.turn, _take(x, c.lead))
    for k in range(n_lead):
        at = c.effect_spread[n_weak + k]
        here = by_moved[k] * sds[at] / c.lead_sd[k]
        slope[c.lead[k]] += here
        slope[at] += here * lead[k]
    _inform_back(told, sds, v, slope, n_weak, n_weak + n_lead)
    _put(out, c.lead, _transposed_times(c.lead_root, _take(slope, c.lead)))
    if n_weak:
        sd, pulled = sds[c.weak_spread], np.zeros(n)
        for k in range(n):
            slope[c.weak_spread] -= sd * way[k] * out[k]
        lead = _times(c.lead_root, _take(out, c.lead))
        _rest(rest, lead, out, pulled)
        _put(pulled, c.lead, lead)
        for k in range(n):
            pulled[k] *= c.width[k]
        _put(pulled, c.lead, _times(c.turn, _take(pulled, c.lead)))
        for k in range(n_weak):
            for q in range(c.yield_start[k], c.yield_start[k + 1]):
                slope[c.weak[k]] -= sd * c.yielded[q] * pulled[c.yield_at[q]]
        _inform_back(told, sds, v, slope, 0, n_weak)
    for k in range(n_weak):
        out[c.weak[k]] = slope[c.weak[k]]
    for k in range(len(c.spread)):
        tail, share = _tail(u[c.spread[k]] + c.spread_bend[k])
        steep = c.spread_scale[k] + tail * share
        curved = share * share + tail * share * (1 - share)
        out[c.spread[k]] = steep * slope[c.spread[k]] - curved / steep
    return 0


def _piece[F: Callable[..., Any]](function: F, **options: Any) -> F:
    """Compile what compiled functions alone call, and spare what Python would need of it."""
    options |= {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: F = numba.njit(**options)(function)
    return compiled


def _sums[F: Callable[..., Any]](function: F) -> F:
    """Compile a piece that adds up in any order, several terms at a time."""
    return _piece(function, fastmath={"reassoc", "contract"})


@_piece
def _numbers(table: Any, k: int) -> Any:
    at = _HEAD + _EACH * k
    return carray(pointer(table[at]), (table[at + 1],), np.float64)


@_piece
def _places(table: Any, k: int) -> Any:
    at = _HEAD + _EACH * k
    return carray(pointer(table[at]), (table[at + 1],), np.int64)


@_piece
def _matrix(table: Any, k: int) -> Any:
    at = _HEAD + _EACH * k
    return carray(pointer(table[at]), (table[at + 1], table[at + 2]), np.float64)


@_piece
def _coordinates(table: Any) -> Coordinates:
    """Find the arrays, in the order of `_KINDS`."""
    return Coordinates(
        centre=_numbers(table, 0),
        spread=_places(table, 1),
        spread_scale=_numbers(table, 2),
        spread_bend=_numbers(table, 3),
        weak=_places(table, 4),
        weak_spread=table[0],
        lead=_places(table, 5),
        lead_root=_matrix(table, 6),
        lead_mean=_numbers(table, 7),
        lead_sd=_numbers(table, 8),
        turn=_matrix(table, 9),
        shared=_places(table, 10),
        root=_matrix(table, 11),
        local=_places(table, 12),
        local_scale=_numbers(table, 13),
        follow_start=_places(table, 14),
        follow_at=_places(table, 15),
        follow=_numbers(table, 16),
        yield_start=_places(table, 17),
        yield_at=_places(table, 18),
        yielded=_numbers(table, 19),
        width=_numbers(table, 20),
        effect=_places(table, 21),
        effect_spread=_places(table, 22),
        score=_numbers(table, 23),
        information=_numbers(table, 24),
    )


@_piece
def _take(values: Array, places: Index) -> Array:
    out = np.empty(len(places))
    for k in range(len(places)):
        out[k] = values[places[k]]
    return out


@_piece
def _put(values: Array, places: Index, new: Array) -> None:
    for k in range(len(places)):
        values[places[k]] = new[k]


@_sums
def _times(matrix: Array, x: Array) -> Array:
    out = np.empty(len(matrix))
    for k in range(len(matrix)):
        total, row = 0.0, matrix[k]
        for j in range(len(x)):
            total += row[j] * x[j]
        out[k] = total
    return out


@_sums
def _transposed_times(matrix: Array, x: Array) -> Array:
    out = np.zeros(matrix.shape[1])
    for k in range(len(matrix)):
        row, value = matrix[k], x[k]
        for j in range(len(out)):
            out[j] += row[j] * value
    return out


@_piece
def _sds(spread: Index, v: Array) -> Array:
    """Spreads, at their places: (size,)."""
    out = np.ones(len(v))
    for k in range(len(spread)):
        out[spread[k]] = np.exp(v[spread[k]])
    return out


@_piece
def _tail(u: float) -> tuple[float, float]:
    """Softplus of -u, and its slope over -u."""
    small = np.exp(-abs(u))
    return float(max(-u, 0.0) + np.log1p(small)), float((small if u > 0 else 1.0) / (1 + small))


@_piece
def _rest(rest: Any, lead: Array, u: Array, v: Array) -> None:
    """Add to v how the rest follows the leading effects, (lead,), and its own coordinates."""
    shared, root, local, local_scale, start, at, follow = rest
    n_lead = len(lead)
    both = np.empty(n_lead + len(shared))
    for k in range(n_lead):
        both[k] = lead[k]
    for k in range(len(shared)):
        both[n_lead + k] = u[shared[k]]
    moved = _times(root, both)
    for k in range(len(shared)):
        both[n_lead + k] = moved[k]
        v[shared[k]] += moved[k]
    for k in range(len(local)):
        value = local_scale[k] * u[local[k]]
        for q in range(start[k], start[k + 1]):
            value += follow[q] * both[at[q]]
        v[local[k]] += value


@_piece
def _rest_transposed(rest: Any, v: Array, u: Array) -> Array:
    """Take slopes over the rest of v to u, and return those over the leading effects: (lead,)."""
    shared, root, local, local_scale, start, at, follow = rest
    n_lead = root.shape[1] - len(shared)
    both = np.zeros(root.shape[1])
    for k in range(len(shared)):
        both[n_lead + k] = v[shared[k]]
    for k in range(len(local)):
        value = v[local[k]]
        u[local[k]] = local_scale[k] * value
        for q in range(start[k], start[k + 1]):
            both[at[q]] += follow[q] * value
    back: Array = _transposed_times(root, both[n_lead:])
    for k in range(len(shared)):
        u[shared[k]] = back[n_lead + k]
    for k in range(n_lead):
        back[k] += both[k]
    return back[:n_lead]


@_piece
def _inform(told: Any, sds: Array, v: Array, x: Array, start: int, stop: int) -> float:
    """Scale some of the effects, and return the log volume."""
    effect, spread, score, information = told
    volume, log_volume = 1.0, 0.0
    for k in range(start, stop):
        sd = sds[spread[k]]
        more = 1 + information[k] * sd * sd
        x[effect[k]] = score[k] * sd / more + v[effect[k]] / np.sqrt(more)
        volume *= more
        if volume > 1e200:
            log_volume -= np.log(volume) / 2
            volume = 1.0
    return float(log_volume - np.log(volume) / 2)


@_piece
def _inform_back(told: Any, sds: Array, v: Array, slope: Array, start: int, stop: int) -> None:
    """Take a slope over x to one over v, that of the log volume added, for some of the effects."""
    effect, spread, score, information = told
    for k in range(start, stop):
        sd = sds[spread[k]]
        more = information[k] * sd * sd
        scale = 1 / np.sqrt(1 + more)
        here = slope[effect[k]]
        by_sd = score[k] * sd * (1 - more) * scale**4 - v[effect[k]] * more * scale**3
        slope[spread[k]] += here * by_sd - more * scale**2
        slope[effect[k]] = here * scale
