"""Curvature of the joint model: one dense block a judge, and a border of what they share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from moralscale.errors import ModelError
from moralscale.laplace.problem import Problem

Array = NDArray[np.float64]


class Arrow:
    """A positive definite arrow matrix, factored.

    Given what judges share, they are independent: each judge's block is factored alone, and what is
    left is a matrix over the shared parameters.

    Parameters
    ----------
    problem : Problem
    prior : sparse array, (size, size)
        Curvature of the prior.
    likelihood : list of sparse arrays
        As `Problem.likelihood` gives it.

    Raises
    ------
    ModelError
        The matrix is not positive definite to working precision.
    """

    def __init__(
        self, problem: Problem, prior: sparse.csr_array, likelihood: list[sparse.csr_array]
    ) -> None:
        self.layout = at = problem.layout
        shared = prior[: at.n_shared, : at.n_shared].toarray()
        self._own: list[Array] = []  # Cholesky factors, lower
        self._apart: list[Array] = []  # their blocks' inverses: covariance given what is shared
        self._reach: list[Array] = []  # those times the coupling to what is shared
        try:
            for judge, curvature in enumerate(likelihood):
                start = at.n_shared + judge * at.n_local
                own = slice(start, start + at.n_local)
                rows = prior[own]
                seen = _spread_mean(curvature.toarray(), at.n_local, at.local["t"])
                block = rows[:, own].toarray() + seen[: at.n_local, : at.n_local]
                also = problem.columns(judge)[at.n_local :]
                shared[np.ix_(also, also)] += seen[at.n_local :, at.n_local :]
                coupling = _coupling(rows[:, : at.n_shared], seen[: at.n_local, at.n_local :], also)
                factor = cholesky(block, lower=True, check_finite=False)
                apart = _inverse(factor)
                # The coupling is sparse, so that its products cost next to nothing.
                reach = (coupling.T @ apart).T
                shared -= coupling.T @ reach
                self._own.append(factor)
                self._apart.append(apart)
                self._reach.append(reach)
            self._shared = cholesky(shared, lower=True, check_finite=False)
        except LinAlgError:
            raise ModelError(
                "the curvature at the mode is not positive definite",
                mend="sample instead, or use priors that bound the spreads",
            ) from None

    def solve(self, right: Array) -> Array:
        """Inverse times columns: (size, m)."""
        at = self.layout
        out = np.empty_like(right)
        border = right[: at.n_shared].copy()
        own = right[at.n_shared :].reshape(at.n_judges, at.n_local, -1)
        for reach, mine in zip(self._reach, own, strict=True):
            border -= reach.T @ mine
        border = cho_solve((self._shared, True), border, check_finite=False)
        out[: at.n_shared] = border
        inner = out[at.n_shared :].reshape(own.shape)
        for j, (apart, reach) in enumerate(zip(self._apart, self._reach, strict=True)):
            inner[j] = apart @ own[j] - reach @ border
        return out

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Gaussian draws with this precision: (size, n)."""
        at = self.layout
        noise = rng.standard_normal((at.size, n))
        border = solve_triangular(self._shared, noise[: at.n_shared], lower=True, trans=1)
        out = [border]
        own = noise[at.n_shared :].reshape(at.n_judges, at.n_local, n)
        for factor, reach, mine in zip(self._own, self._reach, own, strict=True):
            out.append(solve_triangular(factor, mine, lower=True, trans=1) - reach @ border)
        return np.concatenate(out)

    def inverse(self) -> tuple[Array, list[Array], list[Array]]:
        """Inverse over the shared parameters, of each judge's own, and between the two."""
        border = _inverse(self._shared)
        own, across = [], []
        for apart, reach in zip(self._apart, self._reach, strict=True):
            to_shared = -reach @ border
            own.append(apart - to_shared @ reach.T)
            across.append(to_shared)
        return border, own, across

    def log_determinant(self) -> float:
        """Logarithm of the determinant."""
        factors = [*self._own, self._shared]
        return float(2 * sum(np.log(np.diagonal(factor)).sum() for factor in factors))


def _inverse(factor: Array) -> Array:
    """Inverse of a matrix from its lower Cholesky factor."""
    half, failed = dpotri(factor, lower=True)
    if failed:
        raise LinAlgError
    return np.tril(half) + np.tril(half, -1).T


def _coupling(prior: sparse.csr_array, seen: Array, also: NDArray[np.int64]) -> sparse.csr_array:
    """Coupling of a judge's own parameters to those shared, of which judgments see only `also`."""
    rows, columns = np.nonzero(seen)
    shape = prior.shape
    return prior + sparse.csr_array((seen[rows, columns], (rows, also[columns])), shape=shape)


def _spread_mean(curvature: Array, n_local: int, strengths: NDArray[np.int64]) -> Array:
    """Give the last row and column, those of the mean strength, to the strengths it is made of."""
    mean, kept = curvature[-1], curvature[:-1, :-1].copy()
    share = 1 / len(strengths)
    kept[strengths, :] += share * mean[:-1]
    kept[:, strengths] += share * mean[:-1, None]
    kept[np.ix_(strengths, strengths)] += share**2 * mean[-1]
    return kept
