"""How posterior means answer to a pull: variances beyond the curvature at the mean.

The covariance of a quantity with anything else is how fast the other's posterior mean moves when
the log density is tilted by the quantity (linear response; Giordano, Broderick and Jordan 2018).
The means of this approximation know of the uncertainty of strengths and follow the spreads, which
the curvature at the mean does not: for few judges it makes beta's interval a tenth too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moralscale.laplace.mode import Found, Place
from moralscale.laplace.problem import Problem

Array = NDArray[np.float64]

#: How hard to pull, in sds of the quantity, and for how many steps to follow.
PULL, STEPS = 0.5, 4
#: Variances that the response gives, over those of the curvature: beyond these it is not believed.
_BELIEVED = (0.7, 2.5)


@dataclass(frozen=True, eq=False)
class Response:
    """A correction of Gaussian draws along a few quantities.

    Attributes
    ----------
    quantities : (size, quantity)
        The quantities, as weights of the parameters.
    x : (size, quantity)
        What to add to a draw, by what its quantities are off their mean.
    """

    quantities: Array
    x: Array


def quantities(problem: Problem) -> Array:
    """Mean beta over judges and, of bridged data, the composites' log consistency."""
    at = problem.layout
    out = np.zeros((at.size, 1 + problem.bridged))
    out[at.every("beta").ravel(), 0] = 1 / at.n_judges
    if problem.bridged:
        out[problem.ratios_at[0], 1] = 1.0
    return out


def respond(found: Found, moved: Array) -> Response:
    """Pull at each of `quantities`, and compare the covariance that follows with the curvature's.

    Parameters
    ----------
    found : Found
    moved : (size, spread)
        `spreads.followed` there.
    """
    at = found.place.at
    pulled = quantities(at.problem)
    log_sd = found.spreads.covariance @ (moved.T @ pulled)
    x = at.arrow.solve(pulled) + moved @ log_sd
    assumed = pulled.T @ x
    columns = zip(pulled.T, x.T, log_sd.T, strict=True)
    answers = np.stack([_answer(found, *each) for each in columns], axis=1)
    answered = _believed(assumed, pulled.T @ answers)
    turn = np.linalg.cholesky(answered) @ np.linalg.inv(np.linalg.cholesky(assumed))
    return Response(pulled, x @ np.linalg.solve(assumed, turn - np.eye(len(turn))))


def _answer(found: Found, pulled: Array, x: Array, log_sd: Array) -> Array:
    """Take the derivative of the parameters by the strength of one pull.

    Spreads give way as the curvature says. What is left after the last step is taken to go on
    shrinking as it did.
    """
    place, start = found.place, found.place.at
    variances = place.variances
    strength = PULL / np.sqrt(pulled @ x)
    here, there = start.moved(strength * x), start.log_sd + strength * log_sd
    taken = [here]
    for _ in range(STEPS):
        now = Place.of(start.problem, here, there, variances)
        variances = now.variances
        gradient = now.gradient - place.gradient - strength * pulled
        here = now.at.moved(-found.damping * now.at.arrow.solve(gradient)[:, 0])
        taken.append(here)
    last, before = taken[-1] - taken[-2], taken[-2] - taken[-3]
    shrunk = np.clip((pulled @ last) / (pulled @ before), 0.0, 0.6)
    return (here - start.x + last * shrunk / (1 - shrunk)) / strength


def _believed(assumed: Array, answered: Array) -> Array:
    """Symmetrise a covariance, and keep it within bounds of the one that was assumed."""
    root = np.linalg.cholesky(assumed)
    inverse = np.linalg.inv(root)
    relative = inverse @ (answered + answered.T) @ inverse.T / 2
    values, vectors = np.linalg.eigh(relative)
    kept = (vectors * np.clip(values, *_BELIEVED)) @ vectors.T
    return root @ kept @ root.T
