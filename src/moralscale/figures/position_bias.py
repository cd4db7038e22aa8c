"""Lean of every judge to the option shown first."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit, logit

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData

CAPTION = (
    "Lean of every judge to the option shown first, as log-odds and as the chance of choosing it "
    "where both options are equally strong."
)
NEEDS = ("position_bias_judge",)


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw judges ordered by their lean."""
    summary = data.summary("position_bias_judge")
    order = np.argsort(-summary["mean"].values, kind="stable")
    rows = [float(row) for row in range(len(order))]
    figure = style.canvas(data.origin, widths.column, forest.height(len(rows)) + 0.35)
    ax = figure.add_subplot()
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=0)
    forest.share(ax, data.reach("position_bias_judge"))
    forest.points(ax, rows, summary.isel(judge=order))
    truth = data.planted("position_bias_judge")
    forest.planted(ax, rows, None if truth is None else truth.isel(judge=order))
    forest.label_rows(ax, rows, [str(name) for name in summary["judge"].values[order]])
    ax.set_xlabel("position bias towards the first (log-odds)")
    percent = ax.secondary_xaxis(
        "top", functions=(lambda x: 100 * expit(x), lambda p: logit(np.clip(p, 0.01, 99.99) / 100))
    )
    percent.set_xlabel("first chosen at equal strength (%)")
    forest.legend(ax, data.interval_name, planted=truth is not None)
    return figure
