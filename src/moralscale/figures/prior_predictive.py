"""What the priors say, before any judgment, in Elo and in shares of choices."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.records import Origin

CAPTION = (
    "What the priors alone say of the reported quantities, before any judgment: medians, and "
    "intervals of 50% (thick) and 94% (thin)."
)
_UNITS = {"elo": "Elo", "ratio": "ratio", "correlation": "correlation", "percent": "%"}
_ROW = 0.2


@style.styled
def draw(
    table: pd.DataFrame, origin: Origin | None = None, *, widths: FigureWidths = style.WIDTHS
) -> Figure:
    """Draw a table of `checks.prior.prior_table`: one panel a unit."""
    units = [unit for unit in _UNITS if (table["unit"] == unit).any()]
    counts = [int((table["unit"] == unit).sum()) for unit in units]
    figure = style.canvas(origin, widths.wide, _ROW * sum(counts) + 0.5 * len(units) + 0.1)
    axes = figure.subplots(len(units), 1, height_ratios=[n + 0.4 for n in counts], squeeze=False)
    for ax, unit in zip(axes[:, 0], units, strict=True):
        here = table[table["unit"] == unit]
        rows = list(map(float, range(len(here))))
        ax.hlines(rows, here["q03"], here["q97"], color=style.BLUE, lw=1)
        ax.hlines(rows, here["q25"], here["q75"], color=style.BLUE, lw=3)
        ax.plot(here["median"], rows, "o", ms=3.5, color=style.INK)
        forest.label_rows(ax, rows, [style.signed(str(label)) for label in here["label"]])
        ax.set_xlabel(_UNITS[unit])
    return figure
