"""``moralscale probe``: one question to each judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def probe(config: Annotated[Path, typer.Argument(help="Configuration of the run.")]) -> None:
    """Ask every real judge one question.

    A line a judge: settings taken, reasoning, tokens. What is found is kept in
    results/RUN/probe.json. Exit code 2 if a judge did not answer.

    Example: moralscale probe config/frontier.yaml
    """
    from moralscale.probe import probe_runs
    from moralscale.scripting import USER_ERROR

    found = [probe for probes in probe_runs(config).values() for probe in probes]
    for each in found:
        typer.echo(each.line())
    if any(each.error for each in found):
        raise typer.Exit(USER_ERROR)
