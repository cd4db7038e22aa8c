"""``moralscale archive``: a run as one file for deposit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def archive(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="File to write: .zip, .tar or .tar.gz.")],
    raw: Annotated[
        bool, typer.Option("--with-raw/--without-raw", help="Journals with what providers sent.")
    ] = True,
    licence: Annotated[
        str, typer.Option(help="URL of the licence of the data.")
    ] = "https://creativecommons.org/licenses/by/4.0/",
) -> None:
    """Pack a run for deposit, as a Workflow Run RO-Crate.

    With its inputs and the workflow that made it.

    Example: moralscale archive results/compressed --out compressed.zip
    """
    from moralscale.cli.targets import check_targets
    from moralscale.provenance import archive_run

    check_targets(out)
    files = archive_run(run, out, raw=raw, licence=licence)
    typer.echo(f"{out}: {files} files, {out.stat().st_size / 1e6:.1f} MB")
