"""Composition rules side by side: how much worse than the best each foretells judgments."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "Expected log predictive density of every composition rule below the best one, with two "
    "standard errors of the difference, and its stacking weight: single judgments left out, and "
    "whole profiles held out."
)
_TITLES = {"loo": "single judgments left out (PSIS-LOO)", "kfold": "whole profiles held out"}


@style.styled
def draw(table: pd.DataFrame, origin: Origin | None = None) -> Figure:
    """Draw a table of `compare.rank`, or several stacked."""
    methods = [name for name in _TITLES if (table["method"] == name).any()]
    rows = table["rule"].nunique()
    width = style.PAGE if len(methods) > 1 else style.WIDE
    figure = style.canvas(origin, width, 0.24 * rows + 0.9)
    axes = figure.subplots(1, len(methods), squeeze=False)[0]
    for ax, name in zip(axes, methods, strict=True):
        _panel(ax, table[table["method"] == name].sort_values("rank"))
        ax.set_title(_TITLES[name])
    return figure


def _panel(ax: Axes, here: pd.DataFrame) -> None:
    rows = range(len(here))
    low, high = (here["elpd_diff"] + sign * 2 * here["dse"] for sign in (-1, 1))
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=0)
    ax.hlines(rows, low, high, color=style.BLUE, lw=1.3)
    ax.plot(here["elpd_diff"], rows, "o", ms=4, color=style.BLUE)
    for row, weight in zip(rows, here["weight"], strict=True):
        ax.annotate(
            f"{weight:.2f}",
            (1, row),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            color=style.MUTED,
        )
    ax.annotate(
        "weight",
        (1, 1),
        xycoords="axes fraction",
        xytext=(0, 2),
        textcoords="offset points",
        ha="left",
        color=style.MUTED,
    )
    ax.set_yticks(rows, here["rule"])
    ax.set_ylim(len(here) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("log predictive density below the best")
