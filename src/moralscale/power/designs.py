"""Designs over a grid, and the smallest that give the wanted widths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from moralscale.config import Panel, load_config, load_yaml
from moralscale.errors import ModelError, suggestion
from moralscale.estimate import estimate_cost
from moralscale.power.widths import TARGETS, arena_counts, expected_widths
from moralscale.priors import Priors

#: Judgments of a judge and shares of them that are bridge battles, at which designs are reckoned.
SIZES = (1000, 2000, 4000, 8000)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)


def power_table(
    panel: Panel,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    priors: Priors,
    *,
    seed: int,
    sizes: Sequence[int] = SIZES,
    shares: Sequence[float] = SHARES,
    usd_a_judgment: float | None = None,
) -> pd.DataFrame:
    """Reckon the widths of intervals over a grid of designs.

    Parameters
    ----------
    panel, scenes, composites, priors, seed
        As for `expected_widths`.
    sizes : sequence of int
        Judgments of a judge.
    shares : sequence of float
        Shares of bridge battles.
    usd_a_judgment : float, optional
        Mean price of a judgment.

    Returns
    -------
    DataFrame
        size, share, single, composite, bridge (judgments of a judge), judgments (of all judges),
        cost (USD, missing without a price), and the width for each of `TARGETS`.
    """
    rows = []
    for size in sizes:
        for share in shares:
            widths = expected_widths(
                panel, scenes, composites, priors, size=size, share=share, seed=seed
            )
            total = size * panel.judges
            cost = np.nan if usd_a_judgment is None else usd_a_judgment * total
            rows.append(
                {"size": size, "share": share, **arena_counts(size, share), "judgments": total}
                | {"cost": cost, **widths}
            )
    return pd.DataFrame(rows)


def check_wanted(wanted: Mapping[str, float]) -> None:
    """Refuse widths that no interval has.

    Parameters
    ----------
    wanted : mapping
        Largest width by name of `TARGETS`.

    Raises
    ------
    ModelError
        A target is not known, or its width is not a finite number above 0.
    """
    for name, width in wanted.items():
        if name not in TARGETS:
            raise ModelError(f"unknown target '{name}'", mend=suggestion(name, TARGETS))
        if not 0 < width < np.inf:
            raise ModelError(f"{width:g} is no width of {name}", mend="want a number above 0")


def needed(table: pd.DataFrame, wanted: Mapping[str, float]) -> pd.DataFrame:
    """Find the smallest design that gives every wanted width.

    Widths fall as a power of the number of judgments, one power for each share; where the wanted
    width lies outside the sizes of the table, the power goes on, and `extrapolated` says so.

    Parameters
    ----------
    table : DataFrame
        As `power_table` returns.
    wanted : mapping
        Largest width by name of `TARGETS`.

    Returns
    -------
    DataFrame
        One row a share, the cheapest first: share, judgments a judge by arena, judgments, cost and
        extrapolated. Shares at which a width is beyond reach (it hardly falls) are left out.

    Raises
    ------
    ModelError
        A target or width is none (`check_wanted`), or no share reaches the widths.
    """
    check_wanted(wanted)
    for name in wanted:
        if table[name].isna().all():
            raise ModelError(f"these composites have no {name}", mend="leave it out")
    rows = []
    for share, group in table.groupby("share"):
        sizes = [_size_for(group, name, width) for name, width in wanted.items()]
        size = max(sizes)
        if not np.isfinite(size) or size > 1e6:
            continue
        size = int(np.ceil(size))
        judges = group["judgments"].iloc[0] // group["size"].iloc[0]
        usd = group["cost"].iloc[0] / group["judgments"].iloc[0]
        beyond = not group["size"].min() <= size <= group["size"].max()
        rows.append(
            {
                "share": share,
                **arena_counts(size, group["share"].iloc[0]),
                "judgments": size * judges,
            }
            | {"cost": usd * size * judges, "extrapolated": beyond}
        )
    if not rows:
        raise ModelError(
            "no number of judgments reaches these widths",
            mend="want wider intervals, or ask more judges",
        )
    return pd.DataFrame(rows).sort_values("judgments", ignore_index=True)


def _size_for(group: pd.DataFrame, name: str, width: float) -> float:
    """Judgments of a judge that give a width: a power law through the sizes of a share."""
    power, level = np.polyfit(np.log(group["size"]), np.log(group[name]), 1)
    return float(np.exp((np.log(width) - level) / power)) if power < -0.05 else np.inf


def usd_a_judgment(config: str | Path, *, root: str | Path = ".") -> float | None:
    """Mean price of a judgment over the real judges of a configuration, USD.

    Answers that are there already count like any other: a design is priced as if it began.

    Parameters
    ----------
    config : path
    root : path, optional
        Folder that paths of the configuration start from, the project's.

    Returns
    -------
    float or None
        None where the configuration has no real judge, or the price of one is not known.
    """
    found = estimate_cost(load_config(load_yaml(config), source=str(config)), root=root, anew=True)
    costs = [one.cost for one in found]
    planned = sum(one.planned for one in found)
    if not planned or any(cost is None for cost in costs):
        return None
    return sum(cost for cost in costs if cost is not None) / planned
