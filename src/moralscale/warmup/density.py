"""The compiled log density and its gradient, to be called outside of the sampler."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LOGP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
_EXPAND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_void_p] * 3)


class Density:
    """Log density and gradient of a model that nutpie compiled, at unconstrained points.

    Calls release the interpreter's lock, so that threads work at the same time.

    Parameters
    ----------
    machine : CompiledPyMCModel
        What nutpie compiled, with its data.

    Attributes
    ----------
    size : int
        Length of a point.
    places : mapping of str to slice
        Where the values of a free variable stand, by the name of its unconstrained value.
    stored, shapes : mapping of str to slice, and to tuple
        Where all stored variables stand in an expanded draw, and their shapes.
    """

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.size: int = machine.n_dim
        names, slices, shapes = machine.shape_info
        self.stored = dict(zip(names, slices, strict=True))
        self.places: Mapping[str, slice] = {
            name: place for name, place in self.stored.items() if place.stop <= self.size
        }
        self.shapes: Mapping[str, tuple[int, ...]] = {
            name: tuple(shape) for name, shape in zip(names, shapes, strict=True)
        }
        self._logp = _LOGP(machine.compiled_logp_func.address)
        self._expand = _EXPAND(machine.compiled_expand_func.address)
        self._data = machine.user_data.ctypes.data

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Log density, not a number where there is none, and gradient: a number, (size,)."""
        x = np.ascontiguousarray(x, dtype=float)
        gradient, value = np.empty(self.size), np.empty(1)
        failed = self._logp(
            self.size, x.ctypes.data, gradient.ctypes.data, value.ctypes.data, self._data
        )
        return (float("nan") if failed else float(value[0])), gradient

    def gradient(self, x: Array) -> Array:
        """Gradient alone: (size,)."""
        return self(x)[1]

    def expand(self, x: Array, names: Iterable[str]) -> dict[str, Array]:
        """Compute what is stored of a draw, by name."""
        x = np.ascontiguousarray(x, dtype=float)
        out = np.empty(self.machine.n_expanded)
        failed = self._expand(self.size, len(out), x.ctypes.data, out.ctypes.data, self._data)
        if failed:
            raise FloatingPointError("a draw could not be expanded")
        return {name: out[self.stored[name]].reshape(self.shapes[name]) for name in names}
