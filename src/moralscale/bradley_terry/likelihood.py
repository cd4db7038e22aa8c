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
#: A first guess at a strength is no further from the mean, in log-odds.
MOST = 5.0


@dataclass(frozen=True, eq=False)
class Forms:
    """Coefficients of a quadratic form in (eta, log nu), one of each a pair: (pair,)."""

    ee: Array
    et: Array | None
    tt: Array | None


@dataclass(frozen=True, eq=False)
class Point:
    """The log-likelihood at a point.

    Attributes
    ----------
    x : ndarray, (size,)
        The parameters.
    value : float
        Log-likelihood, without the constant of the counts.
    gradient : ndarray, (size,)
        Its gradient.
    information : Forms
        Observed, which here is expected, information.
    """

    x: Array
    value: float
    gradient: Array
    information: Forms


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
        self._total = counts.outcomes.sum(axis=0)
        self._margin = counts.outcomes[FIRST] - counts.outcomes[SECOND]

    def start(self) -> Array:
        """Strengths from shares of wins, no position bias, and the share of ties as it is."""
        x = np.zeros(self.size)
        margin, met = self._sums(self._margin)[0], self._sums(self._total)[1]
        strength = np.clip(2 * np.arctanh(margin / (met + 1)), -MOST, MOST)
        x[: self.n_strengths] = (strength - strength.mean()) * (1 - 1 / self.n_strengths)
        if self.tie is not None:
            first, second, tie = self.counts.outcomes.sum(axis=1)
            x[self.tie] = np.log(2 * tie / (first + second))
        return x

    def at(self, x: Array) -> Point:
        """Evaluate the log-likelihood and its derivatives at `x`."""
        eta, gap, both, tied, norm = self._model(x)
        total = self._total
        value = self._margin @ eta / 2 - total @ norm
        gradient = np.zeros(self.size)
        by_eta = (self._margin - total * gap) / 2
        gradient[: self.n_strengths] = self._sums(by_eta)[0]
        if self.position is not None:
            gradient[self.position] = by_eta.sum()
        if self.tie is None or tied is None:
            return Point(x, float(value), gradient, Forms(total * both, None, None))
        ties = self.counts.outcomes[TIE].sum()
        gradient[self.tie] = ties - total @ tied
        decided = 1 - tied
        forms = Forms(
            ee=total * (both + decided * tied / 4),
            et=-total * tied * gap / 2,
            tt=total * tied * decided,
        )
        return Point(x, float(value + ties * x[self.tie]), gradient, forms)

    def score_products(self, x: Array) -> Forms:
        """Sum over judgments of products of their scores at `x`: the meat of the sandwich."""
        _, gap, _, tied, _ = self._model(x)
        squares = self.counts.squares
        by_eta = np.array([[0.5], [-0.5], [0.0]]) - gap / 2
        ee = (squares * by_eta**2).sum(axis=0)
        if tied is None:
            return Forms(ee, None, None)
        by_tie = np.array([[0.0], [0.0], [1.0]]) - tied
        et, tt = squares * by_eta * by_tie, squares * by_tie**2
        return Forms(ee, et.sum(axis=0), tt.sum(axis=0))

    def sparse_matrix(self, forms: Forms) -> sparse.csr_array:
        """Assemble forms of the pairs into one of all parameters: (size, size)."""
        first, second, n = self.counts.first_idx, self.counts.second_idx, self.n_strengths
        off = sparse.coo_array((-forms.ee, (first, second)), shape=(n, n)).tocsr()
        diagonal, border, corner = self._rest(forms)
        strengths = off + off.T + sparse.diags_array(diagonal)
        if not border.shape[1]:
            return strengths.tocsr()
        side = sparse.csr_array(border)
        return sparse.block_array([[strengths, side], [side.T, corner]], format="csr")

    def dense_matrix(self, forms: Forms) -> Array:
        """Assemble the same as `sparse_matrix`, filled."""
        n = self.n_strengths
        matrix = np.zeros((self.size, self.size))
        matrix[self.counts.first_idx, self.counts.second_idx] = -forms.ee
        strengths = matrix[:n, :n]
        strengths += strengths.T.copy()
        strengths[np.diag_indices(n)], border, corner = self._rest(forms)
        matrix[:n, n:], matrix[n:, :n], matrix[n:, n:] = border, border.T, corner
        return matrix

    def _rest(self, forms: Forms) -> tuple[Array, Array, Array]:
        """Sum what is not of two strengths: their diagonal, the border, and the corner.

        The border is of strengths against position bias and ties: (contestant, 0 to 2).
        """
        difference, diagonal = self._sums(forms.ee)
        sides, totals = [], []
        if self.position is not None:
            sides.append(difference)
            totals.append(forms.ee.sum())
        if forms.et is not None:
            sides.append(self._sums(forms.et)[0])
            totals.append(forms.et.sum())
        corner = np.zeros((len(sides), len(sides)))
        if self.position is not None:
            corner[0] = corner[:, 0] = totals
        if forms.tt is not None:
            corner[-1, -1] = forms.tt.sum()
        return diagonal, np.array(sides).reshape(len(sides), self.n_strengths).T, corner

    def _sums(self, values: Array) -> tuple[Array, Array]:
        """Sum values of pairs where a contestant is first, less and plus where it is second."""
        n = self.n_strengths
        first = np.bincount(self.counts.first_idx, values, n)
        second = np.bincount(self.counts.second_idx, values, n)
        return first - second, first + second

    def _model(self, x: Array) -> tuple[Array, Array, Array, Array | None, Array]:
        """Per pair: eta, P(first) - P(second), P(first) P(second), P(tie), log of the norm."""
        strength = x[: self.n_strengths]
        eta = strength[self.counts.first_idx] - strength[self.counts.second_idx]
        if self.position is not None:
            eta += x[self.position]
        # In units of the likelier of the two wins, so that nothing overflows.
        size = np.abs(eta)
        other = np.exp(-size)
        if self.tie is None:
            tie, norm = None, 1 + other
        else:
            tie = np.exp(x[self.tie] - size / 2)
            norm = 1 + other + tie
        gap = np.copysign((1 - other) / norm, eta)
        tied = None if tie is None else tie / norm
        # The product, as 1 - gap**2 is nothing but rounding where one side nearly always wins.
        return eta, gap, other / norm**2, tied, np.log(norm) + size / 2
