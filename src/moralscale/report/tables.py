"""The tables of the report: numbers as they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from moralscale.figures.slopes import NAMES
from moralscale.inspection import KEY_AND_RULE
from moralscale.printing import JUDGE, KEY, UNITS, estimate, number
from moralscale.records import USED, Outcome
from moralscale.report.inputs import FIT
from moralscale.study import estimators_of

NOT_IDENTIFIED = "not identified"
MISSED = "missed"


@dataclass(frozen=True)
class Table:
    """Headers and printed cells; the first `text` columns are words, the others numbers."""

    headers: list[str]
    rows: list[list[str]]
    text: int = 1


def fits(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split estimates by fit: short titles, naming rule and prior where there are several."""
    several = [name for name in FIT if name == "data" or estimates[name].nunique() > 1]
    groups = estimates.groupby(FIT, sort=False)
    return {
        ", ".join(str(part) for name, part in zip(FIT, key, strict=True) if name in several): group
        for key, group in groups
    }


def key_estimates(by_fit: dict[str, pd.DataFrame]) -> Table:
    """Key estimates of every fit side by side."""
    return _side_by_side(by_fit, KEY_AND_RULE)


def judge_estimates(title: str, estimates: pd.DataFrame) -> Table:
    """One row a judge, for one fit."""
    columns = {label: _cells(estimates, quantity, unit) for quantity, unit, label in JUDGE}
    columns = {label: cells for label, cells in columns.items() if cells}
    judges = dict.fromkeys(judge for cells in columns.values() for judge in cells)
    rows = [[judge, *(cells.get(judge, "-") for cells in columns.values())] for judge in judges]
    return Table([f"judge ({title})", *columns], rows)


def outcome_counts(outcomes: pd.DataFrame, by: str, used: Sequence[Outcome] = USED) -> Table:
    """Planned, answered and used comparisons, and why others were not used, by arena or judge."""
    counts = outcomes.groupby(by, sort=by == "judge").sum(numeric_only=True)
    counts["used"] = counts[[name.value for name in used]].sum(axis=1)
    total = counts.sum().astype(int)
    unused = [name.value for name in Outcome if name not in used and int(total[name]) > 0]
    columns = ["planned", "answered", "used", *unused]
    rows = [[str(name), *map(_count, row[columns])] for name, row in counts.iterrows()]
    rows.append(["all", *map(_count, total[columns])])
    return Table([by, "planned", "answered", "used", *unused], rows)


def published_found(published: pd.DataFrame) -> Table:
    """Set published figures, as they were published, against what this run found."""
    found = published.assign(cell=published.apply(estimate, axis=1))
    return _against(found, "published", "{:g}".format)


def by_estimator(study: pd.DataFrame, quantities: Sequence[str]) -> Table:
    """Set published figures, the joint model and the study's estimators side by side."""
    names = sorted(estimators_of(study), key=lambda name: not name.startswith("joint"))
    given = [name for name in ("published", "truth") if study[name].notna().any()]
    rows = []
    for _, row in study[study["quantity"].isin(quantities)].iterrows():
        if row["quantity"] == "intensity_mean" and row["index"] not in ("+1", "+2"):
            continue
        values = [number(row[name], row["unit"]) for name in given]
        found = [
            estimate(
                row.rename({name: "mean", f"{name}_low": "hdi_low", f"{name}_high": "hdi_high"})
            )
            for name in names
        ]
        rows.append([_label(row), *values, *found])
    titles = [NAMES.get(name, name.replace("_", " ")) for name in names]
    return Table(["quantity", *("planted" if g == "truth" else g for g in given), *titles], rows)


def recovered(recovery: pd.DataFrame) -> Table:
    """Set planted values of the key quantities against what the fits found."""
    wanted = [(quantity, unit) for quantity, unit, _ in KEY]
    key = [pair in wanted for pair in zip(recovery["quantity"], recovery["unit"], strict=True)]
    found = recovery[key]
    missed = np.where(found["covered"].astype(bool), "", f" {MISSED}")
    found = found.assign(cell=found.apply(estimate, axis=1) + missed)
    found["planted"] = found.apply(lambda row: number(row["truth"], row["unit"]), axis=1)
    return _against(found, "planted", str)


