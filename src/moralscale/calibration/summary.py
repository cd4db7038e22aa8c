"""Replicates into numbers: coverage of intervals, and whether ranks are uniform."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from arviz_stats.ecdf_utils import ecdf_pit
from scipy.stats import binomtest, chisquare

from moralscale.calibration.replicate import RANKED_DRAWS

#: Cells of the chi-squared test: ranks 0 to 99 in ten equal cells.
CELLS = 10
#: Coverage of a 94% interval that counts as right.
COVERAGE = (0.88, 0.98)


def read_replicates(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Stack the replicates of several jobs."""
    parts = [pd.read_csv(path, keep_default_na=False, na_values=["nan"]) for path in paths]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(index=table["index"].astype(str), passed=table["passed"].astype(bool))


def coverage_table(replicates: pd.DataFrame) -> pd.DataFrame:
    """Count how often intervals hold the truth.

    Parameters
    ----------
    replicates : DataFrame
        Of recovery. Fits that failed a gate are counted and left out.

    Returns
    -------
    DataFrame
        One row a quantity and index, and for quantities with an index one over all (index
        ``all``): quantity, index, fits, failed, coverage, low, high (exact 94% interval of the
        coverage; not for ``all``, whose cases share data sets), bias and rmse (of the posterior
        mean), sd (posterior, mean over fits), z_sd (sd of (mean - truth) / sd: 1 where errors are
        what the posterior says), passed (coverage within `COVERAGE`; of one index among several,
        whose cases are fewer, whether its interval reaches into it).
    """
    failed = replicates.loc[~replicates["passed"], "replicate"].nunique()
    kept = replicates[replicates["passed"]]
    rows = []
    for (quantity, index), here in _with_all(kept):
        covered = (here["hdi_low"] <= here["truth"]) & (here["truth"] <= here["hdi_high"])
        error = here["mean"] - here["truth"]
        share = float(covered.mean())
        interval = binomtest(int(covered.sum()), len(covered)).proportion_ci(0.94)
        low, high = (np.nan, np.nan) if index == "all" else interval
        rows.append(
            {
                "quantity": quantity,
                "index": index,
                "fits": here["replicate"].nunique(),
                "failed": failed,
                "coverage": share,
                "low": low,
                "high": high,
                "bias": float(error.mean()),
                "rmse": float(np.sqrt((error**2).mean())),
                "sd": float(here["sd"].mean()),
                "z_sd": float((error / here["sd"]).std()),
                "passed": _passed(str(index), share, interval),
            }
        )
    return pd.DataFrame(rows)


def _passed(index: str, share: float, interval: tuple[float, float]) -> bool:
    """Hold a coverage against `COVERAGE`; one index among several by its interval."""
    low, high = (share, share) if index in ("", "all") else interval
    return bool(low <= COVERAGE[1] and high >= COVERAGE[0])


def rank_table(replicates: pd.DataFrame) -> pd.DataFrame:
    """Test whether the ranks of the truths are uniform.

    Parameters
    ----------
    replicates : DataFrame
        Of simulation-based calibration. Fits that failed a gate are counted and left out.

    Returns
    -------
    DataFrame
        One row a quantity and index: quantity, index, fits, failed, mean_rank (0.5 where right),
        chi2 and p_value (chi-squared test over ten cells), outside (share of the ECDF outside its
        simultaneous 94% band; Säilynoja et al. 2022), passed (p_value at least 0.01 over the number
        of rows, which is Bonferroni's bound on one false alarm in a hundred tables).
    """
    failed = replicates.loc[~replicates["passed"], "replicate"].nunique()
    kept = replicates[replicates["passed"]]
    groups = list(kept.groupby(["quantity", "index"], sort=False))
    rows = []
    for (quantity, index), here in groups:
        cells = np.bincount(here["rank"] * CELLS // (RANKED_DRAWS + 1), minlength=CELLS)
        test = chisquare(cells)
        _, ecdf, low, high = rank_ecdf(here["rank"].to_numpy())
        rows.append(
            {
                "quantity": quantity,
                "index": index,
                "fits": len(here),
                "failed": failed,
                "mean_rank": float((here["rank"].mean() + 0.5) / (RANKED_DRAWS + 1)),
                "chi2": float(test.statistic),
                "p_value": float(test.pvalue),
                "outside": float(((ecdf < low) | (ecdf > high)).mean()),
                "passed": test.pvalue >= 0.01 / len(groups),
            }
        )
    return pd.DataFrame(rows)


def rank_ecdf(ranks: np.ndarray) -> tuple[np.ndarray, ...]:
    """ECDF of ranks as shares, with its simultaneous 94% band: points, ecdf, low, high."""
    jitter = np.random.default_rng(0).random(len(ranks))  # a rank stands for a stretch of the line
    shares = (ranks + jitter) / (RANKED_DRAWS + 1)
    band: tuple[np.ndarray, ...] = ecdf_pit(shares, 0.94, 1000, rng=np.random.default_rng(0))
    return band


def _with_all(kept: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Rows by quantity and index, and by quantity alone where there are several indices."""
    for quantity, rows in kept.groupby("quantity", sort=False):
        for index, here in rows.groupby("index", sort=False):
            yield (str(quantity), str(index)), here
        if rows["index"].nunique() > 1:
            yield (str(quantity), "all"), rows
