"""``moralscale estimate``: what a run would cost."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """How the estimate is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def estimate(
    config: Annotated[Path, typer.Argument(help="Configuration of the run.")],
    form: Annotated[Form, typer.Option("--format", help="How to print.")] = Form.TABLE,
) -> None:
    """Reckon what a run would cost; nothing is sent.

    Judgments, tokens and cost of every real judge; no key is needed.

    Example: moralscale estimate config/frontier.yaml
    """
    from moralscale.config import read_config
    from moralscale.estimate import estimate_cost, to_table
    from moralscale.estimate_text import as_text

    settings = read_config(config)
    found = estimate_cost(settings)
    if form is Form.TABLE:
        typer.echo(as_text(settings, found), nl=False)
    elif form is Form.CSV:
        typer.echo(to_table(found).to_csv(index=False), nl=False)
    else:
        typer.echo(to_table(found).to_json(orient="records", indent=1))
