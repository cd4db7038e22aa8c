"""What differs between two runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from moralscale.config import FigureWidths
from moralscale.figures import style
from moralscale.printing import UNITS
from moralscale.records import Origin

CAPTION = "Key quantities of two runs, and the posterior of their differences."
_ROW, _AXIS, _FRAME = 0.26, 0.42, 0.7  # inches of a row, of a panel's axis, of the rest
#: Panels by unit: what shares an axis.
_PANELS = {
    "ratio": ("ratio",),
    "log-odds": ("log-odds", "sd"),
    "Elo": ("elo",),
    "correlation": ("correlation",),
}


@style.styled
def draw(table: pd.DataFrame, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw two runs beside each other, and b - a beside them.

    Parameters
    ----------
    table : DataFrame
        As `run_comparison.compare_runs` returns it.
    """
    told = table.attrs
    shown = table[table["quantity"] != "agreement"]
    panels = [
        (name, rows)
        for name, units in _PANELS.items()
        if len(rows := shown[shown["unit"].isin(units)])
    ]
    heights = [len(rows) for _, rows in panels]
    height = _ROW * sum(heights) + _AXIS * len(panels) + _FRAME
    origin = Origin.SIMULATED if _simulated(table) else None
    figure = style.canvas(origin, widths.page, height)
    axes = figure.subplots(
        len(panels), 2, squeeze=False, height_ratios=heights, width_ratios=[3, 2]
    )
    for (left, right), (name, rows) in zip(axes, panels, strict=True):
        _side_by_side(left, rows)
        _differences(right, rows)
        for ax in (left, right):
            ax.set_xlabel(name)
            ax.set_ylim(len(rows) - 0.5, -0.5)
            ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
    axes[0][0].set_title("Each run")
    axes[0][1].set_title(f"{told['b']}\nless {told['a']}")
    handles = [
        style.marker(told[run], marker=mark, color=colour, ls="solid")
        for run, (mark, colour, _) in _MARKS.items()
    ]
    title = f"posterior mean, {told['interval']}"
    figure.legend(
        handles=handles, loc="outside lower center", ncols=2, title=title, title_fontsize=7
    )
    return figure


def save_comparison(
    table: pd.DataFrame, folder: str | Path, *, widths: FigureWidths = style.WIDTHS
) -> None:
    """Write ``runs[.simulated].csv`` and the figure of that name into a folder."""
    stem = Path(folder, "runs.simulated" if _simulated(table) else "runs")
    style.save(draw(table, widths=widths), stem)
    table.to_csv(stem.with_name(f"{stem.name}.csv"), index=False)


def _simulated(table: pd.DataFrame) -> bool:
    return Origin.SIMULATED in (table.attrs["origin_a"], table.attrs["origin_b"])


_MARKS = {"a": ("o", style.BLUE, -0.14), "b": ("s", style.VERMILION, 0.14)}


def _side_by_side(ax: Axes, rows: pd.DataFrame) -> None:
    for place, (_, row) in enumerate(rows.iterrows()):
        for run, (mark, colour, shift) in _MARKS.items():
            at = place + shift
            ax.hlines(at, row[f"low_{run}"], row[f"high_{run}"], color=colour)
            ax.plot(row[f"mean_{run}"], at, marker=mark, color=colour, markersize=4)
    names = [
        style.signed(label.removesuffix(UNITS.get(unit, "")))
        for label, unit in zip(rows["label"], rows["unit"], strict=True)
    ]
    ax.set_yticks(range(len(rows)), names)


def _differences(ax: Axes, rows: pd.DataFrame) -> None:
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=0)
    for place, (_, row) in enumerate(rows.iterrows()):
        ax.hlines(place, row["low_difference"], row["high_difference"], color=style.INK)
        ax.plot(row["mean_difference"], place, marker="o", color=style.INK, markersize=4)
    ax.set_yticks([])
