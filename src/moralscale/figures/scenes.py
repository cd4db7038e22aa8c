"""Scene ratings by foundation and intensity label."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData
from moralscale.records import foundations_of, intensities_of

CAPTION = (
    "Rating of every scene (posterior mean over judges) by foundation and intensity label, with "
    "the mean of each cell."
)
NEEDS = ("scene_strength",)
_SPREAD = 0.24


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw one panel a foundation, one strip an intensity."""
    scenes = data.scenes.set_index("id")
    scenes["rating"] = data.summary("scene_strength", elo=True)["mean"].to_series()
    figure = style.canvas(data.origin, widths.page, 2.65)
    foundations = foundations_of(scenes["foundation"])
    intensities = intensities_of(scenes["intensity"])
    colours = style.foundation_colours(foundations)
    axes = figure.subplots(1, len(foundations), sharey=True)
    for ax, name in zip(axes, foundations, strict=True):
        ax.axhline(1000, color=style.FAINT, lw=0.6, zorder=0)
        _foundation(ax, scenes[scenes["foundation"] == name], colours[name])
        ax.set_title(name, loc="center")
        ax.set_xticks(intensities, [style.signed(f"{i:+d}") if i else "0" for i in intensities])
    forest.share(axes[0], data.reach("scene_strength", elo=True, means=True), axis="y")
    for ax in axes[1:]:
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    axes[0].set_ylabel("scene rating (Elo, mean 1000)")
    axes[len(axes) // 2].set_xlabel("intensity label")
    handles = [
        style.marker("scene", marker="o", markersize=3, color=style.MUTED),
        style.marker("anchor scene", marker="^", markersize=4.5, color=style.MUTED),
        style.marker("mean of the cell", linestyle="solid", linewidth=1.4, color=style.INK),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _foundation(ax: Axes, scenes: pd.DataFrame, colour: str) -> None:
    for intensity, cell in scenes.groupby("intensity"):
        cell = cell.sort_index()
        x = float(str(intensity)) + _SPREAD * np.linspace(-1, 1, len(cell)) * (len(cell) > 1)
        for anchor, marker in ((False, "o"), (True, "^")):
            here = (cell["anchor"] == anchor).to_numpy()
            ax.scatter(
                x[here],
                cell["rating"][here],
                s=20 if anchor else 9,
                marker=marker,
                facecolors=colour,
                alpha=1 if anchor else 0.55,
                linewidths=0,
            )
        mean = cell["rating"].mean()
        ax.hlines(mean, x.min() - 0.12, x.max() + 0.12, color=style.INK, lw=1.4, zorder=3)
