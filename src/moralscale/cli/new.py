"""``moralscale new``: a project of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; new or empty.")],
) -> None:
    """Make a folder with a run of your own that works at once.

    Config, scenes, judges, prompts and priors in it are yours to change; its README says how.

    Example: moralscale new my-run
    """
    import shlex

    from moralscale.scaffold import new_project

    files = new_project(folder)
    typer.echo(f"wrote {len(files)} files to {folder}; next:")
    typer.echo(f"  cd {shlex.quote(str(folder))}")
    typer.echo("  moralscale doctor")
    typer.echo("  snakemake --cores all")
