"""``moralscale summary``: the answers of a posterior on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moralscale.cli.formats import Format, FormatOption


def summary(
    posterior: Annotated[
        Path, typer.Argument(help="A fit's posterior.nc, or the folder of a run.")
    ],
    form: FormatOption = Format.TABLE,
    judges: Annotated[bool, typer.Option(help="Rows for every judge.")] = True,
    ci_prob: Annotated[float, typer.Option(help="Probability inside intervals.")] = 0.94,
    ci_kind: Annotated[str, typer.Option(help="hdi or eti.")] = "hdi",
) -> None:
    """Print the answers of a posterior.

    Beta, residuals, anchoring, convergence and consistency, with intervals.

    Example: moralscale summary results/compressed --format md
    """
    from moralscale.config import Reporting, validate
    from moralscale.inspection import sheet
    from moralscale.inspection import summary as summarised
    from moralscale.markup import render
    from moralscale.runs import open_run

    reporting = validate(Reporting, {"ci_prob": ci_prob, "ci_kind": ci_kind}, source="options")
    source = open_run(posterior).posterior() if posterior.is_dir() else posterior
    table = summarised(source, reporting=reporting, judges=judges)
    typer.echo(render(sheet(table), form), nl=False)
