"""Compression slope of every judge."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData
from moralscale.records import BetaMeaning

CAPTION = (
    "Compression slope beta of every judge and of the panel: 1 is adding, the dashed line is the "
    "study's published mean."
)
NEEDS = ("beta_judge",)


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw judges ordered by slope, the panel mean below them."""
    panel = "beta" in data.quantities and data.quantities.sizes["judge"] > 1
    n_rows = data.quantities.sizes["judge"] + 1.4 * panel
    figure = style.canvas(data.origin, widths.column, forest.height(int(np.ceil(n_rows))) + 0.15)
    ax = figure.add_subplot()
    forest.share(ax, data.reach("beta_judge", "beta"))
    names, rows = _judges(ax, data)
    if panel:
        rows.append(len(names) + 0.4)
        names.append("panel mean")
        _panel(ax, data, rows[-1])
    forest.label_rows(ax, rows, names)
    style.reference(ax, 1, "adding", side="left")
    for value in data.published_values("slope", "ratio").values():
        style.reference(ax, value, f"published {value:g}", side="right", dashed=True)
    ax.set_xlabel(f"compression slope \N{GREEK SMALL LETTER BETA}\n({BetaMeaning.of(data.data)})")
    forest.legend(ax, data.interval_name, planted=data.truth is not None)
    return figure


def _judges(ax: Axes, data: FigureData) -> tuple[list[str], list[float]]:
    summary = data.summary("beta_judge")
    order = np.argsort(-summary["mean"].values, kind="stable")
    rows = [float(row) for row in range(len(order))]
    forest.points(ax, rows, summary.isel(judge=order))
    truth = data.planted("beta_judge")
    forest.planted(ax, rows, None if truth is None else truth.isel(judge=order))
    return [str(name) for name in summary["judge"].values[order]], rows


def _panel(ax: Axes, data: FigureData, row: float) -> None:
    summary = data.summary("beta")
    forest.points(ax, [row], summary, colour=style.VERMILION, marker="s", size=24)
    forest.planted(ax, [row], data.planted("beta"))
