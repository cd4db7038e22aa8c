"""The likelihood of counts, with what Newton's method and the standard errors need of it.

With ``eta = strength[first] - strength[second] + position_bias``, Davidson (1970)::

    P(first) : P(tie) : P(second) = exp(eta / 2) : nu : exp(-eta / 2)

Without ties ``nu`` is 0 and this is the model of Bradley and Terry. The log-likelihood is concave
in (strength, position_bias, log nu), the order of every vector here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from moralscale.bradley_terry.counts import FIRST, SECOND, TIE, Counts

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Forms:
    """Coefficients of a quadratic form in (eta, log nu), one of each a pair: (pair,)."""

    ee: Array
    et: Array
    tt: Array


class Likelihood:
    """The log-likelihood of counts.

    Parameters
    ----------
    counts : Counts
        The data. The tie parameter is there where it holds ties.
    position_bias : bool
        Whether there is a position bias.
    """

    def __init__(self, counts: Counts, *, position_bias: bool) -> None:
        self.counts = counts
        self.n_strengths = len(counts.contestants)
        self.position = self.n_strengths if position_bias else None
        self.tie = self.n_strengths + position_bias if counts.has_ties else None
        self.size = self.n_strengths + position_bias + counts.has_ties

    def start(self) -> Array:
        """Equal strengths, no position bias, and the share of ties as it is."""
        x = np.zeros(self.size)
        if self.tie is not None:
            first, second, tie = self.counts.outcomes.sum(axis=0)
            x[self.tie] = np.log(2 * tie / (first + second))
        return x

    def value(self, x: Array) -> float:
        """Log-likelihood at `x`, without the constant of the counts."""
        half, tie, norm = self._exponents(x)
        y = self.counts.outcomes
        total = (y[:, FIRST] - y[:, SECOND]) @ half - y.sum(axis=1) @ norm
        return float(total + y[:, TIE].sum() * tie if self.tie is not None else total)

    def gradient(self, x: Array) -> Array:
        """Gradient at `x`: (size,)."""
        y, p = self.counts.outcomes, self.probabilities(x)
        excess = y - y.sum(axis=1, keepdims=True) * p
        by_eta = (excess[:, FIRST] - excess[:, SECOND]) / 2
        gradient = np.zeros(self.size)
        n = self.n_strengths
        gradient[:n] = np.bincount(self.counts.first_idx, by_eta, n)
        gradient[:n] -= np.bincount(self.counts.second_idx, by_eta, n)
        if self.position is not None:
            gradient[self.position] = by_eta.sum()
        if self.tie is not None:
            gradient[self.tie] = excess[:, TIE].sum()
        return gradient

    def information(self, x: Array) -> Forms:
        """Observed, which here is expected, information at `x`."""
        p = self.probabilities(x)
        n = self.counts.outcomes.sum(axis=1)
        gap = p[:, FIRST] - p[:, SECOND]
        return Forms(
            ee=n * (p[:, FIRST] + p[:, SECOND] - gap**2) / 4,
            et=-n * p[:, TIE] * gap / 2,
            tt=n * p[:, TIE] * (1 - p[:, TIE]),
        )

    def score_products(self, x: Array) -> Forms:
        """Sum over judgments of products of their scores at `x`: the meat of the sandwich."""
        p, squares = self.probabilities(x), self.counts.squares
        by_eta = np.array([0.5, -0.5, 0.0]) - (p[:, [FIRST]] - p[:, [SECOND]]) / 2
        by_tie = np.array([0.0, 0.0, 1.0]) - p[:, [TIE]]
        return Forms(
            ee=(squares * by_eta**2).sum(axis=1),
            et=(squares * by_eta * by_tie).sum(axis=1),
            tt=(squares * by_tie**2).sum(axis=1),
        )

    def probabilities(self, x: Array) -> Array:
        """Probability of each outcome of each pair: (pair, 3)."""
        half, tie, norm = self._exponents(x)
        p = np.empty_like(self.counts.outcomes)
        p[:, FIRST], p[:, SECOND] = np.exp(half - norm), np.exp(-half - norm)
        p[:, TIE] = np.exp(tie - norm) if self.tie is not None else 0.0
        return p

    def matrix(self, forms: Forms) -> sparse.csr_array:
        """Assemble quadratic forms of the pairs into one of all parameters: (size, size)."""
        first, second = self.counts.first_idx, self.counts.second_idx
        rows, columns = [first, second, first, second], [first, second, second, first]
        values = [forms.ee, forms.ee, -forms.ee, -forms.ee]

        def border(place: int, form: Array) -> None:
            for at, sign in ((first, 1.0), (second, -1.0)):
                there = np.full_like(at, place)
                rows.extend([at, there])
                columns.extend([there, at])
                values.extend([sign * form, sign * form])

        def corner(a: int, b: int, form: Array) -> None:
            for row, column in {(a, b), (b, a)}:
                rows.append(np.array([row]))
                columns.append(np.array([column]))
                values.append(np.array([form.sum()]))

        if self.position is not None:
            border(self.position, forms.ee)
            corner(self.position, self.position, forms.ee)
        if self.tie is not None:
            border(self.tie, forms.et)
            corner(self.tie, self.tie, forms.tt)
        if self.position is not None and self.tie is not None:
            corner(self.position, self.tie, forms.et)
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return sparse.coo_array(entries, shape=(self.size, self.size)).tocsr()

    def level(self) -> Array:
        """Direction in which the likelihood does not change, of length 1: (size,)."""
        direction = np.zeros(self.size)
        direction[: self.n_strengths] = self.n_strengths**-0.5
        return direction

    def _exponents(self, x: Array) -> tuple[Array, float, Array]:
        strength = x[: self.n_strengths]
        eta = strength[self.counts.first_idx] - strength[self.counts.second_idx]
        if self.position is not None:
            eta += x[self.position]
        half = eta / 2
        norm = np.logaddexp(half, -half)
        if self.tie is None:
            return half, -np.inf, norm
        return half, float(x[self.tie]), np.logaddexp(norm, x[self.tie])
