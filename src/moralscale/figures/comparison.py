"""Composition rules side by side: how much worse than the best each foretells judgments."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.records import Origin

CAPTION = (
    "Expected log predictive density of every composition rule below the best one, with two "
    "standard errors of the difference, and its stacking weight: single judgments left out, and "
    "whole profiles held out."
)
_TITLES = {"loo": "single judgments left out (PSIS-LOO)", "kfold": "whole profiles held out"}


@style.styled
def draw(
    table: pd.DataFrame, origin: Origin | None = None, *, widths: FigureWidths = style.WIDTHS
) -> Figure:
    """Draw a table of `compare.rank`, or several stacked."""
    methods = [name for name in _TITLES if (table["method"] == name).any()]
    rows = table["rule"].nunique()
    width = widths.page if len(methods) > 1 else widths.wide
    figure = style.canvas(origin, width, 0.24 * rows + 0.9)
    axes = figure.subplots(1, len(methods), squeeze=False, sharex=True)[0]
    for ax, name in zip(axes, methods, strict=True):
        _panel(ax, table[table["method"] == name].sort_values("rank"))
        ax.set_title(_TITLES[name])
    return figure


def _panel(ax: Axes, here: pd.DataFrame) -> None:
    rows = list(map(float, range(len(here))))
    low, high = (here["elpd_diff"] + sign * 2 * here["dse"] for sign in (-1, 1))
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=0)
    ax.hlines(rows, low, high, color=style.BLUE, lw=1.3)
    ax.plot(here["elpd_diff"], rows, "o", ms=4, color=style.BLUE)
    forest.column(ax, rows, [f"{weight:.2f}" for weight in here["weight"]], "weight")
    forest.label_rows(ax, rows, [str(rule).replace("_", " ") for rule in here["rule"]])
    ax.set_xlabel("log predictive density below the best")
