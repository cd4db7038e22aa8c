"""Estimators against known truth: three views of the audit's table."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from moralscale.config import FigureWidths
from moralscale.figures import style
from moralscale.records import Origin

ESTIMATES = (
    "Mean estimate of beta (and two standard deviations over replicates) against the true one, at "
    "the study's size: two-step slopes hardly follow the truth (dashed), the joint estimator does."
)
BATTLES = (
    "Estimates of beta by battles per item, without bridge battles: what a two-step slope says "
    "depends on how many battles were fought (dashed: the truth)."
)
CONFOUNDING = (
    "Judges of the same beta that are less consistent on composites look as if they compressed, to "
    "every estimator, unless there are bridge battles (dashed: the true beta)."
)
_BETA = "\N{GREEK SMALL LETTER BETA}"
_NAMES = {
    "elo": ("Elo, as the study", style.VERMILION, "s"),
    "mle": ("maximum likelihood", style.ORANGE, "^"),
    "mle_split_half": ("the same, corrected for reliability", style.PURPLE, "v"),
    "joint_laplace": ("joint, Laplace", style.BLUE, "o"),
    "joint_nuts": ("joint, NUTS", style.SKY, "D"),
}
_STUDY_BATTLES = 15


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of beta at the first number of judges and without added choice noise."""
    judges = table["judges"].value_counts().index[0]
    kept = (table["target"] == "beta") & (table["choice_noise"] == 1) & (table["judges"] == judges)
    plain: pd.DataFrame = table[kept]
    return plain


def _by_estimator(table: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, str, str, str]]:
    for name, (label, colour, mark) in _NAMES.items():
        rows = table[table["estimator"] == name]
        if not rows.empty:
            yield rows, label, colour, mark


def _line(ax: Axes, rows: pd.DataFrame, x: str, label: str, colour: str, mark: str) -> None:
    rows = rows.drop_duplicates(x).sort_values(x)
    ax.errorbar(
        rows[x],
        rows["mean"],
        yerr=2 * rows["sd"],
        color=colour,
        marker=mark,
        markersize=4,
        linewidth=1,
        elinewidth=0.8,
        label=label,
    )


@style.styled
def draw_estimates(table: pd.DataFrame, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw estimates against truth; `table` is the audit's (`audit.tables.audit_table`)."""
    rows = _plain(table)
    rows = rows[(rows["battles_per_item"] == _STUDY_BATTLES) & (rows["composite_consistency"] == 1)]
    figure = style.canvas(Origin.SIMULATED, widths.page, 3.1)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, bridge in zip(axes, (False, True), strict=True):
        ax.set_title("with bridge battles" if bridge else "the study's two arenas")
        ends = rows["true_beta"].min(), rows["true_beta"].max()
        ax.plot(ends, ends, color=style.MUTED, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)
        for found, label, colour, mark in _by_estimator(rows[rows["bridge"] == bridge]):
            _line(ax, found, "true_beta", label, colour, mark)
        ax.set_xlabel(f"true {_BETA}")
    axes[0].set_ylabel(f"estimated {_BETA}")
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


@style.styled
def draw_battles(table: pd.DataFrame, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw estimates by battles per item; `table` is the audit's."""
    rows = _plain(table)
    rows = rows[~rows["bridge"] & (rows["composite_consistency"] == 1)]
    counts = rows.groupby("true_beta")["battles_per_item"].nunique()
    betas = [beta for beta, n in counts.items() if n > 1] or list(counts.index[:1])
    figure = style.canvas(Origin.SIMULATED, widths.page, 3.1)
    axes = figure.subplots(1, len(betas), sharey=True, squeeze=False)[0]
    for ax, beta in zip(axes, betas, strict=True):
        ax.set_title(f"true {_BETA} {beta:g}")
        ax.axhline(beta, color=style.MUTED, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)
        for found, label, colour, mark in _by_estimator(rows[rows["true_beta"] == beta]):
            _line(ax, found, "battles_per_item", label, colour, mark)
        ax.set_xscale("log")
        ticks = sorted(rows["battles_per_item"].unique())
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        ax.minorticks_off()
        ax.set_xlabel("battles per item and judge")
    axes[0].set_ylabel(f"estimated {_BETA}")
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


@style.styled
def draw_confounding(table: pd.DataFrame, *, widths: FigureWidths = style.WIDTHS) -> Figure:
    """Draw estimates by consistency on composites; `table` is the audit's."""
    rows = _plain(table)
    rows = rows[rows["battles_per_item"] == _STUDY_BATTLES]
    beta = rows["true_beta"].iloc[(rows["true_beta"] - 0.862).abs().argmin()]
    rows = rows[rows["true_beta"] == beta]
    figure = style.canvas(Origin.SIMULATED, widths.page, 3.1)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, bridge in zip(axes, (False, True), strict=True):
        ax.set_title("with bridge battles" if bridge else "the study's two arenas")
        ax.axhline(beta, color=style.MUTED, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)
        for found, label, colour, mark in _by_estimator(rows[rows["bridge"] == bridge]):
            _line(ax, found, "composite_consistency", label, colour, mark)
        ax.set_xlabel("true consistency on composites")
    axes[0].set_ylabel(f"estimated {_BETA}; true {beta:g}")
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