def _against(found: pd.DataFrame, given: str, printed: Callable[[Any], str]) -> Table:
    """One row a quantity: what was given, and the `cell` that each fit found."""
    fits_of = found.apply(_fit, axis=1)
    several = len(found[["rule", "prior"]].drop_duplicates()) > 1 if "rule" in found else False
    found = found.assign(
        fit=fits_of if several else found["data"], label=found.apply(_label, axis=1)
    )
    # A published figure that no fit has stands in a row without a fit.
    titles = [title for title in dict.fromkeys(found["fit"]) if title]
    rows = []
    for label, group in found.groupby("label", sort=False):
        cells = dict(zip(group["fit"], group["cell"], strict=True))
        found_by = [str(cells.get(title, NOT_IDENTIFIED)) for title in titles]
        rows.append([str(label), printed(group[given].iloc[0]), *found_by])
    return Table(["quantity", given, *titles], rows)


def coverage(recovery: pd.DataFrame) -> Table:
    """Count, by quantity and data, the intervals that hold the planted value."""
    once = recovery[recovery["unit"] != "elo"]
    counts = once.pivot_table(
        index="quantity", columns="data", values="covered", aggfunc=["sum", "size"], sort=False
    )
    data = list(dict.fromkeys(once["data"]))
    rows = [
        [str(quantity).replace("_", " ")]
        + [f"{row['sum', name]:.0f} of {row['size', name]:.0f}" for name in data]
        for quantity, row in counts.fillna(0).iterrows()
    ]
    return Table(["quantity", *data], rows)


def gates(checks: pd.DataFrame) -> Table:
    """List every check with its bound, failed ones first."""
    rows = [
        [
            _fit(row),
            row["check"],
            row["quantity"],
            "pass" if row["passed"] else "fail",
            row["text"],
            _general(row["value"]),
            _general(row["bound"]),
        ]
        for _, row in checks.sort_values("passed", kind="stable").iterrows()
    ]
    return Table(["fit", "check", "quantity", "gate", "meaning", "value", "bound"], _text(rows), 5)


def _side_by_side(
    by_fit: dict[str, pd.DataFrame], wanted: tuple[tuple[str, str, str], ...]
) -> Table:
    rows = []
    for quantity, unit, label in wanted:
        cells = {title: _cells(estimates, quantity, unit) for title, estimates in by_fit.items()}
        for index in dict.fromkeys(name for column in cells.values() for name in column):
            found = [column.get(index, NOT_IDENTIFIED) for column in cells.values()]
            rows.append([f"{label} {index}".strip() + UNITS.get(unit, ""), *found])
    return Table(["quantity", *by_fit], rows)


def _cells(estimates: pd.DataFrame, quantity: str, unit: str) -> dict[str, str]:
    """Print the estimates of one quantity, by index."""
    here = estimates[(estimates["quantity"] == quantity) & (estimates["unit"] == unit)]
    return {_index(row): estimate(row) for _, row in here.iterrows()}


def _count(n: float) -> str:
    return f"{int(n):,}"


def _index(row: pd.Series) -> str:
    return "" if pd.isna(row["index"]) else str(row["index"])


def _label(row: pd.Series) -> str:
    return f"{row['quantity']} {_index(row)}".strip().replace("_", " ") + UNITS.get(row["unit"], "")


def _fit(row: pd.Series) -> str:
    return ", ".join(str(row[name]) for name in FIT if name in row.index)


def _general(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "-" if pd.isna(value) else f"{value:.4g}"


def _text(rows: list[list[Any]]) -> list[list[str]]:
    return [["" if pd.isna(cell) else str(cell) for cell in row] for row in rows]
