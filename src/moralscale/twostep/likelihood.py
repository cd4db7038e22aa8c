"""Penalised Bradley-Terry likelihood of many judges."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from moralscale.errors import ModelError
from moralscale.twostep.battles import Battles

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Largest gradient at the maximum, log-likelihood per unit of log-odds.
TOLERANCE = 1e-7
_MOST_STEPS = 100
_LONGEST_STEP = 3.0  # log-odds: a full Newton step from afar can overshoot
_ENOUGH = 1e-6  # what is left of a gradient where a Newton step counts as solved

_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


def penalised_strengths(battles: Battles, penalty: float) -> tuple[Array, Array]:
    """Fit strengths and position bias to each judge's battles.

    Maximises ``sum(log P(outcome)) - penalty / 2 * (sum(strength ** 2) + bias ** 2)`` for each
    judge, with ``P(first chosen) = logistic(strength[first] - strength[second] + bias)``: the mode
    under normal priors of precision `penalty`. The penalty makes the maximum exist and unique where
    contestants win or lose all their battles, as many do with about 15 each.

    Newton's method; each step is solved by conjugate gradients on the comparison graph, whose
    products cost one pass over the battles.

    Parameters
    ----------
    battles : Battles
    penalty : float
        Above 0, per squared log-odds.

    Returns
    -------
    strength : (judge, contestant)
        Log-odds, summing to zero over contestants.
    position_bias : (judge,)
        Log-odds.

    Raises
    ------
    ModelError
        No maximum was found.
    """
    n = battles.n_contestants
    pair = (battles.judge_idx * n + battles.first_idx) * n + battles.second_idx
    met, place, count = np.unique(pair, return_inverse=True, return_counts=True)
    won = np.bincount(place, weights=battles.first_won, minlength=len(met))
    ends = np.searchsorted(met, np.arange(battles.n_judges + 1) * n**2)
    strength = np.zeros((battles.n_judges, n + 1))  # the last one is the bias
    for judge in range(battles.n_judges):
        own = slice(ends[judge], ends[judge + 1])
        pairs = met[own] // n % n, met[own] % n, count[own].astype(float), won[own]
        if not _maximise(*pairs, float(penalty), strength[judge]):
            raise ModelError(
                "the Bradley-Terry likelihood has no maximum within reach",
                where="twostep.penalty",
                mend="use a larger penalty",
            )
    return strength[:, :-1], strength[:, -1]


@_jit
def _maximise(
    first: Index, second: Index, count: Array, won: Array, penalty: float, strength: Array
) -> bool:
    """Climb from `strength`, (contestant and bias,), which is overwritten; whether it arrived.

    `first`, `second`, `count` and `won`, (pair,), are who met in this order, how often, and how
    often the first one won.
    """
    bias, weight = len(strength) - 1, np.empty(len(first))
    for _ in range(_MOST_STEPS):
        gradient, diagonal = -penalty * strength, np.full(len(strength), penalty)
        for pair in range(len(first)):
            one, other = first[pair], second[pair]
            chance = 1 / (1 + np.exp(strength[other] - strength[one] - strength[bias]))
            off = won[pair] - count[pair] * chance
            gradient[one] += off
            gradient[other] -= off
            gradient[bias] += off
            weight[pair] = count[pair] * chance * (1 - chance)
            diagonal[one] += weight[pair]
            diagonal[other] += weight[pair]
            diagonal[bias] += weight[pair]
        if np.abs(gradient).max() < TOLERANCE:
            return True
        step = _solve(first, second, weight, penalty, gradient, diagonal)
        # Rounding alone moves the sum of strengths, and only the penalty would bring it back.
        step[:bias] -= step[:bias].mean()
        strength += step * min(1.0, _LONGEST_STEP / np.abs(step).max())
    return False


@_jit
def _solve(
    first: Index, second: Index, weight: Array, penalty: float, gradient: Array, diagonal: Array
) -> Array:
    """Solve ``curvature @ step = gradient`` by conjugate gradients, scaled by the diagonal."""
    bias = len(gradient) - 1
    step, residual = np.zeros_like(gradient), gradient.copy()
    direction = residual / diagonal
    power = np.dot(residual, direction)
    enough = _ENOUGH * power
    for _ in range(len(gradient)):
        if power <= enough:
            break
        bent = penalty * direction
        for pair in range(len(first)):
            one, other = first[pair], second[pair]
            moved = weight[pair] * (direction[one] - direction[other] + direction[bias])
            bent[one] += moved
            bent[other] -= moved
            bent[bias] += moved
        size = power / np.dot(direction, bent)
        step += size * direction
        residual -= size * bent
        scaled = residual / diagonal
        before, power = power, np.dot(residual, scaled)
        direction = scaled + power / before * direction
    return step
