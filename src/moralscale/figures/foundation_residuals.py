"""What each foundation adds to a composite beyond the line."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData

CAPTION = (
    "Mean deviation from the composition line over the composites with each foundation, mean over "
    "judges, beside the published values of loyalty and care."
)
NEEDS = ("foundation_residual",)


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw one row a foundation, in Elo points."""
    summary = data.summary("foundation_residual", elo=True)
    present = np.isfinite(summary["mean"].values)
    summary = summary.isel(foundation=present)
    names = [str(name) for name in summary["foundation"].values]
    rows = [float(row) for row in range(len(names))]
    figure = style.canvas(data.origin, widths.column, forest.height(len(names)) + 0.3)
    ax = figure.add_subplot()
    forest.share(ax, data.reach("foundation_residual", elo=True))
    colours = style.foundation_colours([str(name) for name in data.quantities["foundation"].values])
    forest.points(ax, rows, summary, colour=[colours[name] for name in names], size=24)
    published = data.published_values("foundation_residual", "elo")
    for row, name in zip(rows, names, strict=True):
        if name in published:
            ax.plot(published[name], row, zorder=3.5, **forest.PUBLISHED)
    truth = data.planted("foundation_residual", elo=True)
    forest.planted(ax, rows, None if truth is None else truth.isel(foundation=present))
    style.reference(ax, 0, "on the line")
    forest.label_rows(ax, rows, names)
    ax.set_xlabel("deviation from the line (Elo points)")
    forest.legend(ax, data.interval_name, planted=truth is not None, published=bool(published))
    return figure
