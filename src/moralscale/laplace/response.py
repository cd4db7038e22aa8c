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

from moralscale.laplace.mode import DAMPING, Place
from moralscale.laplace.problem import Problem
from moralscale.laplace.spreads import Spreads, followed, slope_over_spreads

Array = NDArray[np.float64]

#: How hard to pull, in sds of the quantity, and for how many steps to follow.
PULL, STEPS = 0.5, 4
#: Spreads whose residuals' variances the judgments leave open beyond this share stay where they are.
_TOLD = 0.9
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
    """Mean beta over judges and, of bridged data, mean alpha and the composites' consistency."""
    at = problem.layout
    names = ("beta", "alpha") if problem.bridged else ("beta",)
    out = np.zeros((at.size, len(names) + len(problem.ratios_at[:1])))
    for k, name in enumerate(names):
        out[at.every(name).ravel(), k] = 1 / at.n_judges
    if problem.bridged:
        out[problem.ratios_at[0], -1] = 1.0
    return out


def respond(place: Place, spreads: Spreads, moved: Array) -> Response:
    """Pull at each of `quantities`, and compare the covariance that follows with the curvature's.

    Parameters
    ----------
    place, spreads
        As `mode.find` returns them.
    moved : (size, spread)
        `spreads.followed` there.
    """
    pulled = quantities(place.at.problem)
    log_sd = spreads.covariance @ (moved.T @ pulled)
    x = place.at.arrow.solve(pulled) + moved @ log_sd
    assumed = pulled.T @ x
    answers = [
        _answer(place, spreads, pulled[:, k], x[:, k], log_sd[:, k]) for k in range(len(assumed))
    ]
    found = np.stack(answers, axis=1)
    answered = _believed(assumed, pulled.T @ found)
    turn = np.linalg.cholesky(answered) @ np.linalg.inv(np.linalg.cholesky(assumed))
    return Response(pulled, found @ np.linalg.solve(answered, turn) - x @ np.linalg.inv(assumed))


def _answer(place: Place, spreads: Spreads, pulled: Array, x: Array, log_sd: Array) -> Array:
    """Derivative of the parameters by the strength of one pull.

    Spreads give way as the curvature says, and those of which judgments tell something are followed
    further. What is left after the last step is taken to go on shrinking as it did.
    """
    start, variances = place.at, place.variances
    strength = PULL / np.sqrt(pulled @ x)
    here, there = start.moved(strength * x), start.log_sd + strength * log_sd
    told = np.flatnonzero(spreads.unseen < _TOLD)
    known = spreads.curvature[np.ix_(told, told)]
    taken = [here]
    for _ in range(STEPS):
        now = Place.of(start.problem, here, there, variances)
        variances = now.variances
        gradient = now.gradient - place.gradient - strength * pulled
        slope = slope_over_spreads(now.at, now.doubt) - slope_over_spreads(start, place.doubt)
        z_step = np.zeros(len(there))
        z_step[told] = DAMPING * np.linalg.solve(known, slope[told])
        step = -DAMPING * now.at.arrow.solve(gradient)[:, 0]
        here, there = now.at.moved(step + followed(now.at) @ z_step), there + z_step
        taken.append(here)
    last, before = taken[-1] - taken[-2], taken[-2] - taken[-3]
    shrunk = np.clip((pulled @ last) / (pulled @ before), 0.0, 0.7)
    return (here - start.x + last * shrunk / (1 - shrunk)) / strength


def _believed(assumed: Array, answered: Array) -> Array:
    """Symmetrise a covariance, and keep it within bounds of the one that was assumed."""
    root = np.linalg.cholesky(assumed)
    inverse = np.linalg.inv(root)
    relative = inverse @ (answered + answered.T) @ inverse.T / 2
    values, vectors = np.linalg.eigh(relative)
    kept = (vectors * np.clip(values, *_BELIEVED)) @ vectors.T
    return root @ kept @ root.T
