"""Composite strength against component sum: whether acts add up."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData
from moralscale.records import BetaMeaning

CAPTION = (
    "Composite strength against the sum of its component strengths (posterior means over judges): "
    "the diagonal is adding, the fitted line with its interval shows how far the judges fall short "
    "of it, and the two configurations of the anchoring contrast stand out."
)
NEEDS = ("composite_strength", "component_sum", "slope")


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw composites around the additivity line and the fitted line."""
    figure = style.canvas(data.origin, widths.wide, 0.9 * widths.wide)
    ax = figure.add_subplot()
    sums = data.summary("component_sum", elo=True)["mean"]
    forest.share(ax, data.reach("component_sum", elo=True, means=True))
    forest.share(ax, data.reach("composite_strength", elo=True, means=True), axis="y")
    _points(ax, data, sums)
    _lines(ax, data, np.array([float(sums.min()), float(sums.max())]))
    meaning = BetaMeaning.of(data.data)
    unit = f"\n{meaning}" if meaning is BetaMeaning.CHOICE_NOISE else ""
    ax.set(
        xlabel="sum of component strengths (Elo points)",
        ylabel=f"composite rating (Elo, mean 1000){unit}",
        aspect="equal",
    )
    ax.legend(loc="upper left", borderaxespad=0, handletextpad=0.4, labelspacing=0.35)
    return figure


def _points(ax: Axes, data: FigureData, sums: xr.DataArray) -> None:
    strengths = data.summary("composite_strength", elo=True)["mean"]
    config = data.composites.set_index("composite_id")["config"].reindex(sums["composite"].values)
    groups = {name: (config == name).to_numpy() for name in style.CONFIG_COLOURS}
    if not all(members.any() for members in groups.values()):  # no contrast to stand out
        groups = {}
    others = ~np.any([np.zeros(len(config), dtype=bool), *groups.values()], axis=0)
    ax.scatter(
        sums[others],
        strengths[others],
        s=11,
        c=style.PALE,
        linewidths=0,
        zorder=2.5,
        label="other composites" if groups else "composites",
    )
    for name, members in groups.items():
        ax.scatter(
            sums[members],
            strengths[members],
            s=18,
            c=style.CONFIG_COLOURS[name],
            edgecolors="white",
            linewidths=0.4,
            zorder=3,
            label=f"{style.signed(name)} composites",
        )


def _lines(ax: Axes, data: FigureData, ends: np.ndarray) -> None:
    """Both lines go through the mean composite; the slope's posterior makes the band."""
    low, high = ends * 1.04
    x = np.linspace(low, high, 60)
    centre = data.summary("component_sum", elo=True)["mean"].mean().item()
    ax.plot(
        x, 1000 + x - centre, color=style.MUTED, lw=0.9, ls=(0, (3, 2)), label="adding: slope 1"
    )
    draws = data.quantities["slope"] * xr.DataArray(x - centre, dims="x") + 1000
    band = data.interval(draws)
    slope = {key: float(value) for key, value in data.summary("slope").items()}
    ax.fill_between(x, band["low"], band["high"], color=style.GREEN, alpha=0.25, lw=0)
    label = f"fitted: slope {slope['mean']:.2f} [{slope['low']:.2f}, {slope['high']:.2f}]"
    ax.plot(x, band["mean"], color=style.GREEN, lw=1.4, label=label)
