"""Maximum likelihood by Newton's method, and the errors of what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from moralscale.bradley_terry.connectivity import check_estimable
from moralscale.bradley_terry.counts import Counts
from moralscale.bradley_terry.covariance import DENSE, covariance, variances
from moralscale.bradley_terry.likelihood import Likelihood
from moralscale.bradley_terry.newton import maximise

Array = NDArray[np.float64]


class Errors(StrEnum):
    """Where standard errors come from: the model's curvature, or the scores' spread too."""

    HESSIAN = "hessian"
    SANDWICH = "sandwich"


@dataclass(frozen=True, eq=False)
class Estimate:
    """What maximum likelihood found.

    Attributes
    ----------
    strength, strength_se : ndarray, (contestant,)
        Strengths in log-odds, which sum to zero, and their standard errors (of the difference
        from the mean of all contestants).
    covariance : ndarray, (contestant, contestant), or None
        Of the strengths; None for more than `DENSE` contestants.
    position_bias, position_bias_se : float or None
        In log-odds, toward what is shown first; None where it was left out.
    tie, tie_se : float or None
        Davidson's nu (the odds of a tie against either win, between equals) on the log scale;
        None where the data hold no ties.
    log_likelihood : float
        At the maximum.
    iterations : int
        Of Newton's method.
    """

    strength: Array
    strength_se: Array
    covariance: Array | None
    position_bias: float | None
    position_bias_se: float | None
    tie: float | None
    tie_se: float | None
    log_likelihood: float
    iterations: int


def maximum_likelihood(
    counts: Counts, *, position_bias: bool = True, errors: Errors = Errors.HESSIAN
) -> Estimate:
    """Fit the Bradley-Terry model, with Davidson's ties where there are any.

    Parameters
    ----------
    counts : Counts
        As `count` makes them.
    position_bias : bool, optional
        Whether `first` may have an advantage of its own.
    errors : Errors, optional
        ``hessian``: inverse information, right where the model is. ``sandwich``: with the spread
        of the judgments' own scores, which allows for weights and for a wrong variance.

    Raises
    ------
    UnboundedError
        No maximum, or no single one: contestants are not connected, or separated.

    Notes
    -----
    Davidson, R. R. (1970), Journal of the American Statistical Association 65, 317-328. Standard
    errors are those of strengths that sum to zero (the pseudo-inverse of the information); compare
    two contestants by `covariance`, or by quasi-variances.
    """
    check_estimable(counts, position_bias=position_bias)
    likelihood = Likelihood(counts, position_bias=position_bias)
    point, iterations = maximise(likelihood)
    x = point.x
    n, whole = likelihood.n_strengths, None
    robust = errors is Errors.SANDWICH
    if likelihood.size <= DENSE:
        whole = covariance(likelihood, point, robust=robust)
        se = np.sqrt(np.diag(whole))
    else:
        se = np.sqrt(variances(likelihood, point, robust=robust))

    def at(values: Array, place: int | None) -> float | None:
        return None if place is None else float(values[place])

    return Estimate(
        strength=x[:n] - x[:n].mean(),
        strength_se=se[:n],
        covariance=None if whole is None else whole[:n, :n],
        position_bias=at(x, likelihood.position),
        position_bias_se=at(se, likelihood.position),
        tie=at(x, likelihood.tie),
        tie_se=at(se, likelihood.tie),
        log_likelihood=point.value,
        iterations=iterations,
    )
