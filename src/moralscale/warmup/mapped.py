"""A compiled model in coordinates of its posterior, as functions that nutpie calls directly.

What the functions need (the addresses of the model's own functions and of the map's, and their
data) lies in a table of integers, so that numba compiles them once a clone.
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
from numba.np import arrayobj

from moralscale.machine import EXPAND, LOG_DENSITY, NOT_FINITE, Machine, carray, pointer
from moralscale.warmup.density import Density
from moralscale.warmup.map import Map

#: What holds an array in compiled code, by its type.
_array: Any = arrayobj.make_array
#: Numbers of the table.
_N_TABLE = 9


def in_coordinates(density: Density, mapping: Map, names: Sequence[str]) -> Machine:
    """Make what nutpie samples of a model and a map to its parameters.

    Parameters
    ----------
    density : Density
        The compiled model.
    mapping : Map
    names : sequence of str
        Variables to keep of every draw.
    """
    machine, size = density.machine, density.size
    kept = [density.stored[name] for name in names]
    ranges = np.array([(place.start, place.stop) for place in kept], dtype=np.int64)
    ends = np.cumsum(ranges[:, 1] - ranges[:, 0])
    starts = ends - (ranges[:, 1] - ranges[:, 0])
    table = [
        machine.compiled_logp_func.address,
        machine.compiled_expand_func.address,
        machine.user_data.ctypes.data,
        machine.n_expanded,
        ranges.ctypes.data,
        len(ranges),
        mapping.to_parameters_at,
        mapping.to_coordinates_at,
        mapping.table.ctypes.data,
    ]
    log_density, expand = _functions()
    made: Machine = replace(
        machine,
        compiled_logp_func=log_density,
        compiled_expand_func=expand,
        user_data=np.array(table, dtype=np.int64),
        n_expanded=int(ends[-1]),
        shape_info=(
            list(names),
            [slice(*both) for both in zip(starts.tolist(), ends.tolist(), strict=True)],
            [density.shapes[name] for name in names],
        ),
        initial_point_func=lambda seed: np.random.default_rng(seed).normal(0, 0.5, size),
        held=(machine, ranges, mapping),
    )
    return made


def _calling(context: Any, address: Any, sizes: Any, places: Any) -> Any:
    """Call the function at an address with some sizes and then the places of arrays.

    A place is an array, which lives until the function returns, or an address.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole, place = ir.IntType(64), ir.IntType(8).as_pointer()

        def pointer_to(k: int, kind: Any) -> Any:
            value = builder.extract_value(given[2], k)
            if not isinstance(kind, types.Array):
                return builder.inttoptr(value, place)
            return builder.bitcast(_array(kind)(context, builder, value).data, place)

        numbers = [builder.extract_value(given[1], k) for k in range(len(sizes))]
        pointers = [pointer_to(k, kind) for k, kind in enumerate(places)]
        kinds = [whole] * len(numbers) + [place] * len(pointers)
        function = builder.inttoptr(given[0], ir.FunctionType(whole, kinds).as_pointer())
        return builder.call(function, numbers + pointers)

    return types.int64(types.int64, sizes, places), generate


_call: Any = intrinsic(_calling)


def _log_density(size, point, gradient, value, data):  # type: ignore[no-untyped-def]
    """Log density over coordinates, and its gradient."""
    table, n = carray(data, (_N_TABLE,), np.int64), np.int64(size)
    u, out, total = carray(point, (n,)), carray(gradient, (n,)), carray(value, (1,))
    x, v, way, slope, log_volume = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(1)
    _call(table[6], (n,), (u, x, v, way, log_volume, table[8]))
    failed = _call(table[0], (n,), (x, slope, total, table[2]))
    if failed != 0:
        return failed
    total[0] += log_volume[0]
    _call(table[7], (n,), (u, x, v, way, slope, out, table[8]))
    finite = np.isfinite(total[0])
    for k in range(n):
        finite &= np.isfinite(out[k])
    return 0 if finite else NOT_FINITE


def _expand(size, n_kept, point, kept, data):  # type: ignore[no-untyped-def]
    """Compute what is kept of a draw."""
    table, n = carray(data, (_N_TABLE,), np.int64), np.int64(size)
    x, v, way, whole = np.empty(n), np.empty(n), np.empty(n), np.empty(table[3])
    _call(table[6], (n,), (carray(point, (n,)), x, v, way, np.empty(1), table[8]))
    failed = _call(table[1], (n, table[3]), (x, whole, table[2]))
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
