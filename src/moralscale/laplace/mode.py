"""The joint model's most likely spreads, and where everything else sits given them.

Spreads maximise their marginal density, from which the Gaussian integrates strengths out (Breslow
and Clayton 1993; Kristensen et al. 2016). Parameters sit where the *expected* gradient is zero, to
first order (`moralscale.laplace.skew`), and not at their joint mode: slopes multiply strengths that
are themselves uncertain, and the joint mode is off by several posterior sds in beta (measured:
docs/laplace.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moralscale.errors import ModelError
from moralscale.laplace.expansion import Expansion
from moralscale.laplace.problem import Problem
from moralscale.laplace.skew import skew
from moralscale.laplace.spreads import Spreads, followed, over_spreads

Array = NDArray[np.float64]

#: Most steps of the search, and the share of each that is taken at first.
MOST_STEPS, DAMPING = 60, 0.8
#: A step turns round where it takes back more than this share of the one before it.
TURNED = 0.4
#: Spreads stay where they are until parameters would gain less than this in log density.
SETTLED = 0.5
#: Predicted gains in log density, of parameters and of spreads, below which the search has arrived:
#: no combination of them is then further from its place than half a posterior sd, and beta, which
#: settles first, a few hundredths.
GAIN = (0.03, 0.15)
#: Longest step of a log spread.
LONGEST = 0.6


@dataclass(frozen=True, eq=False)
class Place:
    """A point of the search, with the expected gradient there.

    Attributes
    ----------
    at : Expansion
    gradient : (size,)
        Expected gradient of minus the log density, to first order.
    doubt : (spread,)
        Summed variances of residuals.
    variances : list of (judgment,)
        Variance of each judge's log-odds.
    """

    at: Expansion
    gradient: Array
    doubt: Array
    variances: list[Array]

    @classmethod
    def of(
        cls, problem: Problem, x: Array, log_sd: Array, variances: list[Array] | None = None
    ) -> Place:
        """Expand the density, and average its gradient.

        `variances` are those of a place nearby: averages over log-odds lag by one step.
        """
        at = Expansion(problem, x, log_sd, variances)
        moved, doubt, now = skew(at, at.arrow.covariance())
        return cls(at, at.gradient + moved, doubt, now)


@dataclass(frozen=True, eq=False)
class Found:
    """Where the search arrived.

    Attributes
    ----------
    place : Place
    spreads : Spreads
    damping : float
        Share of a step that is taken, so that steps shrink.
    """

    place: Place
    spreads: Spreads
    damping: float


def find(problem: Problem, *, seed: int) -> Found:
    """Find the spreads that the judgments make most likely, and everything else given them.

    Raises
    ------
    ModelError
        The search did not arrive.
    """
    log_sd = np.array([np.log(prior.typical) for prior in problem.spread_priors])
    x = _approach(problem, log_sd)
    damping, before, gain_before = DAMPING, np.zeros(len(x)), 1.0
    z_damping, most, z_before = np.ones(len(log_sd)), np.ones(len(log_sd)), np.zeros(len(log_sd))
    variances: list[Array] | None = None
    for _ in range(MOST_STEPS):
        place = Place.of(problem, x, log_sd, variances)
        at, variances = place.at, place.variances
        step = -at.arrow.solve(place.gradient)[:, 0]
        gain = float(-place.gradient @ step / 2)
        # Steps that turn round are too long: corrections lag by one step.
        if place.gradient @ before > 2 * TURNED * gain_before:
            damping = max(0.75 * damping, 0.3)
        before, gain_before = step, gain
        if gain > SETTLED:
            x = at.moved(damping * step)
            continue
        spreads = over_spreads(at, place.doubt, seed=seed)
        z_step = spreads.step
        if gain < GAIN[0] and spreads.slope @ z_step / 2 < GAIN[1]:
            return Found(place, spreads, damping)
        # A spread whose steps turn round is taken more slowly, and never again as fast.
        turned = z_step * z_before < 0
        most = np.where(turned, 0.7 * most, most)
        z_damping = np.where(turned, z_damping / 2, np.minimum(1.5 * z_damping, most))
        z_before = z_step
        z_step = z_damping * np.clip(z_step, -LONGEST, LONGEST)
        x = at.moved(damping * step + followed(at) @ z_step)
        log_sd = log_sd + z_step
    raise ModelError(
        f"the mode was not found in {MOST_STEPS} steps", mend="give more judgments, or sample"
    )


def _approach(problem: Problem, log_sd: Array) -> Array:
    """Come near by a few steps of Gauss and Newton that lower the objective."""
    x, weights = problem.start(), np.exp(-2 * log_sd)
    value = problem.objective(x, weights)
    for _ in range(3):
        at = Expansion(problem, x, log_sd)
        step = -at.arrow.solve(at.gradient)[:, 0]
        for size in 0.5 ** np.arange(20):
            there = at.moved(size * step)
            if (reached := problem.objective(there, weights)) < value:
                x, value = there, reached
                break
    return x
