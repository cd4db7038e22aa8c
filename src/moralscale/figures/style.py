"""One style for every figure: sizes, colours, marks, and files that are the same every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from moralscale.config import FigureWidths
from moralscale.markup import NEGATIVE
from moralscale.printing import KEY
from moralscale.records import FOUNDATIONS, Origin

#: Widths of figures where no configuration says others.
WIDTHS = FigureWidths()
#: Okabe and Ito's colours, distinct to readers with any of the usual colour deficiencies.
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
INK, MUTED, PALE, FAINT = "#222222", "#6B6B6B", "#969696", "#BDBDBD"
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
#: Colours of the study's foundations, in every figure.
_OF_STUDY = dict(zip(FOUNDATIONS, (BLUE, ORANGE, VERMILION, GREEN, PURPLE), strict=True))
#: The two configurations of the anchoring contrast.
CONFIG_COLOURS = {"+2/-1": VERMILION, "+1/+1": BLUE}
#: Shades of maps, all of them light enough to print dark numbers on.
SHADES = LinearSegmentedColormap.from_list("shades", ["#F3F9FD", SKY])
MINUS = "\N{MINUS SIGN}"

_STRIP = 0.2  # inches kept free at the top for the corner label
_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "lines.linewidth": 1.2,
    "svg.hashsalt": "moralscale",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def context() -> AbstractContextManager[None]:
    """Matplotlib settings of the style, for as long as the context lasts."""
    settings: dict[Any, Any] = {**matplotlib.rcParamsDefault, **_RC}
    return matplotlib.rc_context(settings)


def styled[**P](draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw inside `context`."""

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with context():
            return draw(*args, **kwargs)

    return inside


def canvas(origin: Origin | None, width: float, height: float) -> Figure:
    """Make an empty figure; simulated data is marked in its top right corner.

    Parameters
    ----------
    origin : Origin or None
        Where the judgments come from.
    width, height : float
        Inches. The label's strip is added to the height.
    """
    simulated = origin is Origin.SIMULATED
    total = height + _STRIP * simulated
    layout = ConstrainedLayoutEngine(rect=(0, 0, 1, height / total))
    figure = Figure(figsize=(width, total), layout=layout)
    FigureCanvasAgg(figure)
    if simulated:
        figure.text(
            1 - 0.06 / width,
            1 - 0.06 / total,
            "simulated data",
            ha="right",
            va="top",
            fontsize=6.5,
            color=MUTED,
            style="italic",
        )
    return figure


def save(figure: Figure, stem: str | Path) -> tuple[Path, Path, Path]:
    """Write a figure as PDF, SVG and 300-dpi PNG; the same figure gives the same bytes.

    Parameters
    ----------
    figure : Figure
    stem : path
        Path without a suffix; missing folders are made.

    Returns
    -------
    tuple of Path
        The three files.
    """
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in undated]
    with context():
        for path, (kind, metadata) in zip(paths, undated.items(), strict=True):
            figure.savefig(path, format=kind, dpi=300, metadata=metadata)
    return paths[0], paths[1], paths[2]


def statement(origin: Origin | None, text: str, *, widths: FigureWidths = WIDTHS) -> Figure:
    """Make a figure that says in words why there is nothing to draw."""
    figure = canvas(origin, widths.column, 0.8)
    figure.text(0.5, 0.4, text, ha="center", va="center", color=MUTED)
    return figure


def foundation_colours(names: Sequence[str]) -> dict[str, str]:
    """Colour of each foundation: the study's keep theirs, others take what is left over."""
    free = cycle([c for c in (*CYCLE, MUTED) if c not in {_OF_STUDY.get(name) for name in names}])
    return {name: _OF_STUDY.get(name) or next(free) for name in names}


def signed(text: str) -> str:
    """Typeset the hyphens of negative numbers as minus signs: ``"+2/-1"``."""
    return NEGATIVE.sub(MINUS, text)


def quantity_name(quantity: str, index: str = "") -> str:
    """Name a quantity as tables do, without its unit: ``"residual of care"``."""
    labels = {name: label for name, _, label in KEY}
    label = labels.get(quantity, quantity.replace("_", " "))
    return signed(f"{label} {index}".strip())


def wrapped(text: str, inches: float) -> str:
    """Break a panel's title into lines of at most that width."""
    return fill(text, int(15 * inches))


def marker(label: str, **properties: Any) -> Line2D:
    """One entry of a legend."""
    return Line2D([], [], label=label, **{"linestyle": "none", **properties})


def planted_marker() -> Line2D:
    """Legend entry of planted truths."""
    return marker("planted", **PLANTED)


#: Planted truths: hollow diamonds, on top of everything.
PLANTED: dict[str, Any] = {
    "marker": "D",
    "markersize": 4.2,
    "markerfacecolor": "none",
    "markeredgecolor": INK,
    "markeredgewidth": 0.8,
}


def reference(
    ax: Axes, value: float, label: str, *, side: str = "center", dashed: bool = False
) -> None:
    """Draw a vertical line with its name above the axes, aligned to the line by its `side`."""
    style = (0, (3, 2)) if dashed else "solid"
    ax.axvline(value, color=MUTED, linewidth=0.8, linestyle=style, zorder=0)
    ax.annotate(
        label,
        (value, 1),
        xycoords=("data", "axes fraction"),
        xytext=({"left": -2, "right": 2}.get(side, 0), 2),
        textcoords="offset points",
        ha=side,
        va="bottom",
        fontsize=7,
        color=MUTED,
    )
