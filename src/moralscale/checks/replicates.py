"""Replicated judgments: what draws of the posterior would have had the judges answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.likelihood import log_odds, outcome_probability
from moralscale.posterior import arrays_of, n_draws, options_of, take_draws

Array = NDArray[np.float64]
#: Draws at a time.
_BATCH = 25


@dataclass(frozen=True, eq=False)
class Replicate:
    """One draw, and judgments from it.

    Attributes
    ----------
    gap : (judgment,)
        Log-odds of the first against the second, position bias included.
    chance : (judgment, outcome)
        Chance of every outcome.
    outcome : (judgment,), int
        What comes of each comparison: place in `records.VERDICTS`.
    """

    gap: Array
    chance: Array
    outcome: NDArray[np.int64]

    @property
    def p(self) -> Array:
        """Chance that the first wins: (judgment,)."""
        return self.chance[:, 0]

    @property
    def won(self) -> Array:
        """Whether the first wins, 0 or 1: (judgment,)."""
        won: Array = (self.outcome == 0).astype(float)
        return won


def replicates(posterior: xr.DataTree, *, number: int, seed: int) -> Iterator[Replicate]:
    """Draw replicated judgments.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    number : int
        How many draws are taken, without replacement.
    seed : int
        Seed of the choice of draws and of the replicates.
    """
    rng = np.random.default_rng(seed)
    arrays, options = arrays_of(posterior), options_of(posterior)
    total = n_draws(posterior)
    chosen = rng.choice(total, min(number, total), replace=False)
    for start in range(0, len(chosen), _BATCH):
        draws = take_draws(posterior, chosen[start : start + _BATCH])
        gaps = log_odds(draws, arrays, options)
        chances = outcome_probability(draws, arrays, options)
        for gap, chance in zip(gaps, chances, strict=True):
            passed = rng.random(len(gap))[:, None] >= np.cumsum(chance[:, :-1], axis=1)
            yield Replicate(gap, chance, passed.sum(axis=1))
