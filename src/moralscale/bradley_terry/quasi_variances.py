"""Quasi-variances: one number a contestant, from which the error of any difference follows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from moralscale.errors import ModelError

Array = NDArray[np.float64]
#: Steps of Gauss and Newton; it takes a handful.
MOST_ITERATIONS = 100


def quasi_variances(covariance: Array) -> Array:
    """Find q with ``q[i] + q[j]`` close to the variance of the difference between i and j.

    Parameters
    ----------
    covariance : ndarray, (contestant, contestant)
        Of the strengths.

    Returns
    -------
    ndarray, (contestant,)
        Quasi-variances, in squared log-odds. A contestant's own may be negative, and all are NaN
        where there are fewer than three, of which one difference tells nothing apart.

    Raises
    ------
    ModelError
        The steps do not come to an end.

    Notes
    -----
    Minimises the sum over pairs of ``(log(q[i] + q[j]) - log variance)**2``: Firth, D. (2003),
    Sociological Methodology 33, 1-18; Firth and de Menezes (2004), Biometrika 91, 65-80.
    """
    n = len(covariance)
    if n < 3:
        return np.full(n, np.nan)
    diagonal = np.diag(covariance)
    variance = diagonal[:, None] + diagonal - 2 * covariance
    np.fill_diagonal(variance, 1.0)
    log_variance = np.log(variance)
    q = diagonal * n / (n - 1)
    for _ in range(MOST_ITERATIONS):
        step = _step(q, log_variance)
        while np.sort(q + step)[:2].sum() <= 0:
            step = step / 2
        q = q + step
        if np.abs(step).max() <= 1e-6 * np.abs(q).max():
            return q
    raise ModelError("quasi-variances were not found", mend="compare by the covariance")


def _step(q: Array, log_variance: Array) -> Array:
    """Gauss and Newton's step."""
    total = q[:, None] + q
    np.fill_diagonal(total, 1.0)
    residual = log_variance - np.log(total)
    slope = 1 / total
    np.fill_diagonal(slope, 0.0)
    normal = slope**2
    np.fill_diagonal(normal, normal.sum(axis=1))
    step: Array = solve(normal, (slope * residual).sum(axis=1), assume_a="pos")
    return step
