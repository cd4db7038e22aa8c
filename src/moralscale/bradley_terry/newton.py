"""Newton's method on a concave log-likelihood that does not know the level of the strengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from moralscale.bradley_terry.covariance import DENSE, levelled
from moralscale.bradley_terry.likelihood import Likelihood, Point
from moralscale.errors import ModelError, UnboundedError

Array = NDArray[np.float64]
#: A step below this, in log-odds, is the last: the next would be about its square.
SMALL = 1e-6
#: A step of this many log-odds is not taken at once: far out the likelihood is flat.
LARGE = 4.0
#: Strengths that go beyond this many log-odds go on for ever.
ENDLESS = 40.0
MOST_ITERATIONS = 200


def maximise(likelihood: Likelihood) -> tuple[Point, int]:
    """Find the maximum.

    Returns
    -------
    point : Point
        Strengths that sum to zero, then the other parameters.
    iterations : int
        How many steps it took.

    Raises
    ------
    UnboundedError
        Estimates run to infinity.
    ModelError
        Steps do not come to an end.
    """
    point = likelihood.at(likelihood.start())
    for iteration in range(1, MOST_ITERATIONS + 1):
        step = _step(likelihood, point)
        size = float(np.abs(step).max())
        point = _ascend(likelihood, point, step * min(1.0, LARGE / max(size, LARGE)))
        if np.abs(point.x).max() > ENDLESS:
            raise _endless(likelihood, point.x)
        if size < SMALL:
            return point, iteration
    raise ModelError(
        f"maximum likelihood did not converge in {MOST_ITERATIONS} Newton steps",
        mend="use --method bayes",
    )


def _step(likelihood: Likelihood, point: Point) -> Array:
    """Newton's step: dense by Cholesky, or sparse by preconditioned conjugate gradients."""
    if likelihood.size > DENSE:
        matrix = likelihood.sparse_matrix(point.information)
        return _conjugate_gradients(matrix, point.gradient, likelihood.n_strengths)
    try:
        matrix = levelled(likelihood, point)
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise _endless(likelihood, point.x) from None
    step: Array = cho_solve(factor, point.gradient)
    return step


def _conjugate_gradients(matrix: sparse.csr_array, gradient: Array, n: int) -> Array:
    """Solve with the diagonal as preconditioner, off the level, which the matrix does not know."""
    diagonal = matrix.diagonal()
    weight = diagonal.mean() / n

    def times(v: Array) -> Array:
        product: Array = matrix @ v
        product[:n] += weight * v[:n].sum()
        return product

    shape = matrix.shape
    operator = LinearOperator(shape, matvec=times, dtype=np.float64)
    jacobi = LinearOperator(shape, matvec=lambda v: v / diagonal, dtype=np.float64)
    step: Array
    step, failed = cg(operator, gradient, rtol=1e-10, atol=1e-14, maxiter=20_000, M=jacobi)
    if failed:
        raise ModelError(
            "the comparison graph is too thin for maximum likelihood at this size",
            mend="add comparisons between distant contestants, or use --method bayes",
        )
    return step


def _ascend(likelihood: Likelihood, point: Point, step: Array) -> Point:
    """Take the step, or the first half, quarter, ... of it that does not go down."""
    # Near the maximum the gain drowns in rounding.
    slack = 1e-12 * max(1.0, abs(point.value))
    for _ in range(40):
        there = likelihood.at(point.x + step)
        if there.value >= point.value - slack:
            return there
        step = step / 2
    return point


def _endless(likelihood: Likelihood, x: Array) -> UnboundedError:
    names = likelihood.counts.contestants
    if np.abs(x[likelihood.n_strengths :]).max(initial=0) > np.abs(x[: len(names)]).max():
        whose = "the position bias" if np.argmax(np.abs(x)) == likelihood.position else "the ties"
    else:
        whose = f"contestant '{names[int(np.abs(x[: len(names)]).argmax())]}'"
    return UnboundedError(
        f"the estimate of {whose} has no finite value: the data are separated",
        mend="add comparisons, or use --method bayes",
    )
