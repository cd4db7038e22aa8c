"""Curvature of a log density with one block of parameters a judge and others that all share.

Given what judges share they are independent, so that one pair of gradients gives a column of every
judge's block at once: some hundred gradients measure the curvature of thousands of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from moralscale.errors import ModelError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Step of the differences between gradients, in units of the parameters.
STEP = 1e-4
#: Smallest eigenvalue of a block. The prior's curvature alone is 1 or more, but a density that is
#: not concave everywhere can fall short of it at a draw.
FLOOR = 0.2


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

    def scaled(self, scale: Array) -> Curvature:
        """Give the curvature over parameters that are `scale` times as wide: (size,)."""
        own, all_ = scale[self.layout.local], scale[self.layout.shared]
        return Curvature(
            self.layout,
            self.local * own[:, :, None] * own[:, None, :],
            self.across * own[:, :, None] * all_,
            self.shared * all_[:, None] * all_,
        )

    def turned(self, places: Index, turn: Array) -> Curvature:
        """Turn the shared parameters at some places: (n,), by a rotation (n, n)."""
        at = np.searchsorted(self.layout.shared, places)
        across, shared = self.across.copy(), self.shared.copy()
        across[:, :, at] = across[:, :, at] @ turn
        shared[:, at] = shared[:, at] @ turn
        shared[at] = turn.T @ shared[at]
        return replace(self, across=across, shared=shared)

    def without(self, left_out: NDArray[np.bool_]) -> Curvature:
        """Give the curvature without some parameters of every judge: (local,)."""
        kept = ~left_out
        layout = replace(self.layout, local=self.layout.local[:, kept])
        return Curvature(layout, self.local[:, kept][:, :, kept], self.across[:, kept], self.shared)

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


def average(curvatures: Sequence[Curvature]) -> Curvature:
    """Average over curvatures of one layout."""
    n = len(curvatures)
    return Curvature(
        curvatures[0].layout,
        sum((c.local for c in curvatures[1:]), curvatures[0].local) / n,
        sum((c.across for c in curvatures[1:]), curvatures[0].across) / n,
        sum((c.shared for c in curvatures[1:]), curvatures[0].shared) / n,
    )


def measure(
    gradient: Callable[[Array], Array], points: Sequence[Array], layout: Layout, *, threads: int
) -> list[Curvature]:
    """Measure the curvature at some points by differences of gradients.

    Parameters
    ----------
    gradient : callable
        Gradient of the log density at a point, (size,) to (size,).
    points : sequence of (size,)
        Draws of the posterior: at its mode spreads would look unlike anywhere else.
    layout : Layout
    threads : int
        Points at a time.

    Raises
    ------
    ModelError
        A gradient is not a number.
    """
    with ThreadPoolExecutor(min(threads, len(points))) as pool:
        return list(pool.map(lambda x: _at(gradient, x, layout), points))


def _at(gradient: Callable[[Array], Array], x: Array, at: Layout) -> Curvature:
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
    if not all(np.isfinite(part).all() for part in (local, across, shared)):
        raise ModelError(
            "the curvature of the posterior could not be measured at one of its draws",
            where="sampler.coordinates",
            mend="use `coordinates: plain`, with `tune: 1000`",
        )
    return Curvature(at, (local + local.transpose(0, 2, 1)) / 2, across, (shared + shared.T) / 2)


def _inverse(block: Array) -> Array:
    """Inverse of a symmetric matrix whose smallest eigenvalues are lifted to `FLOOR`."""
    values, vectors = np.linalg.eigh(block)
    return (vectors / np.maximum(values, FLOOR)) @ vectors.T
