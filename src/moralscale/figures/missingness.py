"""Where comparisons are missing, by what they show."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import style
from moralscale.records import Origin, foundations_of, intensities_of

CAPTION = (
    "Share (%) of planned comparisons that no fit reads (declined, unreadable, tied or unanswered) "
    "among those that show an act of each foundation and intensity; p is Holm's adjusted p-value "
    "of what was declined depending on foundation (f) or intensity (i)."
)
#: Most judges that are drawn: those with most missing.
MOST = 10
_MAP, _NAMES = 1.55, 0.75  # inches that a map and the names of its rows take


@style.styled
def draw(
    counts: pd.DataFrame,
    tests: pd.DataFrame,
    origin: Origin | None,
    *,
    widths: FigureWidths = style.WIDTHS,
) -> Figure:
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
    levels = foundations_of(counts["foundation"]), intensities_of(counts["intensity"])
    maps = {judge: _shares(counts[counts["judge"] == judge], *levels) for judge in judges}
    top = max(float(np.nanmax(values)) for values in maps.values())
    on_a_page = int((widths.page - _NAMES) / _MAP)
    columns = min(on_a_page, len(judges))
    rows = -(-len(judges) // columns)
    width = max(widths.column, widths.page * columns / on_a_page)
    figure = style.canvas(origin, width, 1.75 * rows + 0.3)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for n, ax in enumerate(axes.flat):
        if n >= len(judges):
            ax.set_axis_off()
            continue
        ax.imshow(maps[judges[n]], cmap=style.SHADES, vmin=0, vmax=top, aspect="auto")
        ax.set_title(f"{judges[n]}\n{_verdict(tests[tests['judge'] == judges[n]])}", fontsize=7)
        _label(ax, maps[judges[n]], *levels)
        # Below the last map of a column there may be none.
        ax.tick_params(labelbottom=n + columns >= len(judges))
    figure.supxlabel("intensity", fontsize=8)
    return figure


def _shares(counts: pd.DataFrame, rows: tuple[str, ...], columns: tuple[int, ...]) -> np.ndarray:
    """Share not used by foundation and intensity, over arenas: (foundation, intensity)."""
    sums = counts.groupby(["foundation", "intensity"])[["planned", "used"]].sum()
    share = (1 - sums["used"] / sums["planned"]).unstack()
    return share.reindex(index=list(rows), columns=list(columns)).to_numpy(dtype=float)


def _label(
    ax: Axes, values: np.ndarray, foundations: tuple[str, ...], intensities: tuple[int, ...]
) -> None:
    ax.set_xticks(
        range(len(intensities)), [style.signed(f"{i:+d}" if i else "0") for i in intensities]
    )
    ax.set_yticks(range(len(foundations)), list(foundations))
    ax.tick_params(length=0)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ax.text(column, row, f"{value:.0%}".rstrip("%"), ha="center", va="center", fontsize=6.5)


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
