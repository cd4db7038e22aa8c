"""Ranks of truths among posterior draws: their ECDF, less the uniform one."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from moralscale.calibration.summary import rank_ecdf
from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "ECDF of the ranks of prior truths among posterior draws, less the uniform one, with "
    "simultaneous 94% bands: inside the band, intervals are calibrated."
)
_COLUMNS = 4


@style.styled
def draw(replicates: pd.DataFrame, origin: Origin | None = Origin.SIMULATED) -> Figure:
    """Draw the replicates of simulation-based calibration that passed their gates."""
    groups = list(replicates[replicates["passed"]].groupby(["quantity", "index"], sort=False))
    lines = math.ceil(len(groups) / _COLUMNS)
    figure = style.canvas(origin, style.PAGE, 1.35 * lines + 0.3)
    axes = figure.subplots(lines, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, ((quantity, index), here) in zip(axes, groups, strict=False):
        points, ecdf, low, high = rank_ecdf(here["rank"].to_numpy())
        ax.fill_between(points, low - points, high - points, color=style.FAINT, alpha=0.5, lw=0)
        ax.plot(points, ecdf - points, color=style.BLUE)
        ax.set_title(f"{quantity} {index}".strip().replace("_", " "))
    for ax in axes[len(groups) :]:
        ax.set_axis_off()
    figure.supxlabel("rank as a share", fontsize=8)
    figure.supylabel("ECDF less uniform", fontsize=8)
    return figure
