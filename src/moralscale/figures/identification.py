"""What the bridge arena buys: two panels that look alike without it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "With the study's two arenas, judges that compress and judges that add but choose less "
    "consistently between composites give the same slope beta; battles of a scene against a "
    "composite (the bridge arena) tell them apart."
)
_QUANTITIES = {
    "beta": "compression slope \N{GREEK SMALL LETTER BETA}",
    "composite_consistency": "consistency of choices\nbetween composites",
}
_DATA = {"study": "The study's two arenas", "bridged": "With the bridge arena"}
_ROW = 0.34


@style.styled
def draw(
    estimates: pd.DataFrame,
    origin: Origin | None = Origin.SIMULATED,
    *,
    widths: FigureWidths = style.WIDTHS,
) -> Figure:
    """Draw beta and consistency of several runs, without and with the bridge arena.

    Parameters
    ----------
    estimates : DataFrame
        run, data ("study" or "bridged"), quantity ("beta" or "composite_consistency"), mean,
        hdi_low, hdi_high, truth (not a number where none was planted). The study's data have no
        estimate of the consistency: the figure says so. Of several fits of one run and data, the
        first is drawn.
    origin : Origin or None
        Marks simulated data.
    """
    estimates = estimates.drop_duplicates(["run", "data", "quantity"])
    runs = list(dict.fromkeys(estimates["run"]))
    data = [name for name in _DATA if (estimates["data"] == name).any()]
    height = len(data) * (_ROW * len(runs) + 0.6) + 0.75
    figure = style.canvas(origin, widths.page, height)
    axes = figure.subplots(
        len(data), len(_QUANTITIES), sharex="col", sharey=True, squeeze=False, width_ratios=[3, 2]
    )
    for line, name in zip(axes, data, strict=True):
        for ax, quantity in zip(line, _QUANTITIES, strict=True):
            here = estimates[(estimates["data"] == name) & (estimates["quantity"] == quantity)]
            _panel(ax, here, runs)
        line[0].set_title(_DATA[name], fontweight="bold", pad=14)
        line[0].annotate(
            _verdict(estimates[estimates["data"] == name]),
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 5),
            textcoords="offset points",
            color=style.MUTED,
        )
    _frame(axes, runs)
    style.reference(axes[0][0], 1, "adding")
    style.reference(axes[0][1], 1, "as between scenes")
    if estimates["truth"].notna().any():
        _legend(figure)
    return figure


def _verdict(estimates: pd.DataFrame) -> str:
    """Say how many of the planted slopes the intervals hold."""
    slopes = estimates[(estimates["quantity"] == "beta") & estimates["truth"].notna()]
    if slopes.empty:
        return ""
    found = slopes["truth"].between(slopes["hdi_low"], slopes["hdi_high"]).sum()
    return f"planted slope found for {found} of {len(slopes)} panels"


def _panel(ax: Axes, here: pd.DataFrame, runs: list[str]) -> None:
    ax.axvline(1, color=style.MUTED, lw=0.8, zorder=0)
    if here.empty:
        ax.text(
            0.5,
            0.5,
            "not identified:\nfixed at 1 by convention",
            transform=ax.transAxes,
            ha="center",
            va="center",
            color=style.MUTED,
            style="italic",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
        )
    for row, run in enumerate(runs):
        for _, found in here[here["run"] == run].iterrows():
            _estimate(ax, row, found, style.CYCLE[row % len(style.CYCLE)])


def _estimate(ax: Axes, row: int, found: pd.Series, colour: str) -> None:
    ax.hlines(row, found["hdi_low"], found["hdi_high"], color=colour, lw=2.4, zorder=2)
    ax.scatter(found["mean"], row, s=42, c=colour, linewidths=0, zorder=3)
    ax.annotate(
        f"{found['mean']:.2f}",
        (found["mean"], row),
        xytext=(0, 6),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=colour,
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )
    if pd.notna(found["truth"]):
        truth = found["truth"]
        if not found["hdi_low"] <= truth <= found["hdi_high"]:
            ax.plot([found["mean"], truth], [row, row], color=colour, lw=1, ls=(0, (1, 2)))
        diamond = {**style.PLANTED, "markersize": 7, "markeredgecolor": colour}
        ax.plot(truth, row, zorder=4, **{**diamond, "markeredgewidth": 1.2})


def _frame(axes: np.ndarray, runs: list[str]) -> None:
    for line in axes:
        line[0].set_yticks(range(len(runs)), [f"{run} judges" for run in runs])
        line[0].set_ylim(len(runs) - 0.5, -0.75)
        for row, name in enumerate(line[0].get_yticklabels()):
            name.set_color(style.CYCLE[row % len(style.CYCLE)])
        for ax in line:
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
    for ax, label in zip(axes[-1], _QUANTITIES.values(), strict=True):
        ax.set_xlabel(label)


def _legend(figure: Figure) -> None:
    handles = [
        style.marker(
            "posterior mean and interval", marker="o", ls="solid", lw=2, color=style.MUTED
        ),
        style.planted_marker(),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
