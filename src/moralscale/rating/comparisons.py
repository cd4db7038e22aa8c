"""Paired comparisons of anybody's making, as index arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moralscale.bradley_terry import Counts, count


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Judgments, one a row.

    Attributes
    ----------
    contestants : tuple of str
        Names in alphabetical order.
    first_idx, second_idx : ndarray of int64, (row,)
        Contestants, as places in `contestants`.
    outcome : ndarray of int8, (row,)
        Places in `bradley_terry.VERDICTS`: 0 first, 1 second, 2 tie.
    n : ndarray of int64, (row,), or None
        How often each judgment was made; None where each was made once.
    weight : ndarray, (row,), or None
        What one judgment of the row counts for; None where there are no weights.
    judges : tuple of str
        Names in alphabetical order; empty where there are none.
    judge_idx : ndarray of int64, (row,), or None
        Judges, as places in `judges`.
    ignored : dict
        Judgments left out, by the outcome they had.
    source : str
        Where they come from, for errors.
    """

    contestants: tuple[str, ...]
    first_idx: NDArray[np.int64]
    second_idx: NDArray[np.int64]
    outcome: NDArray[np.int8]
    n: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None
    judges: tuple[str, ...] = ()
    judge_idx: NDArray[np.int64] | None = None
    ignored: dict[str, int] = field(default_factory=dict)
    source: str = ""

    def counts(self) -> Counts:
        """Count by ordered pair, over all judges."""
        return count(
            self.contestants,
            self.first_idx,
            self.second_idx,
            self.outcome,
            n=self.n,
            weight=self.weight,
        )

    def taken_part(self) -> NDArray[np.int64]:
        """Judgments that each contestant took part in: (contestant,)."""
        size = len(self.contestants)
        sums = [np.bincount(i, self.n, size) for i in (self.first_idx, self.second_idx)]
        return (sums[0] + sums[1]).astype(np.int64)

    def by_outcome(self) -> NDArray[np.int64]:
        """Judgments with each of `VERDICTS`: (3,)."""
        return np.bincount(self.outcome, self.n, 3).astype(np.int64)

    def only(self, rows: Any) -> Comparisons:
        """Keep some rows, and only the contestants and judges that are in them."""
        if rows.all():
            rows = slice(None)

        def kept(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[rows]

        ends = np.concatenate([self.first_idx[rows], self.second_idx[rows]])
        contestants, ends = _renumbered(self.contestants, ends)
        judges, judge_idx = self.judges, kept(self.judge_idx)
        if judge_idx is not None:
            judges, judge_idx = _renumbered(judges, judge_idx)
        half = len(ends) // 2
        return replace(
            self,
            contestants=contestants,
            first_idx=ends[:half],
            second_idx=ends[half:],
            outcome=self.outcome[rows],
            n=kept(self.n),
            weight=kept(self.weight),
            judges=judges,
            judge_idx=judge_idx,
        )


def _renumbered(
    names: tuple[str, ...], places: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Drop names that no place is of."""
    there = np.bincount(places, minlength=len(names)) > 0
    if there.all():
        return names, places
    return tuple(np.array(names, dtype=object)[there]), (np.cumsum(there) - 1)[places]
