"""Judgments as counts: what the likelihood needs to know of them, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from moralscale.records import Outcome

#: The outcomes that are counted, in the order of the rows of `Counts.outcomes`.
VERDICTS = (Outcome.FIRST, Outcome.SECOND, Outcome.TIE)
FIRST, SECOND, TIE = range(3)
#: Cells of a table of all ordered pairs, up to which it is filled rather than sorted for.
FILLED = 16_000_000


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each ordered pair of contestants met, and what came of it.

    Attributes
    ----------
    contestants : tuple of str
        Names, by place.
    first_idx, second_idx : ndarray of int64, (pair,)
        The ordered pairs that met, each once.
    outcomes : ndarray, (3, pair)
        Weighted counts of each of `VERDICTS`.
    squares : ndarray, (3, pair)
        Sums of squared weights, which sandwich errors need.
    """

    contestants: tuple[str, ...]
    first_idx: NDArray[np.int64]
    second_idx: NDArray[np.int64]
    outcomes: NDArray[np.float64]
    squares: NDArray[np.float64]

    @property
    def has_ties(self) -> bool:
        """Whether there is any tie."""
        return bool(self.outcomes[TIE].any())


def count(
    contestants: Sequence[str],
    first_idx: ArrayLike,
    second_idx: ArrayLike,
    outcome: ArrayLike,
    *,
    n: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Counts:
    """Count judgments by ordered pair.

    Parameters
    ----------
    contestants : sequence of str
        Names, by place.
    first_idx, second_idx : array of int, (row,)
        What was shown first and second, as places in `contestants`; never the same in a row.
    outcome : array of int, (row,)
        Places in `VERDICTS`: 0 first, 1 second, 2 tie.
    n : array, (row,), optional
        How often each judgment was made; once, unless given.
    weight : array, (row,), optional
        What one judgment of the row counts for; 1, unless given.
    """
    size = len(contestants)
    first = np.asarray(first_idx, dtype=np.int64)
    cell = first * size + np.asarray(second_idx, dtype=np.int64)
    if 3 * size * size <= FILLED:
        pairs, place = np.arange(size * size), cell
    else:
        pairs, place = np.unique(cell, return_inverse=True)
    place += len(pairs) * np.asarray(outcome, dtype=np.int64)
    times = None if n is None else np.asarray(n, dtype=float)
    each = None if weight is None else np.asarray(weight, dtype=float)
    often = times if each is None else each * (1 if times is None else times)
    outcomes = _sums(place, often, len(pairs))
    met = outcomes.any(axis=0)
    outcomes = squares = outcomes[:, met].astype(float)
    if each is not None and often is not None:
        squares = _sums(place, each * often, len(pairs))[:, met].astype(float)
    pairs = pairs[met]
    return Counts(tuple(contestants), pairs // size, pairs % size, outcomes, squares)


def _sums(
    place: NDArray[np.int64], weights: NDArray[np.float64] | None, n_pairs: int
) -> NDArray[Any]:
    return np.bincount(place, weights, minlength=3 * n_pairs).reshape(3, n_pairs)
