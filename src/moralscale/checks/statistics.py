"""What is counted in judgments, observed or replicated, by the predictive checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.elo import ELO_PER_LOGIT
from moralscale.posterior import arrays_of

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class _Block(NamedTuple):
    """Judgments of one judge in one unmixed arena."""

    arena: int
    rows: Index
    first: Index
    second: Index
    size: int


@dataclass(frozen=True, eq=False)
class Statistics:
    """Judgments of a fit, ready to be counted.

    Attributes
    ----------
    outcome : (judgment,), int
        What was judged: place in `records.VERDICTS`.
    judge, arena : (judgment,), int
        Places of judge and arena.
    composite_rows : (n,), int
        Judgments of the composite arena.
    side : (n, config), -1, 0 or 1
        Whether the configuration was shown first (1) or second (-1) there.
    configs : tuple of str
        The configurations.
    """

    outcome: Index
    judge: Index
    arena: Index
    composite_rows: Index
    side: Array
    configs: tuple[str, ...]
    blocks: tuple[_Block, ...]

    @classmethod
    def of(cls, posterior: xr.DataTree) -> Statistics:
        """Read the judgments of a posterior (`fit.fit`)."""
        arrays = arrays_of(posterior)
        arena, judge, estimands = arrays.arena_idx, arrays.judge_idx, arrays.estimands
        n_scenes, n_composites = len(arrays.coords["scene"]), len(arrays.coords["composite"])
        slot = arrays.slots
        rows = np.flatnonzero(arena == 1)
        first, second = (estimands.config[place[rows] - n_scenes] for place in slot)
        spans = {0: (0, n_scenes), 1: (n_scenes, n_composites)}
        return cls(
            outcome=arrays.outcome.astype(np.int64),
            judge=judge,
            arena=arena,
            composite_rows=rows,
            side=first - second,
            configs=estimands.config_names,
            blocks=tuple(_blocks(judge, arena, slot[0], slot[1], spans)),
        )

    @property
    def won(self) -> Array:
        """Whether the contestant shown first was chosen, 0 or 1: (judgment,)."""
        won: Array = (self.outcome == 0).astype(float)
        return won

    def triples(self, outcome: Index) -> Array:
        """Count cyclic triples (a over b over c over a) by arena: (2,), single and composite.

        Ties are neither over nor under.
        """
        total = np.zeros(2)
        for block in self.blocks:
            beats = np.zeros((block.size, block.size), dtype=np.float32)
            here = outcome[block.rows]
            beats[block.first[here == 0], block.second[here == 0]] = 1.0
            beats[block.second[here == 1], block.first[here == 1]] = 1.0
            total[block.arena] += float(((beats @ beats) * beats.T).sum()) / 3
        return total

    def config_rating(self, outcome: Index) -> Array:
        """Rate each configuration by its wins in the composite arena: (config,), Elo.

        It is 1000 plus the log-odds, in Elo, of a win against composites of other configurations,
        with half a win and half a loss added so that it is finite. Ties count for neither.
        """
        here, side = outcome[self.composite_rows][:, None], self.side
        wins = (((side > 0) & (here == 0)) | ((side < 0) & (here == 1))).sum(axis=0)
        losses = (((side > 0) & (here == 1)) | ((side < 0) & (here == 0))).sum(axis=0)
        rating: Array = 1000 + ELO_PER_LOGIT * np.log((wins + 0.5) / (losses + 0.5))
        return rating


def _blocks(
    judge: Index, arena: Index, first: Index, second: Index, spans: dict[int, tuple[int, int]]
) -> Iterator[_Block]:
    """Judgments of each judge in each of the two unmixed arenas."""
    for j in np.unique(judge):
        for a, (offset, size) in spans.items():
            rows = np.flatnonzero((judge == j) & (arena == a))
            yield _Block(a, rows, first[rows] - offset, second[rows] - offset, size)
