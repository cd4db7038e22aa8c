"""Newton's method on a concave log-likelihood that does not know the level of the strengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from moralscale.bradley_terry.covariance import DENSE, levelled
from moralscale.bradley_terry.likelihood import Likelihood
from moralscale.errors import ModelError, UnboundedError

Array = NDArray[np.float64]
#: A step below this, in log-odds, is the last.
SMALL = 1e-10
#: A step of this many log-odds is not taken at once: far out the likelihood is flat.
LARGE = 4.0
#: Strengths that go beyond this many log-odds go on for ever.
ENDLESS = 40.0
MOST_ITERATIONS = 200


def maximise(likelihood: Likelihood) -> tuple[Array, int]:
    """Find the maximum.

    Returns
    -------
    x : ndarray, (size,)
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
    x, value = likelihood.start(), likelihood.value(likelihood.start())
    for iteration in range(1, MOST_ITERATIONS + 1):
        step = _step(likelihood, x)
        size = float(np.abs(step).max())
        step *= min(1.0, LARGE / max(size, LARGE))
        x, value = _ascend(likelihood, x, value, step)
        if np.abs(x).max() > ENDLESS:
            raise _endless(likelihood, x)
        if size < SMALL:
            return x, iteration
    raise ModelError(
        f"maximum likelihood did not converge in {MOST_ITERATIONS} Newton steps",
        mend="use --method bayes",
    )


def _step(likelihood: Likelihood, x: Array) -> Array:
    """Newton's step: dense by Cholesky, or sparse by preconditioned conjugate gradients."""
    matrix = likelihood.matrix(likelihood.information(x))
    gradient = likelihood.gradient(x)
    if likelihood.size <= DENSE:
        try:
            return cho_solve(cho_factor(levelled(matrix, likelihood), lower=True), gradient)
        except np.linalg.LinAlgError:
            raise _endless(likelihood, x) from None
    return _conjugate_gradients(matrix, gradient, likelihood.level())


def _conjugate_gradients(matrix: sparse.csr_array, gradient: Array, level: Array) -> Array:
    """Solve with the diagonal as preconditioner, off the level, which the matrix does not know."""
    diagonal = matrix.diagonal()
    weight = diagonal.mean()

    def times(v: Array) -> Array:
        return matrix @ v + weight * level * (level @ v)

    shape = matrix.shape
    operator = LinearOperator(shape, matvec=times, dtype=np.float64)
    jacobi = LinearOperator(shape, matvec=lambda v: v / diagonal, dtype=np.float64)
    step, failed = cg(operator, gradient, rtol=1e-10, atol=1e-14, maxiter=20_000, M=jacobi)
    if failed:
        raise ModelError(
            "the comparison graph is too thin for maximum likelihood at this size",
            mend="add comparisons between distant contestants, or use --method bayes",
        )
    return step


def _ascend(
    likelihood: Likelihood, x: Array, value: float, step: Array
) -> tuple[Array, float]:
    """Take the step, or the first half, quarter, ... of it that does not go down."""
    # Near the maximum the gain drowns in rounding.
    slack = 1e-12 * max(1.0, abs(value))
    for _ in range(40):
        there = likelihood.value(x + step)
        if there >= value - slack:
            return x + step, there
        step = step / 2
    return x, value


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
