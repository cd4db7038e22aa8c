"""Replicates into tables: bias, coverage, sensitivity, false alarms and power."""

from __future__ import annotations

import numpy as np
import pandas as pd

CELL = ["beta", "consistency", "noise", "battles", "judges", "bridge"]
EFFECT = ["anchoring", "loyalty", "flips"]
#: Columns of the audit's table, in order; others follow.
AUDIT = [
    "estimator",
    "true_beta",
    "composite_consistency",
    "battles_per_item",
    "judges",
    "bridge",
    "replicates",
    "mean",
    "bias",
    "rmse",
    "coverage",
]
#: Fewest replicates from which a share of them is reported: 20 still leave it 5 points uncertain.
FEWEST = 20
_NAMES = {
    "beta": "true_beta",
    "consistency": "composite_consistency",
    "battles": "battles_per_item",
}


def audit_table(replicates: pd.DataFrame) -> pd.DataFrame:
    """Bias, RMSE and coverage of beta, one row an estimator and cell.

    Parameters
    ----------
    replicates : DataFrame
        As `run_cell` returns, of any number of cells.

    Returns
    -------
    DataFrame
        Columns `AUDIT` (``replicates`` are those with an estimate; ``coverage`` of 94% intervals,
        empty below `FEWEST` replicates; ``bridge`` is true or false), then bridge_battles,
        choice_noise, target, sd, width (mean width of intervals) and failures, which enter no
        mean. The rows of beta come first, the other targets of the joint estimators after them.
    """
    plain = replicates[(replicates[EFFECT] == 0).all(axis=1)]
    keys = ["target", "estimator", *CELL]
    table = plain.groupby(keys, sort=True)[plain.columns.to_list()].apply(_row).reset_index()
    table = table.rename(columns=_NAMES)
    table["bridge_battles"] = table["bridge"]
    table["bridge"] = table["bridge"] > 0
    table["choice_noise"] = table["noise"]
    rest = ["bridge_battles", "choice_noise", "target", "truth", "sd", "width", "failures"]
    order = {name: n for n, name in enumerate(["beta", "consistency", "intercept"])}
    table = table.sort_values(
        ["target", "estimator", "bridge", "composite_consistency", "true_beta"],
        key=lambda c: c.map(lambda v: order.get(v, 9)) if c.name == "target" else c,
        kind="stable",
    )
    return table[AUDIT + rest].reset_index(drop=True)


def _row(group: pd.DataFrame) -> pd.Series:
    done = group[group["failed"] == ""]
    error = done["estimate"] - done["truth"]
    covered = (done["low"] <= done["truth"]) & (done["truth"] <= done["high"])
    return pd.Series(
        {
            "replicates": len(done),
            "mean": done["estimate"].mean(),
            "bias": error.mean(),
            "rmse": np.sqrt((error**2).mean()),
            "coverage": _share(covered) if done["low"].notna().any() else np.nan,
            "truth": done["truth"].mean(),
            "sd": done["estimate"].std(ddof=1),
            "width": (done["high"] - done["low"]).mean(),
            "failures": len(group) - len(done),
        }
    )


def _share(cases: pd.Series) -> float:
    """Share of replicates, or nothing where they are too few to tell."""
    return float(cases.mean()) if len(cases) >= FEWEST else np.nan


def sensitivity_table(replicates: pd.DataFrame) -> pd.DataFrame:
    """How far estimates of beta follow the truth: slopes of estimate on what is planted.

    Returns
    -------
    DataFrame
        estimator, bridge, consistency, battles_per_item, judges; ``by_beta`` and its standard
        error: change of the estimate with true beta at these settings, 1 for an estimator that
        measures it and 0 for one that is blind; ``by_consistency`` and its standard error:
        change with the log of the composites' consistency at all betas, 0 for an estimator that
        tells the two apart and about beta for one that does not; and the number of replicates.
    """
    plain = replicates[
        (replicates["target"] == "beta")
        & (replicates[EFFECT] == 0).all(axis=1)
        & (replicates["noise"] == 1)
        & (replicates["failed"] == "")
    ]
    rows = []
    for (name, _, battles, judges), group in plain.groupby(
        ["estimator", "bridge", "battles", "judges"]
    ):
        bridged = bool(group["bridge"].iloc[0])
        across = _slope(np.log(group["consistency"]), group["estimate"], group["beta"])
        for consistency, here in group.groupby("consistency"):
            along = _slope(here["beta"], here["estimate"])
            rows.append(
                (
                    name,
                    bridged,
                    consistency,
                    battles,
                    judges,
                    *along,
                    *across,
                    len(here),
                )
            )
    columns = ["estimator", "bridge", "composite_consistency", "battles_per_item", "judges"]
    columns += ["by_beta", "by_beta_se", "by_consistency", "by_consistency_se", "replicates"]
    table = pd.DataFrame(rows, columns=columns)
    return table.dropna(subset=["by_beta"]).reset_index(drop=True)


