"""A model as machine code that nutpie samples, kept on disk from process to process.

PyTensor keeps the machine code of what it compiled. nutpie links it into a function of its own, for
which numba optimises all of it anew in every process; here that function calls it by its address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numba
import numpy as np
import pymc as pm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray
from nutpie import compile_pymc as nutpie_compile
from pymc.initial_point import make_initial_point_fn

from moralscale.light import light_mode

#: What nutpie takes for a divergence, and what for an error of the function.
NOT_FINITE, FAILED = 3, -1
#: What nutpie calls with a point: for its log density and gradient, and for what is kept of a draw.
LOG_DENSITY = "int64(uint64, CPointer(double), CPointer(double), CPointer(double), voidptr)"
EXPAND = "int64(uint64, uint64, CPointer(double), CPointer(double), voidptr)"
#: An array of a pointer, a shape and a dtype, in compiled code.
carray: Any = numba.carray  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Machine(nutpie_compile.CompiledPyMCModel):  # type: ignore[misc]
    """A compiled model; its data are found by their addresses, in `user_data`.

    Attributes
    ----------
    held : object
        What else addresses in `user_data` lead to.
    """

    held: Any = None

    def with_data(self, **values: Any) -> Machine:
        """Exchange data containers, by name, for others of the same shape.

        Raises
        ------
        KeyError
            The model has no data container of this name.
        ValueError
            The shape differs.
        """
        data = dict(self.shared_data)
        for name, value in values.items():
            before = data[name]
            data[name] = np.ascontiguousarray(value, dtype=before.dtype).reshape(before.shape)
        changed: Any = {"shared_data": data, "user_data": _addresses(data)}
        return replace(self, **changed)


def compile_model(model: pm.Model, names: Sequence[str]) -> Machine:
    """Compile a model for nutpie.

    Parameters
    ----------
    model : Model
    names : sequence of str
        Variables to keep of every draw.
    """
    initial = make_initial_point_fn(
        model=model,
        default_strategy="support_point",
        jitter_rvs=set(model.free_RVs),
        return_transformed=True,
    )
    size, n_expanded, log_density, expand, initial_point, shapes, transformed = (
        nutpie_compile._make_functions(
            model,
            mode=light_mode(),
            compute_grad=True,
            join_expanded=True,
            pymc_initial_point_fn=_one_at_a_time(initial),
            var_names=names,
        )
    )
    shared = list(dict.fromkeys([*log_density.get_shared(), *expand.get_shared()]))
    data = {str(one.name): np.array(one.get_value(), order="C") for one in shared}
    dims, coords = nutpie_compile._prepare_dims_and_coords(model, shapes, transformed)
    return Machine(
        _n_dim=size,
        dims=dims,
        _coords=coords,
        _shapes={name: tuple(shape) for name, _, shape in zip(*shapes, strict=True)},
        compiled_logp_func=_log_density(size, _by_address(log_density, size, data)),
        compiled_expand_func=_expand(size, n_expanded, _by_address(expand, size, data)),
        initial_point_func=initial_point,
        shared_data=data,
        shared_var_keys={one: one.name for one in shared},
        user_data=_addresses(data),
        n_expanded=n_expanded,
        shape_info=shapes,
        logp_func=log_density,
        expand_func=expand,
        reparameterized_names=transformed,
    )


def _pointer(context: Any, address: Any) -> Any:
    """Take an integer for a pointer."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


pointer: Any = intrinsic(_pointer)


def _one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let chains call a function of PyTensor's, which keeps its values in one place, in turn."""
    lock = Lock()

    def called(*given: Any) -> Any:
        with lock:
            return function(*given)

    return called


def _addresses(data: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    return np.array([values.ctypes.data for values in data.values()], dtype=np.int64)


def _by_address(function: Any, size: int, data: dict[str, NDArray[Any]]) -> Callable[..., Any]:
    """Call what PyTensor compiled by its address: (point, table of addresses) to its results."""
    compiled, names = function.vm.jit_fn, [str(one.name) for one in function.get_shared()]
    compiled(np.zeros(size), *[data[name] for name in names])  # compiles it, or reads it from disk
    (overload,) = compiled.overloads.values()
    address = overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)
    given, results = overload.signature.args, overload.signature.return_type

    def _call(context: Any, values: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = context.call_conv.get_function_type(results, given).as_pointer()
            at = builder.inttoptr(ir.Constant(ir.IntType(64), address), kind)
            if isinstance(given[0], types.BaseTuple):  # what PyTensor keeps on disk
                cast = [context.cast(builder, args[0], values, given[0])]
            else:
                parts = [builder.extract_value(args[0], k) for k in range(len(given))]
                both = zip(parts, values, given, strict=True)
                cast = [context.cast(builder, part, is_, to) for part, is_, to in both]
            status, found = context.call_conv.call_function(builder, at, results, given, cast)
            with builder.if_then(status.is_error, likely=False):
                context.call_conv.return_status_propagate(builder, status)
            return found

        return results(values), generate

    call: Any = intrinsic(_call)

    @numba.njit
    def first(point, table):  # type: ignore[no-untyped-def]
        return (point,)

    values: Any = first
    for name in names:
        values = _and(values, list(data).index(name), data[name].shape, data[name].dtype)

    @numba.njit
    def called(point, table):  # type: ignore[no-untyped-def]
        return call(values(point, table))

    return called  # type: ignore[no-any-return]


def _and(before: Any, k: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Add the array at the k-th address to a tuple."""

    @numba.njit
    def more(point, table):  # type: ignore[no-untyped-def]
        return (*before(point, table), carray(pointer(table[k]), shape, dtype))

    return more


def _log_density(size: int, call: Callable[..., Any]) -> Any:
    def log_density(n, point, gradient, value, data):  # type: ignore[no-untyped-def]
        try:
            found, slopes = call(carray(point, (size,)), carray(data, (1,), np.int64))
            value[0] = found[()]
            finite = np.isfinite(value[0])
            for k in range(size):
                gradient[k] = slopes[k]
                finite &= np.isfinite(slopes[k])
            return 0 if finite else NOT_FINITE
        except Exception:
            return FAILED

    return numba.cfunc(LOG_DENSITY)(log_density)


def _expand(size: int, n_expanded: int, call: Callable[..., Any]) -> Any:
    def expand(n, n_kept, point, kept, data):  # type: ignore[no-untyped-def]
        try:
            (found,) = call(carray(point, (size,)), carray(data, (1,), np.int64))
            for k in range(n_expanded):
                kept[k] = found[k]
            return 0
        except Exception:
            return FAILED

    return numba.cfunc(EXPAND)(expand)
