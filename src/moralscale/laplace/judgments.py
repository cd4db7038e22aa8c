"""One judge's judgments as functions of the judge's parameters: log-odds, slopes, curvature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from moralscale.arrays import Arrays
from moralscale.laplace.layout import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Gauss and Hermite's points of a standard normal variable, and their shares.
_NODES, _SHARES = (
    np.polynomial.hermite_e.hermegauss(5)[0],
    np.polynomial.hermite_e.hermegauss(5)[1] / np.sqrt(2 * np.pi),
)


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgments of one judge.

    Attributes
    ----------
    arena : (judgment,), int
        0 single, 1 composite, 2 bridge.
    first, second : (judgment,), int
        Places of the options among the judge's own parameters.
    won : (judgment,)
        1 where the first option was chosen.
    layout : Layout
    """

    arena: Index
    first: Index
    second: Index
    won: Array
    layout: Layout

    def observe(self, own: Array, ratios: Array | None) -> Observed:
        """Log-odds that the first option wins, and their slopes.

        Parameters
        ----------
        own : (n_local,)
            The judge's parameters.
        ratios : (2,) or None
            Log consistencies of the composite and bridge arenas; none where there is no bridge.
        """
        local, n = self.layout.local, len(self.first)
        gap = own[self.first] - own[self.second]
        bias = own[local["bias"][0]]
        if ratios is None:
            return Observed(self, gap + bias, np.ones(n), np.zeros((n, 0)))
        factor = np.exp(np.array([0.0, *ratios]))[self.arena]
        beta, mean = own[local["beta"][0]], own[local["t"]].mean()
        # +1 where the scene is shown first in a bridge comparison, -1 where second.
        crossing = self.arena == 2
        scene = np.where(crossing, np.where(self.first < self.second, 1.0, -1.0), 0.0)
        gap = gap - scene * (1 - 2 * beta) * mean
        lean = factor * scene
        told = np.where(self.arena[:, None] == np.array([1, 2]), (factor * gap)[:, None], 0.0)
        extra = np.column_stack([2 * mean * lean, -(1 - 2 * beta) * lean, told])
        return Observed(self, factor * gap + bias, factor, extra)


@dataclass(frozen=True, eq=False)
class Observed:
    """Log-odds of one judge's judgments, and how they change with parameters.

    Attributes
    ----------
    judged : Judged
    eta, factor : (judgment,)
        Log-odds, and their slope by the strength shown first (minus that by the second).
    extra : (judgment, 0 or 4)
        Further slopes of bridged data: by beta, by the mean strength of scenes, and by the two log
        consistencies.
    """

    judged: Judged
    eta: Array
    factor: Array
    extra: Array

    def chances(self, variance: Array) -> tuple[Array, Array]:
        """Give the expected chance that the first option wins, and its slope by the log-odds.

        Over normal log-odds of this mean and a variance, (judgment,) or 0, by quadrature.
        """
        chance = expit(self.eta[:, None] + np.sqrt(variance)[:, None] * _NODES)
        return chance @ _SHARES, (chance * (1 - chance)) @ _SHARES

    def pull(self, values: Array) -> Array:
        """Transposed Jacobian times values, but for `extra`: (n_local,)."""
        mine, scaled = self.judged, self.factor * values
        n = mine.layout.n_local
        out = np.bincount(mine.first, scaled, n) - np.bincount(mine.second, scaled, n)
        out[mine.layout.local["bias"][0]] += values.sum()
        return out

    def through(self) -> Array:
        """Express beta and the mean strength by the judge's own parameters: (n_local, 2)."""
        local = self.judged.layout.local
        out = np.zeros((self.judged.layout.n_local, 2))
        out[local["beta"][0], 0] = 1.0
        out[local["t"], 1] = 1 / len(local["t"])
        return out

    def slopes(self, chance: Array) -> tuple[Array, Array]:
        """Gradient of minus the log likelihood: by the judge's own parameters, and by ratios."""
        off = chance - self.judged.won
        own, also = self.pull(off), self.extra.T @ off
        if len(also):
            own += self.through() @ also[:2]
        return own, also[2:]

    def curvature(self, weight: Array) -> tuple[Array, Array, Array]:
        """Curvature with these weights: own by own, own by ratios, ratios by ratios."""
        mine = self.judged
        n, bias = mine.layout.n_local, mine.layout.local["bias"][0]
        scaled = weight * self.factor**2
        off = np.bincount(mine.first * n + mine.second, scaled, n * n).reshape(n, n)
        out = -off - off.T
        out[np.arange(n), np.arange(n)] += off.sum(axis=0) + off.sum(axis=1)
        by_bias = self.pull(weight)
        out[bias] += by_bias
        out[:, bias] += by_bias
        out[bias, bias] -= weight.sum()
        if not self.extra.shape[1]:
            return out, np.zeros((n, 0)), np.zeros((0, 0))
        weighted = self.extra * weight[:, None]
        across = np.stack([self.pull(column) for column in weighted.T], axis=1)
        among, through = self.extra.T @ weighted, self.through()
        turned = across[:, :2] @ through.T
        out += turned + turned.T + through @ among[:2, :2] @ through.T
        return out, across[:, 2:] + through @ among[:2, 2:], among[2:, 2:]


def judged(arrays: Arrays, layout: Layout, judge: int) -> Judged:
    """Take one judge's judgments out of the arrays of a fit."""
    mine = arrays.judge_idx == judge
    width = len(layout.local["t"]) + len(layout.local["p"])
    # Slots and local parameters share their order: scenes, then composites.
    first, second = (slot[mine] % width for slot in arrays.slots)
    won = arrays.first_won[mine].astype(float)
    return Judged(arrays.arena_idx[mine], first, second, won, layout)
