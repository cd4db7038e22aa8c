"""The line of the study, E_c = beta (E_s1 + E_s2) + alpha, with its classical errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moralscale.elo import ELO_MEAN, ELO_PER_LOGIT
from moralscale.estimands import Estimands
from moralscale.twostep.estimators import Strengths

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lines:
    """Least-squares lines over composites, one a judge: arrays of (..., judge).

    Attributes
    ----------
    slope, slope_se : ratio
        Slope and its ordinary least-squares standard error, which takes the ratings as known.
    intercept, intercept_se : Elo
        The study's alpha, for ratings with mean 1000.
    r_squared : share
        Squared correlation of composite ratings and component sums.
    """

    slope: Array
    slope_se: Array
    intercept: Array
    intercept_se: Array
    r_squared: Array


def lines(strengths: Strengths, estimands: Estimands) -> Lines:
    """Regress composite ratings on component sums, for each judge."""
    sums = estimands.component_sum(strengths.theta)
    slope, intercept, residual = estimands.line(sums, strengths.phi)
    n = sums.shape[-1]
    spread = n * sums.var(axis=-1)
    noise = (residual**2).sum(axis=-1) / (n - 2)
    # On ratings, a component sum is 2000 + 173.7 times the sum in log-odds.
    to_zero = 2 * ELO_MEAN / ELO_PER_LOGIT + sums.mean(axis=-1)
    return Lines(
        slope=slope,
        slope_se=np.sqrt(noise / spread),
        intercept=estimands.rated_intercept(slope, intercept),
        intercept_se=ELO_PER_LOGIT * np.sqrt(noise * (1 / n + to_zero**2 / spread)),
        r_squared=estimands.r_squared(strengths.phi, residual),
    )
