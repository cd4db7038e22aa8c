"""Tables for people, as the commands print them."""

from __future__ import annotations

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def print_checks(checks: pd.DataFrame) -> None:
    """Print a table of checks (`checks.to_table`): what failed stands out."""
    # The text holds quantity, value and bound; columns of their own would not fit in 80 characters.
    table = Table("check", "", "what was found", title="Checks")
    for row in checks.to_dict("records"):
        if str(row["text"]).startswith("warning: "):
            verdict = "[yellow]warning[/]"
        else:
            verdict = "[green]passed[/]" if row["passed"] else "[bold red]failed[/]"
        table.add_row(row["check"], verdict, escape(row["text"].removeprefix("warning: ")))
    _console().print(table)


def print_frame(frame: pd.DataFrame, *, title: str, digits: int = 3) -> None:
    """Print a data frame with numbers to `digits` significant digits."""
    table = Table(title=title)
    for name, column in frame.items():
        number = pd.api.types.is_numeric_dtype(column)
        table.add_column(str(name), justify="right" if number else "left")
    for row in frame.itertuples(index=False):
        table.add_row(*(escape(_text(value, digits)) for value in row))
    _console().print(table)


def _text(value: object, digits: int) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.{digits}g}"
    return str(value)


def _console() -> Console:
    """Make a console that folds tables at 80 characters on a terminal only."""
    console = Console()
    return console if console.is_terminal else Console(width=160)
