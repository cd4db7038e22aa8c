"""The mode in which models are compiled: numba's, of operations that compile at once.

Where nothing is kept on disk, what PyTensor makes of a model takes numba a minute to compile. Half
of it goes into what no model needs: products, sums and increments of matrices ask for layouts,
strides and shapes when they run, where those of a model are known beforehand; and the densities of
all priors become one long expression, where one a distribution would do.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.mode import Mode, get_mode
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.scalar import add
from pytensor.tensor.basic import Split
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Dot, Sum
from pytensor.tensor.rewriting.elemwise import local_dimshuffle_lift
from pytensor.tensor.subtensor import AdvancedIncSubtensor

#: Places in the order of PyTensor's rewrites: before operations are fused, and after all others.
UNFUSED, LAST = 48.5, 101
#: Scalars that are added up apart from what they come from.
MANY = 8
_COLUMNS = (slice(None, None, None), 0)


def light_mode() -> Mode:
    """Give PyTensor's mode for numba with lighter operations, the same otherwise."""
    numba_mode: Any = get_mode("NUMBA")
    mode: Mode = numba_mode.register(
        (dfs_rewriter(_add_apart), UNFUSED),
        (dfs_rewriter(_cut), UNFUSED),
        (dfs_rewriter(_lighten), LAST),
        (dfs_rewriter(local_dimshuffle_lift), LAST),  # axes that were added and then dropped
    )
    return mode


class LightDot(Dot):
    """The product of two matrices."""

    settings = ()

    def loops(self) -> Callable[..., Any]:
        """Give what numba compiles."""

        def dot(x, y):  # type: ignore[no-untyped-def]
            out = np.zeros((x.shape[0], y.shape[1]))
            for i in range(x.shape[0]):
                if y.shape[1] > y.shape[0]:  # whichever loop is the longer one
                    for k in range(y.shape[0]):
                        for j in range(y.shape[1]):
                            out[i, j] += x[i, k] * y[k, j]
                else:
                    for j in range(y.shape[1]):
                        total = 0.0
                        for k in range(y.shape[0]):
                            total += x[i, k] * y[k, j]
                        out[i, j] = total
            return out

        return dot


class LightSum(Sum):
    """The sums of a matrix over one of its axes."""

    settings = ("axis", "dtype", "acc_dtype")

    def loops(self) -> Callable[..., Any]:
        """Give what numba compiles."""
        kept = 1 if self.axis == (0,) else 0

        def axis_sum(x):  # type: ignore[no-untyped-def]
            out = np.zeros(x.shape[kept])
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    out[(i, j)[kept]] += x[i, j]
            return out

        return axis_sum


class LightIncrement(AdvancedIncSubtensor):
    """A matrix to some of whose columns those of another are added."""

    settings = AdvancedIncSubtensor.__props__

    def loops(self) -> Callable[..., Any]:
        """Give what numba compiles."""
        inplace = self.inplace

        def increment(x, y, columns):  # type: ignore[no-untyped-def]
            out = x if inplace else x.copy()
            for i in range(y.shape[0]):
                for k in range(len(columns)):
                    out[i, columns[k]] += y[i, k]
            return out

        return increment


_LIGHT: dict[Any, Any] = {
    Dot: LightDot,
    Sum: LightSum,
    AdvancedIncSubtensor: LightIncrement,
}


@node_rewriter([Elemwise])  # type: ignore[untyped-decorator]
def _add_apart(fgraph: Any, node: Any) -> Any:
    """Keep a sum of many scalars from being fused with all that they come from."""
    kinds = {(x.type.ndim, x.type.dtype) for x in node.inputs}
    if node.op.scalar_op != add or len(node.inputs) < MANY or kinds != {(0, "float64")}:
        return None
    return [pt.stack(node.inputs).sum()]


@node_rewriter([Split])  # type: ignore[untyped-decorator]
def _cut(fgraph: Any, node: Any) -> Any:
    """Cut by places that are known, instead of looking at sizes."""
    x, sizes = node.inputs
    if not isinstance(sizes, Constant):
        return None
    before = (slice(None),) * node.op.axis
    places = pairwise(np.cumsum([0, *sizes.data]).tolist())
    return [x[(*before, slice(start, stop))] for start, stop in places]


@node_rewriter(list(_LIGHT))  # type: ignore[untyped-decorator]
def _lighten(fgraph: Any, node: Any) -> Any:
    """Exchange an operation on matrices whose shapes are known for its light kind."""
    matrices = [x.type for x in (*node.inputs[:2], *node.outputs)]
    known = all(one.dtype == "float64" and None not in one.shape for one in matrices)
    if type(node.op) not in _LIGHT or not known or not _fits(node):
        return None
    light = _LIGHT[type(node.op)]
    op = light(**{name: getattr(node.op, name) for name in light.settings})
    return op.make_node(*node.inputs).outputs


def _fits(node: Any) -> bool:
    """Say whether an operation is one of those that the loops are for."""
    op, (x, *others) = node.op, node.inputs
    if isinstance(op, Sum):
        return x.type.ndim == 2 and op.axis in {(0,), (1,)}
    y = others[0].type.shape
    if isinstance(op, Dot):
        return x.type.shape[1] == y[0]  # type: ignore[no-any-return]
    columns = others[1]
    return (
        op.idx_list == _COLUMNS
        and not op.set_instead_of_inc
        and isinstance(columns, Constant)
        and columns.type.ndim == 1
        and bool(np.isin(columns.data, np.arange(x.type.shape[1])).all())
        and y == (x.type.shape[0], len(columns.data))
    )


def _to_numba(op: Any, **kwargs: Any) -> tuple[Any, str]:
    """Let numba compile the loops, anew where this file has changed."""
    settings = [getattr(op, name) for name in op.settings]
    key = repr([type(op).__name__, settings, Path(__file__).read_text()])
    return numba_njit(op.loops()), sha256(key.encode()).hexdigest()


for _kind in _LIGHT.values():
    register_funcify_and_cache_key(_kind)(_to_numba)