def _slope(x: pd.Series, y: pd.Series, within: pd.Series | None = None) -> tuple[float, float]:
    """Least-squares slope and its standard error, within groups; nothing where x does not vary."""
    if within is not None:
        x, y = x - x.groupby(within).transform("mean"), y - y.groupby(within).transform("mean")
    x, y = x - x.mean(), y - y.mean()
    spread = float((x**2).sum())
    if spread < 1e-12 or len(x) < 3:
        return np.nan, np.nan
    slope = float((x * y).sum()) / spread
    return slope, float(np.sqrt(((y - slope * x) ** 2).sum() / (len(x) - 2) / spread))


def false_alarm_table(replicates: pd.DataFrame) -> pd.DataFrame:
    """Set out what is said of anchoring and loyalty where there is none, and where there is some.

    Returns
    -------
    DataFrame
        target, estimator, planted (Elo), flips (share of intensity labels off by one step),
        replicates, mean and sd of the estimate (Elo), ``alarms``: share of replicates whose 94%
        interval leaves zero out (false alarms where nothing is planted, 0.06 for honest intervals;
        power where something is; empty below `FEWEST` replicates), and failures.
    """
    rows = []
    for target in ("anchoring", "loyalty"):
        kept = replicates[(replicates["target"] == target) & (replicates["bridge"] > 0)]
        middle = kept[(kept["noise"] == 1) & (kept["consistency"] == 1) & (kept["beta"] == 0.862)]
        middle = middle[middle["battles"] == 15]
        for (name, planted, flips), group in middle.groupby(["estimator", target, "flips"]):
            done = group[group["failed"] == ""]
            alarms = _share((done["low"] > 0) | (done["high"] < 0))
            found = (done["estimate"].mean(), done["estimate"].std(ddof=1), alarms)
            rows.append((target, name, planted, flips, len(done), *found, len(group) - len(done)))
    columns = ["target", "estimator", "planted", "flips", "replicates", "mean", "sd", "alarms"]
    return pd.DataFrame(rows, columns=[*columns, "failures"])


def laplace_table(replicates: pd.DataFrame) -> pd.DataFrame:
    """Hold the Laplace approximation against NUTS on the same judgments.

    Returns
    -------
    DataFrame
        target, bridge, judges; ``replicates`` that have both; ``shift``: mean of Laplace's estimate
        minus NUTS's, in sds of NUTS (of an interval's width over 3.76); ``shift_rms``: the root
        mean square of it; ``width_ratio``: width of Laplace's intervals over that of NUTS, on
        average. No rows without NUTS.
    """
    keys = ["target", "bridge", "judges", *(k for k in CELL if k not in {"bridge", "judges"})]
    keys += [*EFFECT, "replicate"]
    done = replicates[replicates["failed"] == ""].assign(width=lambda t: t["high"] - t["low"])
    laplace, nuts = (done[done["estimator"] == f"joint_{way}"] for way in ("laplace", "nuts"))
    both = laplace.merge(nuts, on=keys, suffixes=("", "_nuts"))
    both["shift"] = (both["estimate"] - both["estimate_nuts"]) / (both["width_nuts"] / 3.7616)
    both["width_ratio"] = both["width"] / both["width_nuts"]
    both["bridge"] = both["bridge"] > 0
    rows = [
        (
            target,
            bridge,
            judges,
            len(group),
            group["shift"].mean(),
            np.sqrt((group["shift"] ** 2).mean()),
            group["width_ratio"].mean(),
        )
        for (target, bridge, judges), group in both.groupby(keys[:3])
    ]
    columns = ["target", "bridge", "judges", "replicates", "shift", "shift_rms", "width_ratio"]
    return pd.DataFrame(rows, columns=columns)
