"""Composite rating by intensity sum, and the anchoring contrast."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.estimands import NO_ANCHORING
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData
from moralscale.records import configs_of

CAPTION = (
    "Mean composite rating by the sum of the two intensity labels: +2/\N{MINUS SIGN}1 composites "
    "(sum +1) against +1/+1 composites (sum +2) is the anchoring contrast; published ratings are "
    "on the study's own, compressed Elo scale, so compare their difference, not their level."
)
NEEDS = ("intensity_mean",)
#: The configurations of the contrast, by their intensity sum.
_CONTRAST = {1: "+2/-1", 2: "+1/+1"}


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw ratings with intervals over the intensity sums."""
    figure = style.canvas(data.origin, widths.wide, 3.5)
    ax = figure.add_subplot()
    forest.share(ax, data.reach("intensity_mean", elo=True), axis="y")
    _ratings(ax, data)
    for total, rating in data.published_values("intensity_mean", "elo").items():
        ax.plot(int(total), rating, marker="*", color=style.INK, markersize=7, ls="none", zorder=4)
    truth = data.planted("intensity_mean", elo=True)
    if truth is not None:
        ax.plot(truth["intensity_sum"], truth, ls="none", zorder=5, **style.PLANTED)
    _contrast(ax, data)
    _legend(ax, data)
    _ticks(ax, data)
    return figure


def _ratings(ax: Axes, data: FigureData) -> None:
    summary = data.summary("intensity_mean", elo=True)
    sums = summary["intensity_sum"].values
    ax.plot(sums, summary["mean"], color=style.FAINT, lw=0.8, zorder=1)
    for position, total in enumerate(sums):
        contrast = _CONTRAST.get(int(total), "") if "anchoring" in data.quantities else ""
        colour = style.CONFIG_COLOURS.get(contrast, style.MUTED)
        here = summary.isel(intensity_sum=position)
        ax.vlines(total, here["low"], here["high"], color=colour, lw=1.3, zorder=2)
        ax.scatter(total, here["mean"], s=24, c=colour, linewidths=0, zorder=3)


def _contrast(ax: Axes, data: FigureData) -> None:
    place: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "bottom"}
    if "anchoring" not in data.quantities:
        ax.text(0.98, 0.04, style.signed(NO_ANCHORING), color=style.MUTED, **place)
        return
    here = {key: float(value) for key, value in data.summary("anchoring", elo=True).items()}
    numbers = f"{here['mean']:+.0f} [{here['low']:+.0f}, {here['high']:+.0f}]"
    text = f"+2/-1 over +1/+1: {numbers} Elo"
    for value in data.published_values("anchoring", "elo").values():
        text += f"\npublished: {value:+.0f} Elo"
    truth = data.planted("anchoring", elo=True)
    text += "" if truth is None else f"\nplanted: {float(truth):+.0f} Elo"
    ax.text(0.98, 0.04, style.signed(text), **place)


def _legend(ax: Axes, data: FigureData) -> None:
    mean = f"posterior mean, {data.interval_name}"
    handles = [style.marker(mean, marker="o", markersize=4.5, ls="solid", color=style.MUTED)]
    if data.published_values("intensity_mean", "elo"):
        handles.append(style.marker("published", marker="*", markersize=7, color=style.INK))
    if data.truth is not None:
        handles.append(style.planted_marker())
    ax.legend(handles=handles, loc="upper left", borderaxespad=0)


def _ticks(ax: Axes, data: FigureData) -> None:
    totals = data.composites["intensity_a"] + data.composites["intensity_b"]
    configs = data.composites["config"].groupby(totals).unique()
    names = [
        "\n".join([f"{total:+d}" if total else "0", *configs_of(here)])
        for total, here in configs.items()
    ]
    ax.set_xticks(list(configs.index), [style.signed(name) for name in names])
    ax.set(xlabel="intensity sum, and the configurations that have it", ylabel="mean rating (Elo)")
