"""A summary as text: for terminals, spreadsheets, programs, LaTeX and Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
from rich.console import Console
from rich.table import Table

from moralscale.errors import ConfigError, suggestion
from moralscale.inspection import printed, printed_judges
from moralscale.records import Origin


def render(table: pd.DataFrame, form: str) -> str:
    """Write a summary in one of the forms of `FORMS`.

    Parameters
    ----------
    table : DataFrame
        As `inspection.summary` returns it.
    form : {"table", "csv", "json", "latex", "md"}
        ``csv`` and ``json`` hold numbers in full, the others as a reader sees them.

    Raises
    ------
    ConfigError
        There is no such form.
    """
    if form not in FORMS:
        raise ConfigError(f"unknown format '{form}'", mend=suggestion(form, FORMS))
    return FORMS[form](table)


def _terminal(table: pd.DataFrame) -> str:
    console = Console(highlight=False)
    with console.capture() as captured:
        for part, title in zip(_parts(table), (heading(table), "Judges"), strict=False):
            console.print(_grid(part, title))
            console.print()
        if table.attrs.get("meaning"):
            console.print(f"What beta means here: {table.attrs['meaning']}")
    return captured.get()


def _parts(table: pd.DataFrame) -> list[pd.DataFrame]:
    return [part for part in (printed(table), printed_judges(table)) if len(part)]


def _grid(cells: pd.DataFrame, title: str) -> Table:
    grid = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for place, name in enumerate(cells):
        grid.add_column(str(name), justify="right" if place else "left", no_wrap=bool(place))
    for row in cells.itertuples(index=False):
        grid.add_row(*row)
    return grid


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False)


def _json(table: pd.DataFrame) -> str:
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    return json.dumps({**table.attrs, "quantities": rows}, indent=1) + "\n"


def _latex(table: pd.DataFrame) -> str:
    return f"% {heading(table)}\n" + "\n".join(map(latex_table, _parts(table)))


def latex_table(cells: pd.DataFrame) -> str:
    """Set texts as a LaTeX table of the package booktabs, numbers on the right."""
    columns = "l" + "r" * (cells.shape[1] - 1)
    return cells.to_latex(index=False, escape=True, column_format=columns)


def _markdown(table: pd.DataFrame) -> str:
    return f"**{_cell(heading(table))}**\n\n" + "\n".join(map(_pipes, _parts(table)))


def _pipes(cells: pd.DataFrame) -> str:
    ruler = [":--", *["--:"] * (cells.shape[1] - 1)]
    lines = [list(cells.columns), ruler, *cells.to_numpy().tolist()]
    return "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def heading(table: pd.DataFrame) -> str:
    """Name the fit, and mark simulated data."""
    told = table.attrs
    fit = "/".join(told[name] for name in ("data", "rule", "prior") if told.get(name))
    parts = [told.get("run") or "a fit", fit, told.get("origin")]
    line = ", ".join(part for part in parts if part)
    return line + " data" if told.get("origin") == Origin.SIMULATED else line


FORMS: dict[str, Callable[[pd.DataFrame], str]] = {
    "table": _terminal,
    "csv": _csv,
    "json": _json,
    "latex": _latex,
    "md": _markdown,
}
