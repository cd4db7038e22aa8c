"""Curvature of the joint model: one dense block a judge, and a border of what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from moralscale.errors import ModelError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Covariance:
    """Inverse of an arrow matrix, but for the blocks between judges.

    Attributes
    ----------
    shared : (n_shared, n_shared)
    own : list of (n_local, n_local)
    across : list of (n_local, n_shared)
    """

    shared: Array
    own: list[Array]
    across: list[Array]


class Arrow:
    """A positive definite arrow matrix, factored.

    Given what judges share, they are independent: each judge's block is factored alone, and what is
    left is a matrix over the shared parameters. The first `n` parameters of either kind, strengths
    of scenes, are coupled one to one, which half the work follows from.

    Parameters
    ----------
    shared : (n_shared, n_shared)
        Overwritten.
    own : sequence of (n_local, n_local)
        Overwritten.
    scenes : sequence of float
        Coupling of each judge's first `n` parameters to the first `n` that are shared.
    coupling : sequence of (n_local, n_shared - n)
        Coupling to the others.

    Raises
    ------
    ModelError
        The matrix is not positive definite to working precision.
    """

    def __init__(
        self,
        shared: Array,
        own: Sequence[Array],
        scenes: Sequence[float],
        coupling: Sequence[Array],
    ) -> None:
        self._own: list[Array] = []  # Cholesky factors, lower
        self._apart: list[Array] = []  # their blocks' inverses: covariance given what is shared
        self._reach: list[Array] = []  # those times the coupling to what is shared
        self.n_shared, self.n_local = shared.shape[0], own[0].shape[0]
        n = self.n_shared - coupling[0].shape[1]
        try:
            for block, scene, couple in zip(own, scenes, coupling, strict=True):
                factor = cholesky(block, lower=True, check_finite=False, overwrite_a=True)
                apart = _inverse(factor)
                reach = np.hstack([scene * apart[:, :n], apart @ couple])
                shared[:n] -= scene * reach[:n]
                shared[n:, :n] -= scene * reach[:n, n:].T
                shared[n:, n:] -= couple.T @ reach[:, n:]
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
        """Inverse times columns: (size, m), or a single one."""
        right = right.reshape(len(right), -1)
        out = np.empty_like(right)
        border = right[: self.n_shared].copy()
        own = right[self.n_shared :].reshape(len(self._own), self.n_local, -1)
        for reach, mine in zip(self._reach, own, strict=True):
            border -= reach.T @ mine
        border = cho_solve((self._shared, True), border, check_finite=False)
        out[: self.n_shared] = border
        inner = out[self.n_shared :].reshape(own.shape)
        for j, (apart, reach) in enumerate(zip(self._apart, self._reach, strict=True)):
            inner[j] = apart @ own[j] - reach @ border
        return out

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Gaussian draws with this precision: (size, n)."""
        border = _standard(self._shared, rng, n)
        out = [border]
        for factor, reach in zip(self._own, self._reach, strict=True):
            out.append(_standard(factor, rng, n) - reach @ border)
        return np.concatenate(out)

    def covariance(self) -> Covariance:
        """Inverse over the shared parameters, of each judge's own, and between the two.

        What is shared adds little to a judge's own, and is reckoned in single precision.
        """
        shared = _inverse(self._shared)
        across, own = [], []
        for apart, reach in zip(self._apart, self._reach, strict=True):
            low = reach.astype(np.float32)
            to_shared = -(low @ shared.astype(np.float32))
            own.append(apart - to_shared @ low.T)
            across.append(to_shared.astype(np.float64))
        return Covariance(shared, own, across)


def _standard(factor: Array, rng: np.random.Generator, n: int) -> Array:
    noise = rng.standard_normal((len(factor), n))
    draws: Array = solve_triangular(factor, noise, lower=True, trans=1, check_finite=False)
    return draws


def _inverse(factor: Array) -> Array:
    """Inverse of a matrix from its lower Cholesky factor."""
    half, failed = dpotri(factor, lower=True)  # zero above the diagonal, as the factor is
    if failed:
        raise LinAlgError
    whole: Array = half + half.T
    diagonal = np.einsum("ii->i", whole)
    diagonal /= 2
    return whole
