"""``moralscale compare``: composition rules side by side, from their posteriors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    posteriors: Annotated[
        list[Path], typer.Argument(help="posterior.nc of each fit, two or more.")
    ],
    draws: Annotated[int, typer.Option(min=100, help="Draws of each that are read.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the check by configuration.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the comparison, CSV.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the comparison (PDF, SVG, PNG).")
    ] = None,
) -> None:
    """Compare composition rules by PSIS-LOO.

    Fits of the same judgments, the best first, with stacking weights.

    Example: moralscale compare additive.nc compressed.nc
    """
    from moralscale.cli.printing import print_frame
    from moralscale.cli.targets import check_targets
    from moralscale.compare.ranking import compare_posteriors
    from moralscale.figures import TABLED, save
    from moralscale.posterior import origin_of
    from moralscale.posterior_file import load

    check_targets(out, figure, reads=posteriors)
    table = compare_posteriors(posteriors, draws=draws, seed=seed)
    # A terminal is narrow: the file has all columns.
    shown = table.drop(columns=["method", "rank", "p"])
    print_frame(shown, title="Rules by leave-one-out predictive density, the best first")
    if out:
        table.to_csv(out, index=False)
    if figure:
        origin = origin_of(load(posteriors[0]))
        save(TABLED["comparison"].draw(table, origin), figure.with_suffix(""))
