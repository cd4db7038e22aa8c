"""Whether the fitted model would give judgments like the observed ones.

Each statistic compares counts of first-shown wins with what a draw expects, as a chi-squared
discrepancy over groups, for the observed and for replicated judgments of the same draw. The share
of draws whose replicate is at least as far off is the posterior predictive p-value (Gelman, Meng
and Stern 1996); a small one says that the model misses something about these groups.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.checks.replicates import Replicate, replicates
from moralscale.checks.result import CheckResult
from moralscale.checks.statistics import Statistics
from moralscale.config import Gates

Array = NDArray[np.float64]

#: Draws that are replicated.
REPLICATES = 200
#: Groups of the calibration by strength gap.
GAP_BINS = 10


def check_predictive(posterior: xr.DataTree, gates: Gates, *, seed: int) -> CheckResult:
    """Check win rates by gap, position, judge and configuration, and intransitive triples.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    gates : Gates
        Bound ``calibration``: the smallest p-value that passes.
    seed : int
        Seed of the choice of draws and of the replicates.
    """
    statistics = Statistics.of(posterior)
    won, cycles = statistics.won, statistics.triples(statistics.outcome)
    exceeds: Counter[str] = Counter()
    drawn = fewer = 0
    for replicate in replicates(posterior, number=REPLICATES, seed=seed):
        drawn += 1
        for name, group in _groups(statistics, replicate).items():
            far = (_discrepancy(y, replicate.p, group) for y in (replicate.won, won))
            exceeds[name] += next(far) >= next(far)
        far = (_by_configuration(y, replicate.p, statistics) for y in (replicate.won, won))
        exceeds["win rate by configuration"] += bool(next(far) >= next(far))
        if replicate.chance.shape[1] > 2:
            exceeds["ties by judge and strength gap"] += _ties(statistics, replicate)
        found = statistics.triples(replicate.outcome).sum()
        exceeds["intransitive triples"] += bool(found >= cycles.sum())
        fewer += bool(found <= cycles.sum())
    rows = []
    for name, count in exceeds.items():
        p_value = count / drawn
        if name == "intransitive triples":  # too many and too few are both misfits
            # Counts are often equal, and then neither: 1 - p would take them for too few.
            p_value = min(1.0, 2 * min(p_value, fewer / drawn))
        text = f"posterior predictive p of {name} is {p_value:.3g} (bound >= {gates.calibration:g})"
        rows.append((name, p_value, gates.calibration, p_value >= gates.calibration, text))
    return CheckResult.of("predictive", rows)


def _groups(statistics: Statistics, replicate: Replicate) -> dict[str, NDArray[np.int64]]:
    """Group of every judgment (judgment,), by the name of the grouping.

    Gaps are those of the draw at hand: the gaps of the posterior mean have seen the observed
    judgments, but not the replicated ones.
    """
    judge, arena = statistics.judge, statistics.arena
    edges = np.quantile(replicate.gap, np.linspace(0, 1, GAP_BINS + 1)[1:-1])
    gap = np.searchsorted(edges, replicate.gap)
    return {
        "win rate by strength gap": arena * GAP_BINS + gap,
        "win rate by position": arena,
        "win rate by judge and arena": judge * (arena.max() + 1) + arena,
        "win rate by judge and strength gap": judge * GAP_BINS + gap,
    }


def _ties(statistics: Statistics, replicate: Replicate) -> bool:
    """Say whether ties of the replicate are as far from their expectation as the observed ones."""
    size = np.abs(replicate.gap)
    edges = np.quantile(size, np.linspace(0, 1, GAP_BINS + 1)[1:-1])
    group = statistics.judge * GAP_BINS + np.searchsorted(edges, size)
    far = (
        _discrepancy((outcome == 2).astype(float), replicate.chance[:, 2], group)
        for outcome in (replicate.outcome, statistics.outcome)
    )
    return next(far) >= next(far)


def _discrepancy(won: Array, p: Array, group: NDArray[np.int64]) -> float:
    """Chi-squared distance of wins from their expectation, over groups."""
    excess = np.bincount(group, won - p)
    variance = np.bincount(group, p * (1 - p))
    filled = variance > 0
    return float((excess[filled] ** 2 / variance[filled]).sum())


def _by_configuration(won: Array, p: Array, statistics: Statistics) -> float:
    """Chi-squared distance of the wins of each configuration, in the composite arena.

    A judgment counts for the configuration shown first, and the other way round for the second;
    two of the same configuration cancel.
    """
    rows = statistics.composite_rows
    excess = (won - p)[rows] @ statistics.side
    variance = (p * (1 - p))[rows] @ statistics.side**2
    filled = variance > 0
    return float((excess[filled] ** 2 / variance[filled]).sum())
