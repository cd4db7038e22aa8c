"""Whether the fitted model would give judgments like the observed ones.

Each statistic compares counts of first-shown wins with what a draw expects, as a chi-squared
discrepancy over groups, for the observed and for replicated judgments of the same draw. The share
of draws whose replicate is at least as far off is the posterior predictive p-value (Gelman, Meng
and Stern 1996); a small one says that the model misses something about these groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.checks.result import CheckResult
from moralscale.config import Gates

Array = NDArray[np.float64]

#: Draws that are replicated.
REPLICATES = 200
#: Groups of the calibration by strength gap.
GAP_BINS = 10


def check_predictive(posterior: xr.DataTree, gates: Gates, *, seed: int) -> CheckResult:
    """Check win rates by strength gap, judge and arena, and the number of intransitive triples.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    gates : Gates
        Bound ``calibration``: the smallest p-value that passes.
    seed : int
        Seed of the choice of draws and of the replicates.
    """
    observed = posterior["observed_data"].to_dataset()
    draws = posterior["posterior"].to_dataset().stack(sample=("chain", "draw"))
    rng = np.random.default_rng(seed)
    chosen = rng.choice(
        draws.sizes["sample"], min(REPLICATES, draws.sizes["sample"]), replace=False
    )
    won = observed["first_won"].values.astype(float)
    triples = _TripleCounter(observed, draws.sizes["scene"], draws.sizes["composite"])
    exceeds: Counter[str] = Counter()
    for sample in chosen:
        eta = _eta(draws.isel(sample=sample), observed)
        p = 1 / (1 + np.exp(-eta))
        replicate = (rng.random(len(p)) < p).astype(float)
        for name, group in _groups(observed, eta).items():
            exceeds[name] += _discrepancy(replicate, p, group) >= _discrepancy(won, p, group)
        exceeds["intransitive triples"] += triples.count(replicate) >= triples.count(won)
    rows = []
    for name, count in exceeds.items():
        p_value = count / len(chosen)
        if name == "intransitive triples":  # too many and too few are both misfits
            p_value = min(1.0, 2 * min(p_value, 1 - p_value))
        text = f"posterior predictive p of {name} is {p_value:.3g} (bound >= {gates.calibration:g})"
        rows.append((name, p_value, gates.calibration, p_value >= gates.calibration, text))
    return CheckResult.of("predictive", rows)


def strength_table(draw: xr.Dataset) -> Array:
    """Strengths as each arena shows them, of one draw: (judge, slot), as in `arrays.Arrays`."""
    theta = draw["theta"].transpose("judge", "scene").values.astype(float)
    phi = draw["phi"].transpose("judge", "composite").values.astype(float)
    if "bridge_consistency" not in draw:
        return np.concatenate([theta, phi], axis=1)
    composite, bridge = float(draw["composite_consistency"]), float(draw["bridge_consistency"])
    return np.concatenate([theta, composite * phi, bridge * theta, bridge * phi], axis=1)


def _eta(draw: xr.Dataset, observed: xr.Dataset) -> Array:
    """Log-odds that the contestant shown first wins: (judgment,)."""
    table = strength_table(draw).ravel()
    bias = draw["position_bias_judge"].values.astype(float)
    gap = table[observed["first_idx"].values] - table[observed["second_idx"].values]
    return gap + bias[observed["judge_idx"].values]


def _groups(observed: xr.Dataset, eta: Array) -> dict[str, NDArray[np.int64]]:
    """Group of every judgment (judgment,), by the name of the grouping.

    Gaps are those of the draw at hand: the gaps of the posterior mean have seen the observed
    judgments, but not the replicated ones.
    """
    judge = observed["judge_idx"].values.astype(np.int64)
    arena = observed["arena_idx"].values.astype(np.int64)
    edges = np.quantile(eta, np.linspace(0, 1, GAP_BINS + 1)[1:-1])
    gap = np.searchsorted(edges, eta)
    return {
        "win rate by strength gap": arena * GAP_BINS + gap,
        "win rate by judge and arena": judge * (arena.max() + 1) + arena,
        "win rate by judge and strength gap": judge * GAP_BINS + gap,
    }


def _discrepancy(won: Array, p: Array, group: NDArray[np.int64]) -> float:
    """Chi-squared distance of wins from their expectation, over groups."""
    excess = np.bincount(group, won - p)
    variance = np.bincount(group, p * (1 - p))
    filled = variance > 0
    return float((excess[filled] ** 2 / variance[filled]).sum())


class _TripleCounter:
    """Counts cyclic triples (a over b over c over a) of each judge in each unmixed arena."""

    def __init__(self, observed: xr.Dataset, n_scenes: int, n_composites: int) -> None:
        self._blocks = list(_blocks(observed, n_scenes, n_composites))

    def count(self, won: Array) -> float:
        """Count the cyclic triples when `won` (judgment,) says who won."""
        total = 0.0
        for rows, first, second, size in self._blocks:
            beats = np.zeros((size, size), dtype=np.float32)
            winner = np.where(won[rows] > 0, first, second)
            loser = np.where(won[rows] > 0, second, first)
            beats[winner, loser] = 1.0
            total += float(((beats @ beats) * beats.T).sum()) / 3
        return total


def _blocks(
    observed: xr.Dataset, n_scenes: int, n_composites: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]]:
    """Judgments of each judge in each of the two unmixed arenas: rows, contestants, how many."""
    judge, arena = observed["judge_idx"].values, observed["arena_idx"].values
    once = n_scenes + n_composites
    n_slots = once if arena.max() < 2 else 2 * once
    for j in np.unique(judge):
        for a, offset, size in ((0, 0, n_scenes), (1, n_scenes, n_composites)):
            rows = np.flatnonzero((judge == j) & (arena == a))
            start = j * n_slots + offset
            yield (
                rows,
                observed["first_idx"].values[rows].astype(np.int64) - start,
                observed["second_idx"].values[rows].astype(np.int64) - start,
                size,
            )
