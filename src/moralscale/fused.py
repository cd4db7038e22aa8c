"""The likelihood of judgments without ties and lapses, and its slopes, in one pass.

PyTensor would go through the judgments once for every step of the likelihood and of its gradient,
and take a logarithm of each. Here every judgment is read once, and many share a logarithm: that of
the product of their probabilities.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.gradient import DisconnectedType, grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_jit = numba.njit(error_model="numpy")


def log_likelihood(
    first: Any, second: Any, first_idx: Index, second_idx: Index, outcome: Any
) -> Any:
    """Log-probability of outcomes, P(first) = expit(strength_first - strength_second).

    Parameters
    ----------
    first, second : (judge, slot)
        Strengths as they are shown first and second, log-odds: tensors.
    first_idx, second_idx : (judgment,)
        Places in the flat tables.
    outcome : (judgment,)
        0 where the first wins, 1 where the second does, and -1 where a judgment is left out.

    Returns
    -------
    tensor
        The sum over judgments, whose gradient over strengths comes from the same pass.
    """
    fused: Any = FusedLikelihood()
    return fused(first.ravel(), second.ravel(), first_idx, second_idx, outcome)[0]


class FusedLikelihood(Op):
    """Log-likelihood, and its slopes over the strengths shown first and those shown second."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Any:
        """Take the inputs of `log_likelihood`, tables flat."""
        first, second, *others = map(pt.as_tensor_variable, inputs)
        outputs = [pt.dscalar(), first.type(), second.type()]
        return Apply(self, [first, second, *others], outputs)

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        """Compute it for linkers other than numba's."""
        total, *slopes = _pass(*inputs)
        for storage, value in zip(output_storage, (np.asarray(total), *slopes), strict=True):
            storage[0] = value

    def infer_shape(self, node: Any, shapes: Sequence[Any]) -> list[Any]:
        """Slopes have the shapes of the strengths."""
        return [(), *shapes[:2]]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Nothing depends on places and outcomes by degrees."""
        return [[k < 2] * 3 for k in range(len(node.inputs))]

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """Slopes are at hand; of slopes again there are none."""
        by_value, *by_slopes = cotangents
        if all(isinstance(one.type, DisconnectedType) for one in by_slopes):
            strengths = [by_value * slope for slope in outputs[1:]]
        else:
            strengths = [grad_not_implemented(self, k, inputs[k]) for k in range(2)]
        return strengths + [DisconnectedType()() for _ in inputs[2:]]


@_jit
def _pass(
    first: Array, second: Array, first_idx: Index, second_idx: Index, outcome: NDArray[np.int8]
) -> tuple[float, Array, Array]:
    worth_first, worth_second = np.exp(first), np.exp(second)
    over_first, over_second = np.zeros(len(first)), np.zeros(len(second))
    total, product = 0.0, 1.0
    for k in range(len(outcome)):
        i, j = first_idx[k], second_idx[k]
        won, lost = 1.0 * (outcome[k] == 0), 1.0 * (outcome[k] == 1)
        here, there = worth_first[i], worth_second[j]
        share = 1 / (here + there)
        here, there = here * share, there * share
        product *= won * here + lost * there + (1 - won - lost)
        slope = won * there - lost * here
        over_first[i] += slope
        over_second[j] -= slope
        if product < 1e-200:
            total += np.log(product)
            product = 1.0
    return total + np.log(product), over_first, over_second


def _to_numba(op: Op, **kwargs: Any) -> tuple[Any, int]:
    """Let PyTensor's numba call the pass, anew where its text has changed."""

    @_jit
    def fused(first, second, first_idx, second_idx, outcome):  # type: ignore[no-untyped-def]
        total, over_first, over_second = _pass(first, second, first_idx, second_idx, outcome)
        return np.asarray(total), over_first, over_second

    return fused, zlib.crc32(inspect.getsource(_pass.py_func).encode())


register_funcify_default_op_cache_key(FusedLikelihood)(_to_numba)


def teach_jax() -> None:
    """Let PyTensor translate the likelihood to JAX, which takes gradients by itself."""
    import jax
    import jax.numpy as jnp
    from pytensor.link.jax.dispatch import jax_funcify

    def to_jax(op: Op, **kwargs: Any) -> Any:
        def total(first: Any, second: Any, first_idx: Any, second_idx: Any, outcome: Any) -> Any:
            gap = first[first_idx] - second[second_idx]
            won = jax.nn.log_sigmoid(jnp.where(outcome == 0, gap, -gap))
            return jnp.where(outcome >= 0, won, 0.0).sum()

        def fused(*inputs: Any) -> Any:
            value, slopes = jax.value_and_grad(total, argnums=(0, 1))(*inputs)
            return value, *slopes

        return fused

    jax_funcify.register(FusedLikelihood, to_jax)
