"""How fast the likelihood can be: one pass over judgments, written by hand for numba.

Two forms of log-likelihood and gradient over the table of strengths, the model around it left out:
in log-odds, as one would write it, and in worths, one exponential an entry of the table.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@numba.njit(error_model="numpy", fastmath=True)
def by_log_odds(
    table: Array, bias: Array, first: Index, second: Index, won: NDArray[np.bool_]
) -> tuple[float, Array, Array]:
    """Log-likelihood, and gradient over strengths (judge, slot) and biases (judge,)."""
    n_slots = table.shape[1]
    strength, slope, by_bias = table.ravel(), np.zeros(table.size), np.zeros(len(bias))
    total = 0.0
    for i in range(len(first)):
        judge = first[i] // n_slots
        eta = strength[first[i]] - strength[second[i]] + bias[judge]
        side = 1.0 if won[i] else -1.0
        odds = np.exp(-side * eta)
        total -= np.log1p(odds)
        push = side * odds / (1 + odds)
        slope[first[i]] += push
        slope[second[i]] -= push
        by_bias[judge] += push
    return total, slope.reshape(table.shape), by_bias


@numba.njit(error_model="numpy", fastmath=True)
def by_worths(
    table: Array, bias: Array, first: Index, second: Index, won: NDArray[np.bool_]
) -> tuple[float, Array, Array]:
    """Give the same with Bradley and Terry's worths, and one logarithm for many judgments."""
    n_slots = table.shape[1]
    worth = np.exp(table).ravel()
    lean = np.exp(bias)
    slope, by_bias = np.zeros(table.size), np.zeros(len(bias))
    total, product = 0.0, 1.0
    for i in range(len(first)):
        judge = first[i] // n_slots
        one, other = worth[first[i]] * lean[judge], worth[second[i]]
        chance = (one if won[i] else other) / (one + other)
        product *= chance
        if product < 1e-200:
            total += np.log(product)
            product = 1.0
        push = (1 - chance) if won[i] else (chance - 1)
        slope[first[i]] += push
        slope[second[i]] -= push
        by_bias[judge] += push
    return total + np.log(product), slope.reshape(table.shape), by_bias
