"""Observed judgments against what the fitted model predicts of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.records import Origin

CAPTION = (
    "Observed judgments (dots) against posterior predictive intervals (bars): share of wins of the "
    "option shown first by predicted log-odds, by arena and by judge; ratings of configurations; "
    "intransitive triples."
)
_ARENAS = {"single": style.BLUE, "composite": style.VERMILION, "bridge": style.GREEN}


@style.styled
def draw(
    table: pd.DataFrame, origin: Origin | None = None, *, widths: FigureWidths = style.WIDTHS
) -> Figure:
    """Draw a table of `checks.predicted.predictive_table`."""
    judges = int((table["statistic"] == "win rate by judge").sum())
    figure = style.canvas(origin, widths.page, 2.7 + 2.3 + 0.07 * max(0, judges - 12))
    axes = figure.subplot_mosaic(
        [["gap", "judge"], ["config", "triples"]], width_ratios=[3, 2], height_ratios=[2.7, 2.3]
    )
    gap, judge, config, triples = axes.values()
    _gap(gap, table[table["statistic"] == "win rate by strength gap"])
    rates = table[table["statistic"].isin(["win rate by position", "win rate by judge"])]
    names = rates["group"].where(rates["group"] != "", rates["arena"] + " arena")
    _rows(judge, rates, list(names), 100)
    judge.set_xlabel("first chosen (%)")
    _configs(config, table[table["statistic"] == "elo by configuration"])
    cycles = table[table["statistic"] == "intransitive triples"]
    _rows(triples, cycles, [f"{name} arena" for name in cycles["arena"]], 1)
    triples.set_xlabel("intransitive triples")
    handles = [
        style.marker("observed", marker="o", markersize=4, color=style.INK),
        style.marker("predicted", linestyle="solid", linewidth=3, color=style.FAINT),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _gap(ax: Axes, rates: pd.DataFrame) -> None:
    reach = float(np.abs(rates["x"]).max()) * 1.1
    grid = np.linspace(-reach, reach, 100)
    ax.plot(grid, 100 * expit(grid), color=style.FAINT, linewidth=0.8, zorder=0)
    for arena, here in rates.groupby("arena", sort=False):
        colour = _ARENAS[str(arena)]
        ax.vlines(here["x"], 100 * here["low"], 100 * here["high"], color=colour, lw=3, alpha=0.35)
        ax.plot(
            here["x"], 100 * here["observed"], "o", ms=3.2, color=colour, label=f"{arena} arena"
        )
    ax.set_xlabel("predicted log-odds of the first")
    ax.set_ylabel("first chosen (%)")
    ax.legend(loc="upper left", borderaxespad=0, handletextpad=0.2)


def _rows(ax: Axes, table: pd.DataFrame, names: list[str], scale: float) -> None:
    rows = list(map(float, range(len(table))))
    ax.hlines(rows, scale * table["low"], scale * table["high"], color=style.FAINT, lw=3)
    ax.plot(scale * table["observed"], rows, "o", ms=3.5, color=style.INK)
    forest.label_rows(ax, rows, names)


def _configs(ax: Axes, ratings: pd.DataFrame) -> None:
    x = np.arange(len(ratings))
    ax.vlines(x, ratings["low"], ratings["high"], color=style.FAINT, lw=8)
    ax.plot(x, ratings["observed"], "o", ms=3, color=style.INK)
    ax.set_xticks(x, [style.signed(str(name)) for name in ratings["group"]], rotation=45)
    ax.set_xlabel("configuration")
    ax.set_ylabel("performance rating (Elo)")
