"""Penalised Bradley-Terry likelihood of many judges at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from moralscale.errors import ModelError
from moralscale.twostep.battles import Battles

Array = NDArray[np.float64]

#: Largest gradient at the maximum, log-likelihood per unit of log-odds.
TOLERANCE = 1e-7
_MOST_STEPS = 100
_LONGEST_STEP = 3.0  # log-odds: a full Newton step from afar can overshoot


def penalised_strengths(battles: Battles, penalty: float) -> tuple[Array, Array]:
    """Fit strengths and position bias to each judge's battles, all judges side by side.

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
    design, count, won = _aggregated(battles)
    shape = (battles.n_judges, battles.n_contestants + 1)
    across = csr_array(design.T)
    squared = across.multiply(across).tocsr()
    strength = np.zeros(shape)
    for _ in range(_MOST_STEPS):
        chance = expit(design @ strength.ravel())
        gradient = (across @ (won - count * chance)).reshape(shape) - penalty * strength
        if np.abs(gradient).max() < TOLERANCE:
            return strength[:, :-1], strength[:, -1]
        weight = count * chance * (1 - chance)

        def curvature(step: Array, weight: Array = weight) -> Array:
            spread: Array = across @ (weight * (design @ step.ravel()))
            return spread.reshape(shape) + penalty * step

        diagonal = (squared @ weight).reshape(shape) + penalty
        step = _conjugate_gradients(curvature, gradient, diagonal)
        longest = np.abs(step).max(axis=1, keepdims=True)
        strength += step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, 1e-300))
    raise ModelError(
        "the Bradley-Terry likelihood has no maximum within reach",
        where="twostep.penalty",
        mend="use a larger penalty",
    )


def _aggregated(battles: Battles) -> tuple[csr_array, Array, Array]:
    """Give each judge's ordered pairs, how often they met, and how often the first one won.

    The design is +1 for the first contestant, -1 for the second, +1 for the bias:
    (pair, judge x place).
    """
    n, width = battles.n_contestants, battles.n_contestants + 1
    pair = (battles.judge_idx * n + battles.first_idx) * n + battles.second_idx
    met, place, count = np.unique(pair, return_inverse=True, return_counts=True)
    won = np.bincount(place, weights=battles.first_won, minlength=len(met))
    judge, first, second = met // n**2, met // n % n, met % n
    row = judge * width
    places = np.stack([row + first, row + second, row + width - 1], axis=1)
    signs = np.tile([1.0, -1.0, 1.0], len(met))
    ends = np.arange(0, 3 * len(met) + 1, 3)
    design = csr_array((signs, places.ravel(), ends), shape=(len(met), battles.n_judges * width))
    return design, count.astype(float), won


def _conjugate_gradients(
    curvature: Callable[[Array], Array], gradient: Array, diagonal: Array
) -> Array:
    """Solve ``curvature(step) = gradient`` for every judge (row) at once."""
    step, residual = np.zeros_like(gradient), gradient.copy()
    direction = residual / diagonal
    power = (residual * direction).sum(axis=1, keepdims=True)
    enough = np.maximum(1e-6 * power, 1e-300)
    for _ in range(gradient.shape[1]):
        if (power <= enough).all():
            break
        bent = curvature(direction)
        size = power / np.maximum((direction * bent).sum(axis=1, keepdims=True), 1e-300)
        step += size * direction
        residual -= size * bent
        scaled = residual / diagonal
        before, power = power, (residual * scaled).sum(axis=1, keepdims=True)
        direction = scaled + power / np.maximum(before, 1e-300) * direction
    return step
