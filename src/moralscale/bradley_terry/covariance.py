"""Covariances of maximum likelihood estimates, of strengths that sum to zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from moralscale.bradley_terry.likelihood import Likelihood, Point
from moralscale.errors import UnboundedError

Array = NDArray[np.float64]
#: Parameters up to which matrices are kept whole; beyond, only diagonals leave this module.
DENSE = 2_500
#: Parameters up to which matrices are inverted at all: 1 GB of single precision.
INVERTED = 16_000
#: Columns of a large inverse that are taken at a time.
BLOCK = 256


def levelled(likelihood: Likelihood, point: Point) -> Array:
    """Fill the information and give the level of the strengths a weight: it has an inverse."""
    n, matrix = likelihood.n_strengths, likelihood.dense_matrix(point.information)
    matrix[:n, :n] += _weight(np.diag(matrix)) / n
    return matrix


def covariance(likelihood: Likelihood, point: Point, *, robust: bool) -> Array:
    """Covariance of all parameters at the maximum: (size, size)."""
    matrix, n = levelled(likelihood, point), likelihood.n_strengths
    inverse = _inverse(matrix)
    inverse[:n, :n] -= 1 / (_weight(np.diag(likelihood.dense_matrix(point.information))) * n)
    if not robust:
        return inverse
    meat = likelihood.dense_matrix(likelihood.score_products(point.x))
    sandwich: Array = inverse @ meat @ inverse
    return sandwich


def variances(likelihood: Likelihood, point: Point, *, robust: bool) -> Array:
    """Diagonal of `covariance`, in the memory of one matrix of single precision: (size,).

    The information is scaled to a diagonal of ones before it is factored, which keeps the error
    of single precision small: below 1e-4 of a standard error unless the graph is very thin. Beyond
    `INVERTED` parameters there is no room for it, and variances are NaN.
    """
    if likelihood.size > INVERTED:
        return np.full(likelihood.size, np.nan)
    matrix = likelihood.sparse_matrix(point.information)
    scale: Array = matrix.diagonal() ** -0.5
    whole = _scaled(matrix, scale, likelihood)
    n, level = likelihood.n_strengths, 1 / (_weight(matrix.diagonal()) * likelihood.n_strengths)
    if not robust:
        diagonal = _inverse_diagonal(whole) * scale**2
        diagonal[:n] -= level
        return diagonal
    inverse = _inverse(whole)
    meat = likelihood.sparse_matrix(likelihood.score_products(point.x))
    meat = (meat * scale[:, None] * scale).astype(np.float32).tocsr()
    # The meat does not know the level either, so that the level needs no correction here.
    blocks = (inverse[:, i : i + BLOCK] for i in range(0, len(inverse), BLOCK))
    parts = [(block * (meat @ block)).sum(axis=0, dtype=float) for block in blocks]
    return np.concatenate(parts) * scale**2


def _weight(diagonal: Array) -> float:
    """Weight of the level: of the size of the rest, for a well-conditioned factor."""
    return float(diagonal.mean())


def _scaled(matrix: sparse.csr_array, scale: Array, likelihood: Likelihood) -> NDArray[np.float32]:
    """Fill the matrix with its level, scaled on both sides, in single precision."""
    whole = np.zeros(matrix.shape, dtype=np.float32, order="F")
    entries = matrix.tocoo()
    whole[entries.row, entries.col] = entries.data * scale[entries.row] * scale[entries.col]
    n, weight = likelihood.n_strengths, _weight(matrix.diagonal())
    single = scale[:n].astype(np.float32)
    for column in range(n):
        whole[:n, column] += single * np.float32(scale[column] * weight / n)
    return whole


def _factor(matrix: NDArray[Any]) -> NDArray[Any]:
    """Lower Cholesky factor, in place."""
    (factor,) = lapack.get_lapack_funcs(("potrf",), (matrix,))
    whole: NDArray[Any]
    whole, fault = factor(matrix, lower=1, clean=0, overwrite_a=1)
    if fault:
        raise UnboundedError("the data do not tell all parameters apart", mend="use --method bayes")
    return whole


def _inverse_diagonal(matrix: NDArray[Any]) -> Array:
    """Diagonal of the inverse, in place: column sums of squares of the inverse factor."""
    (invert,) = lapack.get_lapack_funcs(("trtri",), (matrix,))
    factor, _ = invert(_factor(matrix), lower=1, overwrite_c=1)
    return np.array([float(factor[i:, i] @ factor[i:, i]) for i in range(len(factor))])


def _inverse(matrix: NDArray[Any]) -> NDArray[Any]:
    """Inverse, in place."""
    (invert,) = lapack.get_lapack_funcs(("potri",), (matrix,))
    whole: NDArray[Any]
    whole, _ = invert(_factor(matrix), lower=1, overwrite_c=1)
    for start in range(0, len(whole), BLOCK):
        stop = start + BLOCK
        corner = whole[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        whole[start:stop, stop:] = whole[stop:, start:stop].T
    return whole
