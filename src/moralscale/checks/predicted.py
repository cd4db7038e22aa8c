"""Observed judgments beside what the posterior predicts of them: the table behind a figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from moralscale.checks.predictive import GAP_BINS, REPLICATES
from moralscale.checks.replicates import Replicate, replicates
from moralscale.checks.statistics import Statistics

Array = NDArray[np.float64]
ARENA_NAMES = ("single", "composite", "bridge")


def predictive_table(posterior: xr.DataTree, *, seed: int, ci_prob: float = 0.94) -> pd.DataFrame:
    """Set observed statistics of the judgments beside their posterior predictive intervals.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    seed : int
        Seed of the choice of draws and of the replicates.
    ci_prob : float, optional
        Probability inside the (equal-tailed) predictive intervals.

    Returns
    -------
    DataFrame
        One row a statistic and group: statistic (``win rate by strength gap``, ``by position``,
        ``by judge``, ``intransitive triples``, ``elo by configuration``), arena, group, x (mean
        predicted log-odds of the group, for the strength gap only), n (judgments), observed, mean,
        low, high. Win rates are of the contestant shown first.
    """
    statistics = Statistics.of(posterior)
    drawn = list(replicates(posterior, number=REPLICATES, seed=seed))
    answers = [statistics.outcome, *(replicate.outcome for replicate in drawn)]
    outcomes = np.stack([(answer == 0).astype(float) for answer in answers])
    judges = [str(name) for name in posterior["posterior"].to_dataset()["judge"].values]
    arena = statistics.arena
    arenas = ARENA_NAMES[: int(arena.max()) + 1]
    tables = []
    for a, name in enumerate(arenas):
        rows = np.flatnonzero(arena == a)
        whole = np.zeros(len(rows), dtype=np.int64)
        tables.append(_by_gap(name, statistics.won[rows], drawn, rows))
        tables.append(_rates("win rate by position", name, outcomes[:, rows], whole, [""]))
    tables.append(_rates("win rate by judge", "", outcomes, statistics.judge, judges))
    counted = np.stack([statistics.triples(answer) for answer in answers])
    for a in range(2):
        asked = [int((arena == a).sum())]
        tables.append(_frame("intransitive triples", arenas[a], [""], asked, counted[:, [a]]))
    ratings = np.stack([statistics.config_rating(answer) for answer in answers])
    n = np.abs(statistics.side).sum(axis=0).astype(int)
    configs = list(statistics.configs)
    tables.append(_frame("elo by configuration", "composite", configs, n, ratings))
    return _with_intervals(pd.concat(tables, ignore_index=True), ci_prob)


def _by_gap(
    arena: str, won: Array, drawn: list[Replicate], rows: NDArray[np.int64]
) -> pd.DataFrame:
    """Win rates by decile of the gap under each draw; what was observed is the mean over draws.

    Gaps of the posterior mean would not do: they have seen the observed judgments, and not the
    replicated ones.
    """
    found = []
    for replicate in drawn:
        gap = replicate.gap[rows]
        decile = np.searchsorted(np.quantile(gap, np.linspace(0, 1, GAP_BINS + 1)[1:-1]), gap)
        series = (won, replicate.won[rows], gap)
        found.append([_mean(value, decile, GAP_BINS) for value in series])
    observed, replicated, gaps = np.moveaxis(np.array(found), 1, 0)
    labels = [str(number + 1) for number in range(GAP_BINS)]
    values = np.vstack([observed.mean(axis=0), replicated])
    table = _frame("win rate by strength gap", arena, labels, len(rows) // GAP_BINS, values)
    return table.assign(x=gaps.mean(axis=0))


def _rates(
    statistic: str, arena: str, outcomes: Array, group: NDArray[np.int64], labels: list[str]
) -> pd.DataFrame:
    rates = np.stack([_mean(won, group, len(labels)) for won in outcomes])
    return _frame(statistic, arena, labels, np.bincount(group, minlength=len(labels)), rates)


def _mean(values: Array, group: NDArray[np.int64], n: int) -> Array:
    """Mean by group (group,), not a number where a group is empty."""
    count = np.bincount(group, minlength=n)
    total = np.bincount(group, values, minlength=n)
    mean: Array = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    return mean


def _frame(statistic: str, arena: str, labels: list[str], n: object, values: Array) -> pd.DataFrame:
    """Rows of one statistic: `values` is (1 + replicate, group), the observed ones first."""
    return pd.DataFrame(
        {
            "statistic": statistic,
            "arena": arena,
            "group": labels,
            "x": np.nan,
            "n": n,
            "observed": values[0],
            "replicated": list(values[1:].T),
        }
    )


def _with_intervals(table: pd.DataFrame, ci_prob: float) -> pd.DataFrame:
    replicated = np.stack(table.pop("replicated").to_list())
    tail = (1 - ci_prob) / 2
    low, high = np.quantile(replicated, [tail, 1 - tail], axis=1)
    return table.assign(mean=replicated.mean(axis=1), low=low, high=high)
