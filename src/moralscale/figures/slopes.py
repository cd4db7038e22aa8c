"""The slope of every judge by every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.records import Origin

CAPTION = (
    "Slope of composite strength on component sum by the study's two-step estimators and by the "
    "joint model: intervals of two steps tell what other battles would have changed, not how far "
    "the estimator is from the truth."
)
NAMES = {
    "elo": "Elo, two steps",
    "elo_averaged": "Elo over many orders",
    "mle": "maximum likelihood, two steps",
    "mle_split_half": "the same, corrected for reliability",
    "joint_study": "joint model, the study's two arenas",
    "joint_bridged": "joint model, with the bridge arena",
}
_COLOURS = dict(
    zip(
        NAMES,
        (style.ORANGE, style.VERMILION, style.PURPLE, style.SKY, style.GREEN, style.BLUE),
        strict=True,
    )
)
_ROW = 0.07  # inches an estimator takes


@style.styled
def draw(
    table: pd.DataFrame,
    origin: Origin | None = None,
    *,
    ci_prob: float = 0.94,
    widths: FigureWidths = style.WIDTHS,
) -> Figure:
    """Draw a group of estimates for each judge, by the last of them, and for the mean over judges.

    Parameters
    ----------
    table : DataFrame
        As `study.study_table` makes it; its rows ``slope`` and ``slope_judge`` are drawn.
    origin : Origin or None
        Marks simulated data.
    ci_prob : float
        Probability inside the intervals.
    """
    from moralscale.study import estimators_of  # slow, and no other figure needs it

    rows = table[table["quantity"].isin(["slope", "slope_judge"])]
    panel = rows["quantity"] == "slope"
    names = sorted(estimators_of(table), key=_place)
    judges = rows[~panel].sort_values(names[-1], ascending=False, kind="stable")
    rows = pd.concat([judges, rows[panel]]) if len(rows) > 2 else judges
    height = min((len(names) + 1.5) * _ROW * len(rows), 8.5)
    figure = style.canvas(origin, widths.wide, height + 0.55 + 0.16 * (len(names) + 2))
    ax = figure.add_subplot()
    centre = np.arange(len(rows), dtype=float)
    for place, name in enumerate(names):
        shift = (place - (len(names) - 1) / 2) / (len(names) + 1.5)
        _estimator(ax, rows, name, centre + shift)
    if rows["truth"].notna().any():
        style_of = {**style.PLANTED, "marker": "|", "markersize": 0.72 * 72 * height / len(rows)}
        ax.plot(rows["truth"], centre, linestyle="none", zorder=1, **style_of)
    forest.label_rows(ax, list(centre), [index or "mean" for index in rows["index"]])
    style.reference(ax, 1, "adding", side="left")
    for value in table.loc[table["quantity"] == "slope", "published"].dropna():
        style.reference(ax, value, f"published {value:g}", side="right", dashed=True)
    ax.set_xlabel("slope of composite strength on component sum")
    _legend(figure, names, ci_prob, planted=bool(rows["truth"].notna().any()))
    return figure


def _estimator(ax: Axes, rows: pd.DataFrame, name: str, places: np.ndarray) -> None:
    colour = _colour(name)
    ax.hlines(places, rows[f"{name}_low"], rows[f"{name}_high"], color=colour, lw=1, zorder=2)
    ax.scatter(rows[name], places, c=colour, marker=_marker(name), s=9, linewidths=0, zorder=3)


def _place(name: str) -> int:
    """Place in reading order; what is not known comes last."""
    known = [place for place, key in enumerate(NAMES) if name.startswith(key)]
    return max(known, default=len(NAMES))


def _colour(name: str) -> str:
    known = [key for key in _COLOURS if name.startswith(key)]
    return _COLOURS[max(known, key=len)] if known else style.MUTED


def _marker(name: str) -> str:
    return "o" if name.startswith("joint") else "s"


def _legend(figure: Figure, names: list[str], ci_prob: float, *, planted: bool) -> None:
    entry: dict[str, Any] = {"markersize": 3.5, "linestyle": "solid"}
    handles = [
        style.marker(
            NAMES.get(name, name.replace("_", " ")),
            marker=_marker(name),
            color=_colour(name),
            **entry,
        )
        for name in names
    ]
    if planted:
        handles.append(style.marker("planted", **{**style.PLANTED, "marker": "|", "markersize": 9}))
    title = f"estimate and {ci_prob:.0%} interval"
    figure.legend(
        handles=handles, loc="outside lower center", ncols=2, title=title, title_fontsize=7
    )
