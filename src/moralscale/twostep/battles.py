"""An arena's decided judgments, judge by judge: resampled, split, and put side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Battles:
    """Battles of one arena, sorted by judge.

    Judges are rated apart from each other. So resamples, or simulated data sets, can stand side by
    side as more judges, and every estimator takes hundreds of them at once.

    Attributes
    ----------
    first_idx, second_idx : (battle,), int
        Contestants: scenes in the single arena, composites in the composite arena.
    first_won : (battle,), bool
        Whether the contestant shown first was chosen.
    judge_idx : (battle,), int
        Judge, ascending.
    source : (battle,), int
        Which battle of the data each one is; a resample holds some more than once.
    n_judges, n_contestants : int
    """

    first_idx: Index
    second_idx: Index
    first_won: NDArray[np.bool_]
    judge_idx: Index
    source: Index
    n_judges: int
    n_contestants: int

    @property
    def count(self) -> Index:
        """How many battles each judge has: (judge,)."""
        return np.bincount(self.judge_idx, minlength=self.n_judges)

    def met(self) -> Index:
        """How many battles each contestant has: (judge, contestant)."""
        shape = (self.n_judges, self.n_contestants)
        row = self.judge_idx * self.n_contestants
        sides = np.concatenate([row + self.first_idx, row + self.second_idx])
        return np.bincount(sides, minlength=shape[0] * shape[1]).reshape(shape)

    def take(self, kept: Index) -> Battles:
        """Battles at the positions `kept`, for each judge in the order given."""
        columns = ("first_idx", "second_idx", "first_won", "judge_idx", "source")
        taken = {name: getattr(self, name)[kept] for name in columns}
        order = np.argsort(taken["judge_idx"], kind="stable")
        return replace(self, **{name: column[order] for name, column in taken.items()})

    def halves(self, rng: np.random.Generator) -> tuple[Battles, Battles]:
        """Split every judge's battles at random into two halves.

        All copies of a resampled battle go into the same half. Otherwise the halves would share
        noise, and agree better than two halves of new data would.
        """
        size = self.source.max(initial=0) + 1
        different, where = np.unique(self.judge_idx * size + self.source, return_inverse=True)
        order = np.lexsort((rng.random(len(different)), different // size))
        side = np.empty(len(different), dtype=np.int64)
        side[order] = np.arange(len(different)) % 2
        one, other = (self.take(np.flatnonzero(side[where] == half)) for half in (0, 1))
        return one, other

    def resampled(self, rng: np.random.Generator, rounds: int) -> tuple[Battles, int]:
        """Draw every judge's battles anew, with replacement, `rounds` times.

        A contestant that has battles and is drawn in none of them gets one of its own back, at
        random, on top: a round without it would rate it at the mean.

        Returns
        -------
        Battles
            ``rounds * n_judges`` judges, those of the first round first.
        int
            How many contestants, over all judges and rounds, got a battle back.
        """
        count = self.count
        start = np.repeat(np.cumsum(count) - count, count)
        share = rng.random((rounds, len(self.judge_idx)))
        drawn = start + (share * count[self.judge_idx]).astype(np.int64)
        returned = [self._a_battle_of(rng, *self._lost(row)) for row in drawn]
        parts = [self.take(np.append(row, back)) for row, back in zip(drawn, returned, strict=True)]
        return side_by_side(parts), sum(map(len, returned))

    def _lost(self, drawn: Index) -> tuple[Index, Index]:
        """Judges and contestants that have battles, but none among those drawn."""
        judge, contestant = np.nonzero((self.met() > 0) & (self.take(drawn).met() == 0))
        return judge, contestant

    def _a_battle_of(self, rng: np.random.Generator, judge: Index, contestant: Index) -> Index:
        """Position of a random battle of each contestant."""
        found = []
        for j, c in zip(judge, contestant, strict=True):
            takes_part = (self.first_idx == c) | (self.second_idx == c)
            found.append(rng.choice(np.flatnonzero((self.judge_idx == j) & takes_part)))
        return np.array(found, dtype=np.int64)


def side_by_side(parts: Sequence[Battles]) -> Battles:
    """Stack battles of the same contestants as so many more judges, those of the first first."""
    before = np.cumsum([0, *(part.n_judges for part in parts)])
    judge_idx = [part.judge_idx + n for part, n in zip(parts, before[:-1], strict=True)]
    return Battles(
        first_idx=np.concatenate([part.first_idx for part in parts]),
        second_idx=np.concatenate([part.second_idx for part in parts]),
        first_won=np.concatenate([part.first_won for part in parts]),
        judge_idx=np.concatenate(judge_idx),
        source=np.concatenate([part.source for part in parts]),
        n_judges=int(before[-1]),
        n_contestants=parts[0].n_contestants,
    )


def make_battles(
    first_idx: Index,
    second_idx: Index,
    first_won: NDArray[np.bool_],
    judge_idx: Index,
    *,
    n_judges: int,
    n_contestants: int,
) -> Battles:
    """Sort battles by judge; those of one judge stay in their order.

    Parameters
    ----------
    first_idx, second_idx, first_won, judge_idx : (battle,)
    n_judges, n_contestants : int
        As in `Battles`.
    """
    source = np.arange(len(judge_idx))
    battles = Battles(
        first_idx, second_idx, first_won, judge_idx, source, n_judges, n_contestants
    ).take(source)
    return replace(battles, source=source)
