"""Where comparisons are missing, by what they show."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from moralscale.figures import style
from moralscale.records import FOUNDATIONS, INTENSITIES, Origin

CAPTION = (
    "Share of planned comparisons that no fit reads (declined, unreadable, tied or unanswered), "
    "among those that show an act of each foundation and intensity; p is Holm's adjusted p-value "
    "of what was declined depending on foundation (f) or intensity (i)."
)
#: Most judges that are drawn: those with most missing.
MOST, _COLUMNS = 10, 5
_SHADES = LinearSegmentedColormap.from_list("missing", ["#FFFFFF", style.VERMILION])


@style.styled
def draw(counts: pd.DataFrame, tests: pd.DataFrame, origin: Origin | None) -> Figure:
    """Draw one map a judge, those with most missing first.

    Parameters
    ----------
    counts, tests : DataFrame
        As `missingness.count_missing` and `missingness.content_tests` return them.
    origin : Origin or None
        Marks simulated data.
    """
    totals = counts.groupby("judge")[["planned", "used"]].sum()
    share = (1 - totals["used"] / totals["planned"]).sort_values(ascending=False, kind="stable")
    judges = [str(judge) for judge in share[share > 0].index[:MOST]]
    if not judges:
        return style.statement(origin, "No comparison is missing.")
    maps = {judge: _shares(counts[counts["judge"] == judge]) for judge in judges}
    top = max(float(np.nanmax(values)) for values in maps.values())
    columns = min(_COLUMNS, len(judges))
    rows = -(-len(judges) // columns)
    figure = style.canvas(origin, max(style.COLUMN, 1.35 * columns + 1.1), 1.75 * rows + 0.45)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    norm = Normalize(0, top)
    for n, ax in enumerate(axes.flat):
        if n >= len(judges):
            ax.set_axis_off()
            continue
        ax.imshow(maps[judges[n]], cmap=_SHADES, norm=norm, aspect="auto")
        ax.set_title(f"{judges[n]}\n{_verdict(tests[tests['judge'] == judges[n]])}", fontsize=7)
        _label(ax, maps[judges[n]])
    bar = figure.colorbar(ScalarMappable(norm, _SHADES), ax=axes, fraction=0.04, aspect=25)
    bar.set_label("share not read")
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    figure.supxlabel("intensity", fontsize=8)
    return figure


def _shares(counts: pd.DataFrame) -> np.ndarray:
    """Share not used by foundation and intensity, over arenas: (foundation, intensity)."""
    sums = counts.groupby(["foundation", "intensity"])[["planned", "used"]].sum()
    share = (1 - sums["used"] / sums["planned"]).unstack()
    return share.reindex(index=list(FOUNDATIONS), columns=list(INTENSITIES)).to_numpy(dtype=float)


def _label(ax: Axes, values: np.ndarray) -> None:
    ax.set_xticks(
        range(len(INTENSITIES)), [style.signed(f"{i:+d}" if i else "0") for i in INTENSITIES]
    )
    ax.set_yticks(range(len(FOUNDATIONS)), list(FOUNDATIONS))
    ax.tick_params(length=0)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ax.text(column, row, f"{value:.0%}".rstrip("%"), ha="center", va="center", fontsize=5.5)


def _verdict(tests: pd.DataFrame) -> str:
    declined = tests[tests["kind"] == "declined"].set_index("content")["p_adjusted"]
    if declined.isna().all():
        return "nothing declined"
    told = [f"p({str(name)[0]}) {_p(value)}" for name, value in declined.items()]
    return ", ".join(told)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def any_missing(counts: pd.DataFrame) -> bool:
    """Whether there is anything to draw."""
    return bool((counts["used"] < counts["planned"]).any())
