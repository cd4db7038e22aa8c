"""How far alternatives move the conclusions: all of them, and the posteriors under each prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import forest, style
from moralscale.printing import KEY
from moralscale.projections import in_elo
from moralscale.records import Origin

TORNADO = (
    "How far the mean of each quantity moves, in posterior sds, under other priors, other "
    "likelihoods and without single judges or foundations: outside the band it counts as moved, "
    "where data are left out if it is by more than chance, too."
)
OVERLAY = (
    "Posteriors of the main quantities under the prior of the fit and under each other one whose "
    "refit kept its gates."
)

_ROW, _FRAME = 0.21, 0.9  # inches
_KINDS = {
    "prior": (style.BLUE, "o", "another prior"),
    "model": (style.VERMILION, "s", "another likelihood"),
    "judge": (style.GREEN, "^", "without a judge"),
    "foundation": (style.PURPLE, "v", "without a foundation"),
    "prompt": (style.ORANGE, "D", "one prompt alone"),
}
#: How alternatives are told that are not told by their name alone.
_TOLD = {"judge": "without {}", "foundation": "without {}", "prompt": "{} alone"}
#: Marks farther out than this are drawn at the edge, as arrows.
_EDGE = 3.0
#: What the overlay shows, and residuals of two foundations: these, if the corpus has them.
_OVERLAID = ("beta", "composite_consistency", "alpha", "anchoring_adjusted")
_RESIDUALS = ("care", "loyalty")


@style.styled
def tornado(
    shifts: pd.DataFrame,
    origin: Origin | None,
    *,
    threshold: float,
    widths: FigureWidths = style.WIDTHS,
) -> Figure:
    """Draw the shift of every key quantity under every alternative.

    Parameters
    ----------
    shifts : DataFrame
        As `sensitivity.shifts` returns it; refits that failed their gates are left out.
    origin : Origin or None
        Marks simulated data.
    threshold : float
        Half-width of the band, posterior sds.
    """
    shown = shifts[shifts["passed"].astype(bool)]
    labels = list(dict.fromkeys(shown["label"]))
    farthest = shown.groupby("label")["shift"].apply(lambda column: column.abs().max())
    labels.sort(key=lambda label: -farthest[label])
    figure = style.canvas(origin, widths.page, _ROW * len(labels) + _FRAME)
    ax = figure.subplots()
    ax.axvspan(-threshold, threshold, color=style.FAINT, alpha=0.35, linewidth=0, zorder=0)
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=1)
    kinds = [kind for kind in _KINDS if (shown["kind"] == kind).any()]
    for row, label in enumerate(labels):
        here = shown[shown["label"] == label]
        inside = here["shift"].clip(-_EDGE, _EDGE)
        ax.hlines(row, min(0, inside.min()), max(0, inside.max()), color=style.FAINT, zorder=1)
        for kind in kinds:
            _marks(ax, row, here[here["kind"] == kind]["shift"].to_numpy(), kind)
    rows = list(map(float, range(len(labels))))
    moved_by = [_farthest(shown[shown["label"] == label]) for label in labels]
    forest.column(ax, rows, moved_by, "moved most by")
    forest.label_rows(ax, rows, [style.signed(label) for label in labels])
    reach = min(_EDGE, max(1.0, float(shown["shift"].abs().max()))) * 1.08
    ax.set_xlim(-reach, reach)
    ax.set_xlabel("shift of the mean, posterior sd")
    figure.legend(
        handles=[
            style.marker(_KINDS[kind][2], marker=_KINDS[kind][1], color=_KINDS[kind][0], ms=4)
            for kind in kinds
        ],
        loc="outside lower center",
        ncols=len(kinds),
    )
    return figure


def _marks(ax: Axes, row: int, shifts: np.ndarray, kind: str) -> None:
    colour, mark, _ = _KINDS[kind]
    for shift in shifts:
        beyond = abs(shift) > _EDGE
        ax.plot(
            np.clip(shift, -_EDGE, _EDGE),
            row,
            marker=(">" if shift > 0 else "<") if beyond else mark,
            color=colour,
            markersize=4.5 if beyond else 3.5,
            alpha=0.85,
            markeredgewidth=0,
            zorder=3,
        )


def _farthest(here: pd.DataFrame) -> str:
    """Name the alternative that moves a quantity most, and how far."""
    row = here.iloc[int(here["shift"].abs().argmax())]
    name = _TOLD.get(str(row["kind"]), "{}").format(row["alternative"]).replace("_", " ")
    return f"{name}, {style.signed(f'{row["shift"]:+.1f}')}"


@style.styled
def overlay(
    refits: Sequence[xr.DataTree], origin: Origin | None, *, widths: FigureWidths = style.WIDTHS
) -> Figure:
    """Draw posteriors of the main quantities under each prior.

    Parameters
    ----------
    refits : sequence of DataTree
        As `sensitivity.refits` yields them; those under other priors are drawn.
    origin : Origin or None
        Marks simulated data.
    """
    priors = [refit for refit in refits if refit.attrs["kind"] == "prior"]
    if not priors:
        return style.statement(origin, "no refit under another prior")
    have = priors[0]["base"].to_dataset()
    panels = [(name, "") for name in _OVERLAID if name in have]
    if "foundation_residual" in have:
        foundations = [str(name) for name in have["foundation"].values]
        shown = [name for name in _RESIDUALS if name in foundations] or foundations[:2]
        panels += [("foundation_residual", name) for name in shown]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = style.canvas(origin, widths.page, 1.75 * rows + 0.6)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax, (quantity, index) in zip(axes.flat, panels, strict=False):
        _densities(ax, priors, quantity, index)
        title = style.quantity_name(quantity, index)
        ax.set_title(style.wrapped(title, widths.page / columns))
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    handles = [style.marker("the fit", ls="solid", color=style.INK, lw=2)]
    handles += [
        style.marker(str(refit.attrs["alternative"]), ls=_line(place)[1], color=_line(place)[0])
        for place, refit in enumerate(priors)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))
    return figure


def _line(place: int) -> tuple[str, str]:
    """Colour and dashes of the refit at a place."""
    return style.CYCLE[place % len(style.CYCLE)], ("solid", "dashed")[place // len(style.CYCLE) % 2]


def _densities(ax: Axes, priors: Sequence[xr.DataTree], quantity: str, index: str) -> None:
    unit = next(unit for name, unit, _ in KEY if name == quantity)
    for place, refit in enumerate(priors):
        colour, dashes = _line(place)
        drawn = _draws(refit["alternative"].to_dataset()[quantity], index, unit)
        ax.plot(*_density(drawn), color=colour, linestyle=dashes, linewidth=0.9)
    drawn = _draws(priors[0]["base"].to_dataset()[quantity], index, unit)
    ax.plot(*_density(drawn), color=style.INK, linewidth=1.8, zorder=4)
    ax.set_xlabel("Elo" if unit == "elo" else unit)
    ax.set_yticks([])
    ax.set_ylim(0)
    ax.spines["left"].set_visible(False)


def _draws(draws: xr.DataArray, index: str, unit: str) -> np.ndarray:
    if index:
        draws = draws.sel({next(d for d in draws.dims if d not in ("chain", "draw")): index})
    rated = in_elo(draws) if unit == "elo" else None
    return (draws if rated is None else rated).values.ravel()


def _density(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import arviz_stats  # slow, and importing the figures should not be

    grid, density, _ = arviz_stats.kde(draws)
    return grid, density
