"""Curvature of a log density with one block of parameters a judge and others that all share.

Given what judges share they are independent, so that one pair of gradients gives a column of every
judge's block at once: some hundred gradients measure the curvature of thousands of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Step of the differences between gradients, in units of the parameters.
STEP = 1e-4
#: Smallest eigenvalue of a block, in units of the prior's curvature: data can be short of convex.
FLOOR = 0.05


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the parameters of a point stand.

    Attributes
    ----------
    size : int
        Length of a point.
    spreads : (spread,)
        Logarithms of spreads; curvature is measured at given spreads.
    shared : (shared,)
        All others that judges share.
    local : (judge, local)
        Those of one judge each.
    """

    size: int
    spreads: Index
    shared: Index
    local: Index


@dataclass(frozen=True, eq=False)
class Curvature:
    """Minus the second derivatives at given spreads.

    Attributes
    ----------
    local : (judge, local, local)
    across : (judge, local, shared)
    shared : (shared, shared)
    """

    layout: Layout
    local: Array
    across: Array
    shared: Array

    def solver(self) -> Solver:
        """Factor it."""
        inverse = np.stack([_inverse(block) for block in self.local])
        reach = np.einsum("jkl,jls->jks", inverse, self.across, optimize=True)
        left = self.shared - np.einsum("jls,jlt->st", self.across, reach, optimize=True)
        return Solver(self.layout, inverse, reach, _inverse(left))


@dataclass(frozen=True, eq=False)
class Solver:
    """Inverse of a curvature, block by block.

    Attributes
    ----------
    local : (judge, local, local)
        Covariance of each judge's parameters given what is shared.
    reach : (judge, local, shared)
        How far they follow what is shared, with the sign turned.
    shared : (shared, shared)
        Covariance of what is shared.
    """

    layout: Layout
    local: Array
    reach: Array
    shared: Array

    def variances(self) -> Array:
        """Diagonal of the inverse, 1 for spreads: (size,)."""
        at = self.layout
        out = np.ones(at.size)
        out[at.shared] = np.diag(self.shared)
        across = np.einsum("jls,st,jlt->jl", self.reach, self.shared, self.reach, optimize=True)
        out[at.local] = np.einsum("jll->jl", self.local) + across
        return out

    def __call__(self, rows: Array) -> Array:
        """Inverse times rows, (n, size); 0 for spreads."""
        at = self.layout
        own = rows[:, at.local]
        out = np.zeros_like(rows)
        left = rows[:, at.shared] - np.einsum("njl,jls->ns", own, self.reach, optimize=True)
        shared = left @ self.shared
        out[:, at.shared] = shared
        inner = np.einsum("njl,jkl->njk", own, self.local, optimize=True)
        out[:, at.local] = inner - np.einsum("ns,jls->njl", shared, self.reach, optimize=True)
        return out


def measure(
    gradient: Callable[[Array], Array], points: Sequence[Array], layout: Layout
) -> Curvature:
    """Measure the curvature by differences of gradients, on average over points.

    Parameters
    ----------
    gradient : callable
        Gradient of the log density at a point, (size,) to (size,); called from several threads.
    points : sequence of (size,)
        Draws of the posterior: at its mode spreads would look unlike anywhere else.
    layout : Layout
    """
    with ThreadPoolExecutor(len(points)) as threads:
        measured = list(threads.map(lambda x: _at(gradient, x, layout), points))
    local, across, shared = (sum(parts) / len(points) for parts in zip(*measured, strict=True))
    return Curvature(
        layout, (local + local.transpose(0, 2, 1)) / 2, across, (shared + shared.T) / 2
    )


def _at(gradient: Callable[[Array], Array], x: Array, at: Layout) -> tuple[Array, Array, Array]:
    n_judges, n_local = at.local.shape
    local = np.empty((n_judges, n_local, n_local))
    across = np.empty((n_judges, n_local, len(at.shared)))
    shared = np.empty((len(at.shared), len(at.shared)))

    def column(places: Index) -> Array:
        step = np.zeros(at.size)
        step[places] = STEP
        return (gradient(x - step) - gradient(x + step)) / (2 * STEP)

    for k in range(n_local):
        local[:, :, k] = column(at.local[:, k])[at.local]
    for k, place in enumerate(at.shared):
        change = column(np.array([place]))
        shared[:, k], across[:, :, k] = change[at.shared], change[at.local]
    return local, across, shared


def _inverse(block: Array) -> Array:
    """Inverse of a symmetric matrix whose smallest eigenvalues are lifted to `FLOOR`."""
    values, vectors = np.linalg.eigh(block)
    return (vectors / np.maximum(values, FLOOR)) @ vectors.T
