"""The likelihood of choices of one of two, and its slopes, in one pass.

PyTensor would go through the judgments once for every step of the likelihood and of its gradient,
and take a logarithm of each. Here every comparison is read once, and those that were asked once
share a logarithm: that of the product of their probabilities. Strengths have to be within 700.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
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

# Said expressly, or PyTensor's own `fastmath` holds here too, and its numbers need not be finite.
_jit = numba.njit(error_model="numpy", fastmath=False)


def log_likelihood(
    first: Any, second: Any, first_idx: Index, second_idx: Index, won: Any, lost: Any
) -> Any:
    """Log-probability of choices, P(first) = expit(strength_first - strength_second).

    Parameters
    ----------
    first, second : (judge, slot)
        Strengths as they are shown first and second, log-odds: tensors.
    first_idx, second_idx : (comparison,)
        Places in the flat tables.
    won, lost : (comparison,)
        How often the first was chosen, and the second.

    Returns
    -------
    tensor
        The sum over comparisons, whose gradient over strengths comes from the same pass.
    """
    fused: Any = FusedLikelihood()
    return fused(first.ravel(), second.ravel(), first_idx, second_idx, won, lost)[0]


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
    first: Array, second: Array, first_idx: Index, second_idx: Index, won: Any, lost: Any
) -> tuple[float, Array, Array]:
    worth_first, worth_second = np.exp(first), np.exp(second)
    over_first, over_second = np.zeros(len(first)), np.zeros(len(second))
    total, product = 0.0, 1.0
    for k in range(len(won)):
        i, j = first_idx[k], second_idx[k]
        here, there = worth_first[i], worth_second[j]
        share = 1 / (here + there)
        here, there = here * share, there * share
        wins, losses = 1.0 * won[k], 1.0 * lost[k]
        slope = wins * there - losses * here
        over_first[i] += slope
        over_second[j] -= slope
        asked = wins + losses
        chance = wins * here + losses * there + (1 - asked)
        if asked > 1 or chance < 1e-100:
            total += wins * first[i] + losses * second[j] + asked * np.log(share)
            continue
        product *= chance
        if product < 1e-200:
            total += np.log(product)
            product = 1.0
    return total + np.log(product), over_first, over_second


def _to_numba(op: Op, **kwargs: Any) -> tuple[Any, int]:
    """Let PyTensor's numba call the pass, and compile it anew where this file has changed."""

    @_jit
    def fused(first, second, first_idx, second_idx, won, lost):  # type: ignore[no-untyped-def]
        total, over_first, over_second = _pass(first, second, first_idx, second_idx, won, lost)
        return np.asarray(total), over_first, over_second

    return fused, zlib.crc32(Path(__file__).read_bytes())


register_funcify_default_op_cache_key(FusedLikelihood)(_to_numba)


def teach_jax() -> None:
    """Let PyTensor translate the likelihood to JAX, which takes gradients by itself."""
    import jax
    from pytensor.link.jax.dispatch import jax_funcify

    def to_jax(op: Op, **kwargs: Any) -> Any:
        def total(
            first: Any, second: Any, first_idx: Any, second_idx: Any, won: Any, lost: Any
        ) -> Any:
            gap = first[first_idx] - second[second_idx]
            return (won * jax.nn.log_sigmoid(gap) + lost * jax.nn.log_sigmoid(-gap)).sum()

        def fused(*inputs: Any) -> Any:
            value, slopes = jax.value_and_grad(total, argnums=(0, 1))(*inputs)
            return value, *slopes

        return fused

    jax_funcify.register(FusedLikelihood, to_jax)
