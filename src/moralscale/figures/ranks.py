"""Ranks of truths among posterior draws: their ECDF, less the uniform one."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "ECDF of the ranks of prior truths among posterior draws, less the uniform one, with "
    "simultaneous 94% bands: inside the band, intervals are calibrated."
)
_COLUMNS = 4


@style.styled
def draw(
    replicates: pd.DataFrame,
    origin: Origin | None = Origin.SIMULATED,
    *,
    widths: FigureWidths = style.WIDTHS,
) -> Figure:
    """Draw the replicates of simulation-based calibration that passed their gates."""
    from moralscale.calibration.summary import rank_ecdf  # slow, and no other figure needs it

    groups = list(replicates[replicates["passed"]].groupby(["quantity", "index"], sort=False))
    lines = math.ceil(len(groups) / _COLUMNS)
    figure = style.canvas(origin, widths.page, 1.35 * lines + 0.3)
    axes = figure.subplots(lines, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, ((quantity, index), here) in zip(axes, groups, strict=False):
        points, ecdf, low, high = rank_ecdf(here["rank"].to_numpy())
        ax.fill_between(points, low - points, high - points, color=style.FAINT, alpha=0.5, lw=0)
        ax.axhline(0, color=style.MUTED, linewidth=0.6, zorder=1)
        ax.plot(points, ecdf - points, color=style.BLUE)
        title = style.quantity_name(str(quantity), str(index))
        ax.set_title(style.wrapped(title, widths.page / _COLUMNS), fontsize=7)
    for ax in axes[len(groups) :]:
        ax.set_axis_off()
    figure.supxlabel("rank as a share", fontsize=8)
    figure.supylabel("ECDF less uniform", fontsize=8)
    return figure
