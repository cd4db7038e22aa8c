"""How often 94% intervals hold what was planted."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.records import Origin

CAPTION = (
    "Share of simulated data sets whose 94% interval holds the planted value, with its 94% "
    "interval; right is between 88% and 98% (band)."
)


@style.styled
def draw(
    table: pd.DataFrame,
    origin: Origin | None = Origin.SIMULATED,
    *,
    widths: FigureWidths = style.WIDTHS,
) -> Figure:
    """Draw a table of `calibration.summary.coverage_table`."""
    table = table[table["index"] != "all"]
    figure = style.canvas(origin, widths.wide, 0.2 * len(table) + 0.75)
    ax = figure.add_subplot()
    rows = list(map(float, range(len(table))))
    ax.axvspan(0.88, 0.98, color=style.FAINT, alpha=0.35, linewidth=0)
    ax.axvline(0.94, color=style.MUTED, linewidth=0.8)
    ax.hlines(rows, table["low"], table["high"], color=style.BLUE, lw=1.3)
    ax.plot(table["coverage"], rows, "o", ms=4, color=style.BLUE)
    forest.label_rows(ax, rows, list(map(style.quantity_name, table["quantity"], table["index"])))
    ax.set_xlim(min(0.85, table["low"].min() - 0.01), 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("intervals that hold\nthe planted value")
    return figure
