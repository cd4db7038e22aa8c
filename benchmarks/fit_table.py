"""Runs of `fit.py` as a table: agreement first, then medians and ratios."""

from __future__ import annotations

import json
import os
import platform
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
from peers import PEERS

HERE = Path(__file__).parent
#: Monte Carlo standard errors within which means must lie.
ERRORS = 4.0
REFERENCE = "ours"


def print_table(folder: Path) -> pd.DataFrame:
    """Check that posteriors agree, and print medians over runs."""
    runs = pd.DataFrame([json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))])
    runs["gap"] = [largest_gap(folder, row.peer, row.run) for row in runs.itertuples()]
    for row in runs.itertuples():
        if not row.gap <= ERRORS:
            raise SystemExit(f"{row.peer}, run {row.run}: {row.gap:.1f} errors from ours")
    runs["ess_s"] = runs["ess_smallest"] / runs["sample_s"]
    runs["ess_beta_s"] = runs["ess_beta"] / runs["sample_s"]
    runs["ess_cpu_s"] = runs["ess_smallest"] / runs["cpu_s"]
    ours = runs[runs["peer"] == REFERENCE].set_index("run")
    for name in ("ess_s", "ess_beta_s", "ess_cpu_s"):
        # Paired: the run of the same round.
        runs[f"times_{name}"] = runs["run"].map(ours[name]) / runs[name]
    numeric = [name for name in runs if pd.api.types.is_numeric_dtype(runs[name])]
    table = runs.groupby("peer")[numeric].median().drop(columns=["run", "load"])
    table.insert(0, "runs", runs.groupby("peer")["run"].count())
    table.insert(1, "length", runs.groupby("peer")["length"].first())
    table = table.loc[[name for name in PEERS if name in table.index]]
    print(markdown(table))
    return table


def largest_gap(folder: Path, peer: str, run: int) -> float:
    """Largest distance of a mean from ours, over all values, in Monte Carlo errors."""
    ours, theirs = (
        pd.read_csv(folder / f"{name}-{run}.csv", index_col=0) for name in (REFERENCE, peer)
    )
    if list(ours.index) != list(theirs.index):
        raise SystemExit(f"{peer}: not the same quantities")
    if peer == REFERENCE:
        return 0.0
    gap = (ours["mean"] - theirs["mean"]).abs() / np.hypot(ours["mcse"], theirs["mcse"])
    return float(gap.max())


#: Columns of the page: head, and how a value is printed.
COLUMNS = {
    "length": ("chains x (tuning + draws)", "{}"),
    "runs": ("runs", "{}"),
    "compile_s": ("compile, s", "{:.0f}"),
    "sample_s": ("sample, s", "{:.0f}"),
    "cpu_s": ("CPU of both, s", "{:.0f}"),
    "memory_mb": ("peak, MB", "{:.0f}"),
    "draws": ("draws kept", "{:.0f}"),
    "ess_smallest": ("smallest ESS", "{:.0f}"),
    "ess_beta": ("ESS of beta", "{:.0f}"),
    "ess_s": ("smallest ESS a second", "{:.2f}"),
    "times_ess_s": ("ours over it", "{:.1f}"),
    "times_ess_cpu_s": ("by CPU of both", "{:.1f}"),
    "ess_beta_s": ("ESS of beta a second", "{:.1f}"),
    "times_ess_beta_s": ("ours over it", "{:.1f}"),
    "gap": ("largest gap, MCSE", "{:.1f}"),
}


def markdown(table: pd.DataFrame) -> str:
    """Write the table as Markdown."""
    heads = ["sampler", *(head for head, _ in COLUMNS.values())]
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    for peer, row in table.iterrows():
        cells = [form.format(row[name]) for name, (_, form) in COLUMNS.items()]
        lines.append(" | ".join([PEERS[str(peer)].title, *cells]))
    return "\n".join(f"| {line} |" for line in lines)


def write_table(table: pd.DataFrame, folder: Path) -> None:
    """Write ``fit.csv``, and the generated part of ``fit.md``."""
    table.round(4).to_csv(HERE / "fit.csv")
    used: dict[str, str] = {}
    loads = []
    for path in sorted(folder.glob("*.json")):
        run = json.loads(path.read_text())
        used |= run["versions"]
        loads.append(run["load"])
    about = (
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {min(loads):.1f} to {max(loads):.1f} at the end "
        f"of runs; {', '.join(f'{name} {number}' for name, number in sorted(used.items()))}."
    )
    page = HERE / "fit.md"
    before, rest = page.read_text().split("<!-- table -->\n")[::2]
    page.write_text(f"{before}<!-- table -->\n{about}\n\n{markdown(table)}\n<!-- table -->\n{rest}")
