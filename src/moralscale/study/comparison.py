"""Published figures, the study's own estimators and the joint model, side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.estimands import Estimands
from moralscale.projections import read_truth
from moralscale.scenes import load_scenes
from moralscale.study.analyses import ANALYSES
from moralscale.tables import planted

_ROW = ["quantity", "index", "unit"]


def study_table(
    two_step: pd.DataFrame,
    joint: pd.DataFrame,
    figures: pd.DataFrame,
    truth: xr.Dataset | None,
    origin: str,
) -> pd.DataFrame:
    """Set published figures, two-step estimates and the joint model's side by side.

    Parameters
    ----------
    two_step : DataFrame
        `TwoStepTables.estimates`.
    joint : DataFrame
        Estimates of one or more fits, with columns data, rule and prior.
    figures : DataFrame
        Published figures: quantity, index, unit, value (``config/published.yaml``).
    truth : Dataset or None
        `projections.quantities` of a simulated panel.
    origin : str
        Where the judgments come from.

    Returns
    -------
    DataFrame
        One row a value: analysis, quantity, index, unit, published, truth; then three columns an
        estimator, ``elo``, ``elo_low``, ``elo_high`` and so on, the joint ones named
        ``joint_study`` and ``joint_bridged`` (with rule and prior where there are several);
        origin, definition. A value that an estimator cannot tell is left empty.
    """
    table = _rows(two_step)
    given = figures.rename(columns={"value": "published"})[[*_ROW, "published"]]
    table = table.merge(given, on=_ROW, how="left")
    nothing = pd.DataFrame(columns=[*_ROW, "truth"])
    table = table.merge(nothing if truth is None else planted(truth), on=_ROW, how="left")
    for name, found in _side_by_side(two_step, joint).items():
        found = found.rename(
            columns={"estimate": name, "low": f"{name}_low", "high": f"{name}_high"}
        )
        columns = [*_ROW, name, f"{name}_low", f"{name}_high"]
        table = table.merge(found[columns], on=_ROW, how="left")
    definition = table.pop("definition")
    return table.assign(origin=origin, definition=definition)


def _rows(two_step: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table: every value once, each pair of judges once."""
    analysis = {name: title for title, members in ANALYSES.items() for name in members}
    rows = two_step[[*_ROW, "definition"]].drop_duplicates(_ROW)
    pair = rows["index"].str.split(", ")
    twice = [
        quantity == "correlation" and names[0] >= names[1]
        for quantity, names in zip(rows["quantity"], pair, strict=True)
    ]
    rows = rows[~np.array(twice)].reset_index(drop=True)
    rows.insert(0, "analysis", rows["quantity"].map(analysis))
    return rows


def _side_by_side(two_step: pd.DataFrame, joint: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Estimates by the name of their estimator."""
    found = {str(name): rows for name, rows in two_step.groupby("estimator", sort=False)}
    several = [name for name in ("rule", "prior") if joint[name].nunique() > 1]
    joint = joint.rename(columns={"mean": "estimate", "hdi_low": "low", "hdi_high": "high"})
    for key, rows in joint.groupby(["data", *several], sort=False):
        found["_".join(["joint", *map(str, key)])] = rows
    return found


def read_planted(truth: str | Path, scenes: str | Path, composites: str | Path) -> xr.Dataset:
    """Read a simulated panel's truth as the quantities that estimators report."""
    options = pd.read_parquet(composites)
    return read_truth(truth, Estimands.from_composites(load_scenes(scenes), options))


def estimators_of(table: pd.DataFrame) -> list[str]:
    """Names of the estimators that a table of `study_table` holds, in its order."""
    return [name.removesuffix("_low") for name in map(str, table) if name.endswith("_low")]


def read_study(path: str | Path) -> pd.DataFrame:
    """Read a table of `study_table`; labels stay text."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    text = ["analysis", *_ROW, "origin", "definition"]
    numbers = [name for name in map(str, table) if name not in text]
    return table.assign(**{name: pd.to_numeric(table[name]) for name in numbers})
