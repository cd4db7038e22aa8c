"""How far judges agree on composites."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.figures.data import FigureData

CAPTION = (
    "Correlation of latent composite strengths between judges (posterior means, judges ordered by "
    "their mean agreement), and its mean over pairs of judges beside the published one."
)
NEEDS = ("correlation", "convergence")
_MOST_NUMBERED = 12
_MOST_NAMED = 30
_FEWEST_IN_MATRIX = 3


@style.styled
def draw(data: FigureData, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw the matrix of judges and the mean with its interval.

    With one judge there is nothing to correlate; the figure then says so.
    """
    if "correlation" not in data.quantities:
        return style.statement(data.origin, "One judge: agreement needs at least two.")
    if data.quantities.sizes["judge"] < _FEWEST_IN_MATRIX:
        figure = style.canvas(data.origin, widths.wide, forest.height(1))
        mean_ax = figure.add_subplot()
    else:
        figure = style.canvas(data.origin, widths.wide, 0.86 * widths.wide + 0.6)
        matrix_ax, mean_ax = figure.subplots(2, 1, height_ratios=[10, 1])
        _matrix(figure, matrix_ax, data)
    _mean(mean_ax, data)
    forest.legend(mean_ax, data.interval_name, planted=data.truth is not None)
    return figure


def _matrix(figure: Figure, ax: Axes, data: FigureData) -> None:
    correlation = data.quantities["correlation"].mean(("chain", "draw"))
    values = correlation.transpose("judge", "other_judge").values
    order = np.argsort(-values.sum(axis=0), kind="stable")
    values = values[np.ix_(order, order)]
    hidden = np.triu(np.ones_like(values, dtype=bool))
    shown = np.ma.masked_array(values, hidden)[1:, :-1]
    image = ax.imshow(shown, cmap=style.SHADES, vmin=shown.min(), vmax=shown.max(), aspect="equal")
    names = correlation["judge"].values[order]
    named = len(names) <= _MOST_NAMED
    ticks = range(len(names) - 1) if named else []
    ax.set_xticks(ticks, names[:-1] if named else [], rotation=90)
    ax.set_yticks(ticks, names[1:] if named else [])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if len(names) <= _MOST_NUMBERED:
        _numbers(ax, shown)
        return
    bar = figure.colorbar(image, ax=ax, shrink=0.6, aspect=18, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("correlation")


def _numbers(ax: Axes, shown: np.ma.MaskedArray) -> None:
    for (row, column), value in np.ndenumerate(shown.filled(np.nan)):
        if np.isfinite(value):
            text = style.signed(f"{value:.2f}".replace("0.", ".", 1))
            ax.text(column, row, text, ha="center", va="center", fontsize=6.5)


def _mean(ax: Axes, data: FigureData) -> None:
    forest.share(ax, data.reach("convergence"))
    forest.points(ax, [0.0], data.summary("convergence"), colour=style.VERMILION, size=24)
    forest.planted(ax, [0.0], data.planted("convergence"))
    for value in data.published_values("convergence", "correlation").values():
        style.reference(ax, value, f"published {value:g}", dashed=True)
    forest.label_rows(ax, [0.0], ["mean over pairs"])
    ax.set_xlabel("correlation of composite strengths between judges")
