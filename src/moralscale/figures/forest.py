"""Points with intervals, one row each: shared by the figures per judge and per foundation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from moralscale.figures import style

_ROW = 0.19  # inches
_TALLEST = 8.0
_SMALLEST_LABELLED = 0.11


def height(rows: int) -> float:
    """Inches that `rows` rows and an axis with label and legend take."""
    return min(_ROW * rows, _TALLEST) + 0.95


def points(
    ax: Axes,
    rows: Sequence[float],
    summary: xr.Dataset,
    *,
    colour: str | Sequence[str] = style.BLUE,
    marker: str = "o",
    size: float = 18,
) -> None:
    """Draw means and intervals: `summary` holds mean, low, high, (row,)."""
    mean, low, high = (np.atleast_1d(summary[key].values) for key in ("mean", "low", "high"))
    ax.hlines(rows, low, high, color=colour, linewidth=1.3, zorder=2)
    ax.scatter(mean, rows, c=colour, marker=marker, s=size, linewidths=0, zorder=3)


def share(ax: Axes, reach: tuple[float, float], *, axis: Literal["x", "y"] = "x") -> None:
    """Make room for what the figures beside this one show, so that they have the same scale."""
    corners = [(value, value) for value in reach]
    ax.update_datalim(corners, updatex=axis == "x", updatey=axis == "y")


def planted(ax: Axes, rows: Sequence[float], truth: xr.DataArray | None) -> None:
    """Draw planted truths as hollow diamonds, (row,)."""
    if truth is not None:
        ax.plot(np.atleast_1d(truth.values), rows, linestyle="none", zorder=4, **style.PLANTED)


def label_rows(ax: Axes, rows: Sequence[float], names: Sequence[str]) -> None:
    """Name the rows, the first at the top; too many to read are left without names."""
    readable = _TALLEST / max(len(names), 1) >= _SMALLEST_LABELLED
    ax.set_yticks(rows if readable else [], names if readable else [])
    ax.set_ylim(max(rows) + 0.7, min(rows) - 0.7)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def column(ax: Axes, rows: Sequence[float], texts: Sequence[str], heading: str) -> None:
    """Set texts in a column right of the axes, one a row."""
    style_of: dict[str, Any] = {"textcoords": "offset points", "color": style.MUTED}
    for row, text in zip(rows, texts, strict=True):
        at = ("axes fraction", "data")
        ax.annotate(text, (1, row), xycoords=at, xytext=(4, 0), va="center", **style_of)
    ax.annotate(heading, (1, 1), xycoords="axes fraction", xytext=(4, 2), **style_of)


def legend(ax: Axes, interval: str, *, planted: bool, published: bool = False) -> None:
    """Explain the marks below the axes."""
    handles = [
        style.marker(
            f"posterior mean, {interval}",
            marker="o",
            markersize=4,
            linestyle="solid",
            color=style.MUTED,
        )
    ]
    if published:
        handles.append(style.marker("published", **PUBLISHED))
    if planted:
        handles.append(style.planted_marker())
    ax.figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(handles),
        columnspacing=1.0,
        handletextpad=0.4,
        borderaxespad=0.2,
    )


#: Published values: a short upright stroke.
PUBLISHED: dict[str, Any] = {
    "marker": "|",
    "markersize": 9,
    "markeredgewidth": 1.6,
    "markeredgecolor": style.INK,
}
