"""What the priors say, before any judgment, in Elo and in shares of choices."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "What the priors alone say of the reported quantities, before any judgment: medians, and "
    "intervals of 50% (thick) and 94% (thin)."
)
_UNITS = {"elo": "Elo", "ratio": "ratio", "correlation": "correlation", "percent": "%"}
_ROW = 0.2


@style.styled
def draw(table: pd.DataFrame, origin: Origin | None = None) -> Figure:
    """Draw a table of `checks.prior.prior_table`: one panel a unit."""
    units = [unit for unit in _UNITS if (table["unit"] == unit).any()]
    counts = [int((table["unit"] == unit).sum()) for unit in units]
    figure = style.canvas(origin, style.WIDE, _ROW * sum(counts) + 0.5 * len(units) + 0.1)
    axes = figure.subplots(len(units), 1, height_ratios=[n + 0.4 for n in counts], squeeze=False)
    for ax, unit in zip(axes[:, 0], units, strict=True):
        here = table[table["unit"] == unit]
        rows = np.arange(len(here))
        ax.hlines(rows, here["q03"], here["q97"], color=style.BLUE, lw=1)
        ax.hlines(rows, here["q25"], here["q75"], color=style.BLUE, lw=3)
        ax.plot(here["median"], rows, "o", ms=3.5, color=style.INK)
        ax.set_yticks(rows, here["label"])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(_UNITS[unit])
    return figure
