"""Tables for people, as the commands print them."""

from __future__ import annotations

import pandas as pd
from rich.console import Console
from rich.table import Table


def print_checks(checks: pd.DataFrame) -> None:
    """Print a table of checks (`checks.to_table`): what failed stands out."""
    table = Table(title="Checks")
    for column in ("check", "quantity"):
        table.add_column(column, no_wrap=True)
    for column in ("value", "bound"):
        table.add_column(column, justify="right")
    table.add_column("")
    table.add_column("what was found")
    for row in checks.to_dict("records"):
        if str(row["text"]).startswith("warning: "):
            verdict = "[yellow]warning[/]"
        else:
            verdict = "[green]passed[/]" if row["passed"] else "[bold red]failed[/]"
        numbers = (f"{row[name]:.4g}" for name in ("value", "bound"))
        table.add_row(row["check"], row["quantity"], *numbers, verdict, row["text"])
    _console().print(table)


def print_frame(frame: pd.DataFrame, *, title: str, digits: int = 3) -> None:
    """Print a data frame with numbers to `digits` significant digits."""
    table = Table(title=title)
    for name, column in frame.items():
        number = pd.api.types.is_numeric_dtype(column)
        table.add_column(str(name), justify="right" if number else "left")
    for row in frame.itertuples(index=False):
        table.add_row(*(_text(value, digits) for value in row))
    _console().print(table)


def _text(value: object, digits: int) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.{digits}g}"
    return str(value)


def _console() -> Console:
    """Make a console that folds tables at 80 characters on a terminal only."""
    console = Console()
    return console if console.is_terminal else Console(width=160)
