"""``moralscale verify``: is every file of a run what its manifest says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or an archive of one.")],
) -> None:
    """Check that the files of a run are what its manifest says.

    Computes the SHA-256 of each anew, and names those that differ.

    Example: moralscale verify results/compressed
    """
    from moralscale.errors import ProvenanceError, on_one_line
    from moralscale.provenance import verify as verified

    found = verified(run)
    for word in ("changed", "missing", "unlisted", "elsewhere"):
        for name in getattr(found, word):
            typer.echo(f"{word:10} {on_one_line(name)}")
    if not found.passed:
        wrong = len(found.changed) + len(found.missing) + len(found.unlisted)
        what = f"{wrong} files are not as the manifest says, {found.checked} are"
        mend = "`snakemake` makes them and the manifest anew"
        raise ProvenanceError(what, where=str(run), mend=mend)
    rest = f", {len(found.elsewhere)} inputs are not here" if found.elsewhere else ""
    typer.echo(f"{run}: all {found.checked} files are as the manifest says{rest}")
