"""Points of `growth.py` as a table, a page and a figure."""

from __future__ import annotations

import json
import os
import platform
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.figures import style

HERE = Path(__file__).parent
COLUMNS = {
    "judges": "{:.0f}",
    "scenes": "{:.0f}",
    "judgments": "{:,.0f}",
    "terms": "{:,.0f}",
    "parameters": "{:,.0f}",
    "compile_cpu_s": "{:.0f}",
    "gradient_ms": "{:.2f}",
    "floor_by_log_odds_ms": "{:.2f}",
    "floor_by_worths_ms": "{:.2f}",
    "model_mb": "{:.0f}",
    "peak_mb": "{:.0f}",
}


def write_table(folder: Path, *, write: bool) -> None:
    """Print the table; write it as ``growth.csv`` and into ``growth.md``."""
    points = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    order = ["axis", "counted", "judgments", "judges", "scenes"]
    table = pd.DataFrame(points).sort_values(order, ignore_index=True)
    text = "\n\n".join([*parts(table), *slopes(table)])
    print(text)
    if write:
        table.round(4).to_csv(HERE / "growth.csv", index=False)
        about = (
            f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
            f"Python {platform.python_version()}; processor time of one thread."
        )
        page = HERE / "growth.md"
        before, after = page.read_text().split("<!-- table -->\n")[::2]
        marked = f"<!-- table -->\n{about}\n\n{text}\n<!-- table -->\n"
        page.write_text(f"{before}{marked}{after}")


def parts(table: pd.DataFrame) -> list[str]:
    """Write each of the three series as Markdown."""
    titles = {
        ("judgments", False): "Judgments, each a term of its own:",
        ("judgments", True): "Judgments, repeats counted:",
        ("panel", False): "Judges by scenes, 3,213 judgments a judge:",
    }
    out = []
    for (axis, counted), title in titles.items():
        rows = table[(table["axis"] == axis) & (table["counted"] == counted)]
        columns = [name for name in COLUMNS if name in rows and rows[name].notna().any()]
        lines = [columns, ["---:"] * len(columns)]
        lines += [[COLUMNS[n].format(row[n]) for n in columns] for _, row in rows.iterrows()]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        out += [title, body.replace("_", " ")]
    return out


def slopes(table: pd.DataFrame) -> list[str]:
    """Say how time and memory grow: slopes of logarithms, from ten times the study on."""
    along = table[(table["axis"] == "judgments") & ~table["counted"].astype(bool)]
    large = along[along["judgments"] > 5 * along["judgments"].min()]
    log_n = np.log(large["judgments"])
    time, memory = (np.polyfit(log_n, np.log(large[n]), 1)[0] for n in ("gradient_ms", "model_mb"))
    first = along.iloc[0]
    ratio = first["gradient_ms"] / min(first["floor_by_log_odds_ms"], first["floor_by_worths_ms"])
    return [
        f"Slope of log gradient time on log judgments, from ten times the study: {time:.2f}; of "
        f"log memory: {memory:.2f}. At the study's size a gradient of the whole model takes "
        f"{ratio:.1f} times the faster hand-written likelihood."
    ]


def write_figure(stem: Path) -> None:
    """Draw ``growth.csv``."""
    style.save(draw(pd.read_csv(HERE / "growth.csv")), stem)


@style.styled
def draw(table: pd.DataFrame) -> Figure:
    """Draw gradient time against judgments, and against judges and scenes."""
    figure = style.canvas(None, style.WIDTHS.page, 2.4)
    left, right = figure.subplots(1, 2)
    along = table[table["axis"] == "judgments"]
    series = {
        "each judgment a term": (along[~along["counted"]], "gradient_ms", style.BLUE, "o-"),
        "repeats counted": (along[along["counted"]], "gradient_ms", style.VERMILION, "s-"),
        "likelihood alone, by hand": (
            along[~along["counted"]],
            "floor_by_worths_ms",
            style.MUTED,
            "^--",
        ),
    }
    for label, (rows, name, colour, mark) in series.items():
        left.plot(rows["judgments"], rows[name], mark, color=colour, ms=3.5, label=label)
    _logarithmic(left, "judgments")
    left.legend()
    # The study among them: it is a point of the other axis.
    a_judge = table["judgments"] / table["judges"]
    across = table[~table["counted"] & a_judge.between(3180, 3250)]
    right.plot(across["parameters"], across["gradient_ms"], "o", color=style.BLUE, ms=4)
    for row in across.itertuples():
        right.annotate(
            f"{row.judges} \N{MULTIPLICATION SIGN} {row.scenes}",
            (row.parameters, row.gradient_ms),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            fontsize=6.5,
        )
    right.set_xlim(1_500, 200_000)
    right.set_ylim(0.2, 20)
    _logarithmic(right, "parameters (judges \N{MULTIPLICATION SIGN} scenes at the points)")
    return figure


def _logarithmic(ax: Axes, label: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,.10g}")
        axis.set_minor_formatter("")
    ax.set_xlabel(label)
    ax.set_ylabel("gradient, ms")
