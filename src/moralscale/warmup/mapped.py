"""A compiled model in coordinates of its posterior, as functions that nutpie calls directly.

What the functions need (the arrays of the map, the addresses of the model's own functions and its
data) lies in a table of integers, so that numba compiles them once a machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from moralscale.machine import EXPAND, LOG_DENSITY, NOT_FINITE, Machine, carray, pointer
from moralscale.warmup.coordinates import Coordinates, to_coordinates, to_parameters
from moralscale.warmup.density import Density

#: Numbers of the table before those of the arrays, and numbers an array.
_HEAD, _EACH = 7, 3
_N_TABLE = _HEAD + _EACH * (len(Coordinates._fields) - 1)


def in_coordinates(density: Density, coordinates: Coordinates, names: Sequence[str]) -> Machine:
    """Make what nutpie samples of a model and a map to its parameters.

    Parameters
    ----------
    density : Density
        The compiled model.
    coordinates : Coordinates
    names : sequence of str
        Variables to keep of every draw.
    """
    machine, size = density.machine, density.size
    kept = [density.stored[name] for name in names]
    ranges = np.array([(place.start, place.stop) for place in kept], dtype=np.int64)
    ends = np.cumsum(ranges[:, 1] - ranges[:, 0])
    starts = ends - (ranges[:, 1] - ranges[:, 0])
    arrays = [
        np.ascontiguousarray(getattr(coordinates, field))
        for field in Coordinates._fields
        if field != "weak_spread"
    ]
    head = [
        machine.compiled_logp_func.address,
        machine.compiled_expand_func.address,
        machine.user_data.ctypes.data,
        machine.n_expanded,
        ranges.ctypes.data,
        len(ranges),
        coordinates.weak_spread,
    ]
    described = [(part.ctypes.data, part.shape[0], part.shape[-1]) for part in arrays]
    log_density, expand = _functions()
    made: Machine = replace(
        machine,
        compiled_logp_func=log_density,
        compiled_expand_func=expand,
        user_data=np.array([*head, *np.ravel(described)], dtype=np.int64),
        n_expanded=int(ends[-1]),
        shape_info=(
            list(names),
            [slice(*both) for both in zip(starts.tolist(), ends.tolist(), strict=True)],
            [density.shapes[name] for name in names],
        ),
        initial_point_func=lambda seed: np.random.default_rng(seed).normal(0, 0.5, size),
        held=(machine, ranges, arrays),
    )
    return made


def _calling(context: Any, address: Any, sizes: Any, pointers: Any) -> Any:
    """Call the function at an address with some sizes and then some pointers."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole, place = ir.IntType(64), ir.IntType(8).as_pointer()
        numbers = [builder.extract_value(given[1], k) for k in range(len(sizes))]
        places = [
            builder.inttoptr(builder.extract_value(given[2], k), place)
            for k in range(len(pointers))
        ]
        kinds = [whole] * len(numbers) + [place] * len(places)
        function = builder.inttoptr(given[0], ir.FunctionType(whole, kinds).as_pointer())
        return builder.call(function, numbers + places)

    return types.int64(types.int64, sizes, pointers), generate


_call: Any = intrinsic(_calling)

_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _numbers(table: Any, k: int) -> Any:
    at = _HEAD + _EACH * k
    return carray(pointer(table[at]), (table[at + 1],), np.float64)


@_jit
def _places(table: Any, k: int) -> Any:
    at = _HEAD + _EACH * k
    return carray(pointer(table[at]), (table[at + 1],), np.int64)


@_jit
def _matrix(table: Any, k: int) -> Any:
    at = _HEAD + _EACH * k
    return carray(pointer(table[at]), (table[at + 1], table[at + 2]), np.float64)


@_jit
def _coordinates(table: Any) -> Coordinates:
    """Find the arrays, in the order of the fields."""
    return Coordinates(
        _numbers(table, 0),
        _places(table, 1),
        _numbers(table, 2),
        _numbers(table, 3),
        _places(table, 4),
        table[6],
        _places(table, 5),
        _matrix(table, 6),
        _numbers(table, 7),
        _numbers(table, 8),
        _matrix(table, 9),
        _places(table, 10),
        _matrix(table, 11),
        _places(table, 12),
        _numbers(table, 13),
        _places(table, 14),
        _places(table, 15),
        _numbers(table, 16),
        _places(table, 17),
        _places(table, 18),
        _numbers(table, 19),
        _numbers(table, 20),
        _places(table, 21),
        _places(table, 22),
        _numbers(table, 23),
        _numbers(table, 24),
    )


def _log_density(size, point, gradient, value, data):  # type: ignore[no-untyped-def]
    """Log density over coordinates, and its gradient."""
    table, n = carray(data, (_N_TABLE,), np.int64), np.int64(size)
    c = _coordinates(table)
    u, out, total = carray(point, (n,)), carray(gradient, (n,)), carray(value, (1,))
    x, v, way, log_volume = to_parameters(c, u)
    slope = np.empty(n)
    failed = _call(table[0], (n,), (x.ctypes.data, slope.ctypes.data, total.ctypes.data, table[2]))
    if failed != 0:
        return failed
    total[0] += log_volume
    over_coordinates = to_coordinates(c, u, v, way, x, slope)
    finite = np.isfinite(total[0])
    for k in range(n):
        out[k] = over_coordinates[k]
        finite &= np.isfinite(out[k])
    return 0 if finite else NOT_FINITE


def _expand(size, n_kept, point, kept, data):  # type: ignore[no-untyped-def]
    """Compute what is kept of a draw."""
    table, n = carray(data, (_N_TABLE,), np.int64), np.int64(size)
    x = to_parameters(_coordinates(table), carray(point, (n,)))[0]
    whole = np.empty(table[3])
    failed = _call(table[1], (n, table[3]), (x.ctypes.data, whole.ctypes.data, table[2]))
    ranges, done = carray(pointer(table[4]), (table[5], 2), np.int64), 0
    out = carray(kept, (np.int64(n_kept),))
    for k in range(len(ranges)):
        for place in range(ranges[k, 0], ranges[k, 1]):
            out[done] = whole[place]
            done += 1
    return failed


@cache
def _functions() -> tuple[Any, Any]:
    """Compile both, or read them from numba's cache."""
    options: Any = {"cache": True, "error_model": "numpy"}
    return numba.cfunc(LOG_DENSITY, **options)(_log_density), numba.cfunc(EXPAND, **options)(
        _expand
    )
