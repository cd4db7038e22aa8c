"""Ratings for people and for files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from moralscale.errors import ConfigError

#: Decimals on the terminal; files get all that is known.
DECIMALS = {"rating": 0, "spread": 1, "n": 0}
#: Names of summarised quantities, for people.
QUANTITIES = {
    "position_bias": "position bias, toward first (log-odds)",
    "position_bias_sd": "its sd over judges",
    "log_tie": "ties, log nu",
    "strength_sd": "sd of strengths",
    "judge_sd": "sd of judges' own strengths",
}


def write(table: pd.DataFrame, *, out: Path | None, summary: Path | None) -> None:
    """Write ratings as CSV and their summary as JSON, where wanted.

    Raises
    ------
    ConfigError
        A file cannot be written.
    """
    text = json.dumps(table.attrs["summary"], indent=2, allow_nan=False, ensure_ascii=False)
    for path, content in ((out, None), (summary, text + "\n")):
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                table.to_csv(path, index=False)
            else:
                path.write_text(content, encoding="utf-8")
        except OSError as error:
            reason = error.strerror or str(error)
            raise ConfigError(f"cannot be written: {reason}", where=str(path)) from None


def show(table: pd.DataFrame, *, rows: bool) -> None:
    """Print the summary and, where wanted, the ratings."""
    # Output that goes to a file or a pipe is not folded at some terminal's width.
    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    if rows:
        console.print(_as_rich(table))
    for line in _lines(table.attrs["summary"]):
        console.print(line)


def _as_rich(table: pd.DataFrame) -> Table:
    shown = Table(box=None, pad_edge=False)
    for name in table.columns:
        shown.add_column(name, justify="left" if name == "contestant" else "right")
    for row in table.itertuples(index=False):
        shown.add_row(row[0], *map(_number, row[1:], table.columns[1:]))
    return shown


def _number(value: float, column: str) -> str:
    return "-" if pd.isna(value) else f"{value:.{DECIMALS.get(column, 3)}f}"


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    """Tell the summary, a line a fact."""
    counts = ", ".join(f"{name} {times:,}" for name, times in summary["outcomes"].items())
    judges = f" by {summary['judges']} judges" if summary["judges"] else ""
    yield (
        f"{summary['contestants']:,} contestants, {summary['judgments']:,} judgments{judges}"
        f" ({counts})"
    )
    for label, times in summary["ignored"].items():
        yield f"left out: {times:,} with outcome '{label}'"
    for name, title in QUANTITIES.items():
        found = summary.get(name)
        if found and "se" in found:
            se = "unknown" if found["se"] is None else f"{found['se']:.3f}"
            yield f"{title}: {found['estimate']:.3f}, standard error {se}"
        elif found:
            interval = (
                f"{100 * summary['ci_prob']:g}% HDI {found['low']:.3f} to {found['high']:.3f}"
            )
            yield f"{title}: {found['estimate']:.3f}, {interval}"
    if summary.get("median_spread") is not None:
        yield (
            f"mean over {summary['orders']} random orders; one order alone moves a rating by a"
            f" median of {summary['median_spread']:.1f} Elo (sd, column spread)"
        )
    elif "orders" in summary:
        yield "one random order: how far another would move a rating is not known"
    for warning in summary["warnings"]:
        yield f"warning: {warning}"
