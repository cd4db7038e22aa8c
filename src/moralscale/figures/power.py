"""What a width costs: intervals by number of judgments and share of bridge battles."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from moralscale.figures import style
from moralscale.records import Origin

CAPTION = (
    "Expected width of 94% intervals by judgments of a judge and share of bridge battles among "
    "them, at simulated judges."
)
_TITLES = {
    "beta": "\N{GREEK SMALL LETTER BETA}",
    "anchoring": "anchoring contrast, Elo",
    "residual": "foundation residual, Elo",
}


@style.styled
def draw(table: pd.DataFrame) -> Figure:
    """Draw widths; `table` as `power.power_table` returns it."""
    figure = style.canvas(Origin.SIMULATED, style.PAGE, 2.9)
    axes = figure.subplots(1, len(_TITLES))
    for ax, (name, title) in zip(axes, _TITLES.items(), strict=True):
        for (share, rows), colour in zip(table.groupby("share"), style.CYCLE, strict=False):
            ax.plot(rows["size"], rows[name], color=colour, marker="o", ms=3, label=f"{share:.0%}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        sizes = sorted(table["size"].unique())
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        low, high = table[name].min(), table[name].max()
        ticks = [t for t in (0.05, 0.1, 0.2, 0.3, 0.5, 1, 5, 10, 20, 30, 50, 100, 200)]
        kept = [t for t in ticks if 0.8 * low <= t <= 1.25 * high]
        ax.set_yticks(kept, [f"{t:g}" for t in kept])
        ax.minorticks_off()
        ax.set_title(title)
        ax.set_xlabel("judgments of a judge")
    axes[0].set_ylabel("width of 94% interval")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, title="bridge battles", loc="outside lower center", ncols=len(labels)
    )
    return figure
