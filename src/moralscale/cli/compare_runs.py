"""``moralscale compare-runs``: two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moralscale.cli.formats import Format, FormatOption


def compare_runs(
    a: Annotated[Path, typer.Argument(help="Folder of a run.")],
    b: Annotated[Path, typer.Argument(help="Folder of another.")],
    fit: Annotated[str | None, typer.Option(help="Fit of both, such as bridged.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a table and a figure.")] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Print what differs between two runs.

    Every key quantity of both, the difference, and how sure that is.

    Example: moralscale compare-runs results/noisy-additive results/compressed
    """
    from moralscale.markup import render
    from moralscale.run_comparison import compare_runs as compared
    from moralscale.run_comparison import sheet
    from moralscale.runs import open_run

    table = compared(open_run(a), open_run(b), fit=fit)
    typer.echo(render(sheet(table), form), nl=False)
    if out is not None:
        from moralscale.figures.runs import save_comparison

        save_comparison(table, out)
