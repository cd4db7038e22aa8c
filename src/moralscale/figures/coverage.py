"""How often 94% intervals hold what was planted."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "Share of simulated data sets whose 94% interval holds the planted value, with its 94% "
    "interval; right is between 88% and 98% (band)."
)


@style.styled
def draw(table: pd.DataFrame, origin: Origin | None = Origin.SIMULATED) -> Figure:
    """Draw a table of `calibration.summary.coverage_table`."""
    table = table[table["index"] != "all"]
    figure = style.canvas(origin, style.WIDE, 0.2 * len(table) + 0.6)
    ax = figure.add_subplot()
    rows = range(len(table))
    ax.axvspan(0.88, 0.98, color=style.FAINT, alpha=0.35, linewidth=0)
    ax.axvline(0.94, color=style.MUTED, linewidth=0.8)
    ax.hlines(rows, table["low"], table["high"], color=style.BLUE, lw=1.3)
    ax.plot(table["coverage"], rows, "o", ms=4, color=style.BLUE, clip_on=False)
    names = (table["quantity"] + " " + table["index"]).str.strip().str.replace("_", " ")
    ax.set_yticks(rows, names)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(right=1.0)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("intervals that hold the planted value")
    return figure
