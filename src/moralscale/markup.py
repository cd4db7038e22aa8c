"""Results as text: for terminals, spreadsheets, programs, LaTeX and Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from rich.console import Console
from rich.table import Table

from moralscale.errors import ConfigError, suggestion


@dataclass(frozen=True, eq=False)
class Sheet:
    """A result that can be printed.

    Attributes
    ----------
    heading : str
        What it is about, simulated data marked.
    parts : tuple of DataFrame
        Tables of texts as a reader sees them, the first column on the left.
    numbers : DataFrame
        The same in full, for programs; its ``attrs`` go along.
    note : str
        A sentence or two below.
    """

    heading: str
    parts: tuple[pd.DataFrame, ...]
    numbers: pd.DataFrame
    note: str = ""


#: Width to which labels of rows may be folded.
_LABEL = 20


def render(sheet: Sheet, form: str) -> str:
    """Write a sheet in one of the forms of `FORMS`.

    Parameters
    ----------
    sheet : Sheet
    form : {"table", "csv", "json", "latex", "md"}
        ``csv`` and ``json`` hold numbers in full, the others as a reader sees them.

    Raises
    ------
    ConfigError
        There is no such form.
    """
    if form not in FORMS:
        raise ConfigError(f"unknown format '{form}'", mend=suggestion(form, FORMS))
    return FORMS[form](sheet)


def _terminal(sheet: Sheet) -> str:
    width = Console().width
    parts = [_folded(part, width) for part in sheet.parts]
    # A column that is squeezed to nothing says less than a line that the terminal folds.
    console = Console(highlight=False, markup=False, width=max([width, *map(_least_width, parts)]))
    with console.capture() as captured:
        console.print(sheet.heading, style="bold")
        for part in parts:
            console.print()
            console.print(_grid(part))
        if sheet.note:
            console.print(f"\n{sheet.note}")
    return captured.get()


def _folded(cells: pd.DataFrame, width: int) -> pd.DataFrame:
    """Put intervals below their means where `width` is too small for both."""
    if sum(_widest(cells[name]) + 2 for name in cells) <= width:
        return cells
    return cells.map(lambda text: text.replace(" [", "\n["))


def _widest(column: pd.Series) -> int:
    lines = (line for text in column for line in str(text).split("\n"))
    return max(len(str(column.name)), *map(len, lines))


def _least_width(cells: pd.DataFrame) -> int:
    """Room for the words of the first column, folded, and for every number."""
    first, *others = (_widest(cells[name]) for name in cells)
    return min(_LABEL, first) + sum(width + 2 for width in others)


def _grid(cells: pd.DataFrame) -> Table:
    """Lay cells out in columns, numbers on the right."""
    grid = Table(box=None, pad_edge=False)
    first = str(cells.columns[0])
    grid.add_column(first, min_width=min(_LABEL, _widest(cells[first])))
    for name in cells.columns[1:]:
        grid.add_column(str(name), justify="right", no_wrap=True)
    for row in cells.itertuples(index=False):
        grid.add_row(*row)
    return grid


def _csv(sheet: Sheet) -> str:
    return sheet.numbers.to_csv(index=False)


def _json(sheet: Sheet) -> str:
    rows = json.loads(sheet.numbers.to_json(orient="records", double_precision=15))
    return json.dumps({**sheet.numbers.attrs, "quantities": rows}, indent=1) + "\n"


def _latex(sheet: Sheet) -> str:
    return f"% {sheet.heading}\n" + "\n".join(map(latex_table, sheet.parts))


def latex_table(cells: pd.DataFrame) -> str:
    """Set texts as a LaTeX table of the package booktabs, numbers on the right."""
    columns = "l" + "r" * (cells.shape[1] - 1)
    cells = cells.map(escaped).rename(columns=escaped)
    return cells.to_latex(index=False, escape=False, column_format=columns)


def escaped(text: str) -> str:
    """Escape a short text for LaTeX; the hyphens of negative numbers become minus signs."""
    for plain, latex in {
        "\\": r"\textbackslash{}",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "$": r"\$",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
    }.items():
        text = text.replace(plain, latex)
    return NEGATIVE.sub(r"\\ensuremath{-}", text)


#: The sign of a negative number: not the hyphen of a name, a range or a date.
NEGATIVE = re.compile(r"(?<![\w.)\]-])-(?=\.?\d)")


def _markdown(sheet: Sheet) -> str:
    return f"**{_cell(sheet.heading)}**\n\n" + "\n".join(map(_pipes, sheet.parts))


def _pipes(cells: pd.DataFrame) -> str:
    ruler = [":--", *["--:"] * (cells.shape[1] - 1)]
    lines = [list(cells.columns), ruler, *cells.to_numpy().tolist()]
    return "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


FORMS: dict[str, Callable[[Sheet], str]] = {
    "table": _terminal,
    "csv": _csv,
    "json": _json,
    "latex": _latex,
    "md": _markdown,
}
