"""The data dictionary: ``docs/dictionary.md`` of ``docs/dictionary.yaml``, schemas and definitions.

What a schema in the package says of a table (its columns, their types, the values allowed) is taken
from there; a column that only one of the two knows is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import yaml

from moralscale import judgment_schema, scenes
from moralscale.composition import QUANTITIES
from moralscale.design import schedule
from moralscale.projections import DEFINITIONS
from moralscale.records import Arena, Origin, Outcome
from moralscale.tables import TABLES

#: Columns of the tables that the package has a schema of, in order.
SCHEMAS: dict[str, Sequence[str]] = {
    "scenarios/scenes.csv": scenes.COLUMNS,
    "results/RUN/design/ARENA.parquet": ("comparison_id", *schedule.COLUMNS),
    "results/RUN/judgments/judgments.parquet": judgment_schema.COLUMNS,
}
#: Values of the columns that are one of a few words.
WORDS = {"arena": Arena, "outcome": Outcome, "origin": Origin}

INTRODUCTION = """\
# Data dictionary, column by column

Every table of a run: its rows, and type, unit and meaning of each column. Where files lie and how
they are read: [data.md](data.md). `int` is 64 bits, text is UTF-8; RUN, FIT, ARENA, JUDGE, RULE and
PRIOR stand for names, FIT for `DATA/RULE/PRIOR`, such as `bridged/compressed/default`. File names
of what was drawn from simulated data hold `.simulated`.

This page is made by `make generate` from `docs/dictionary.yaml`, the schemas in `src` and the
definitions of quantities; tests hold it against files that a run wrote.
"""


def page(root: Path) -> str:
    """Return the text of the page.

    Raises
    ------
    ValueError
        A schema of the package and the dictionary do not have the same columns.
    """
    parts = [INTRODUCTION]
    for table in tables(root):
        parts.append(f"## `{table['file']}`\n")
        if "also" in table:
            parts.append("The same columns: " + ", ".join(f"`{n}`" for n in table["also"]) + ".\n")
        parts.append(f"One row: {table['row']}.\n")
        parts.append("\n".join(rows(table)) + "\n")
    parts.append("\n".join(quantities()) + "\n")
    return "\n".join(parts)


def tables(root: Path) -> list[dict[str, Any]]:
    """Return the tables of the dictionary; ``columns`` maps a name to type and meaning."""
    text = (root / "docs/dictionary.yaml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = yaml.safe_load(text)["files"]
    for table in found:
        table["columns"] = dict(_columns(table["columns"]))
        _check(table)
    return found


def _columns(parts: Sequence[Any]) -> Iterator[tuple[str, list[str]]]:
    """Walk through the columns; groups that tables share are lists within the list."""
    for part in parts:
        yield from part.items() if isinstance(part, Mapping) else _columns(part)


def _check(table: Mapping[str, Any]) -> None:
    schema = SCHEMAS.get(table["file"])
    if schema is not None and list(schema) != list(table["columns"]):
        odd = set(schema) ^ set(table["columns"]) or "their order"
        raise ValueError(f"docs/dictionary.yaml, {table['file']}: not as in src: {odd}")


def rows(table: Mapping[str, Any]) -> Iterator[str]:
    """Write the columns of a table."""
    yield from ("| column | type and unit | meaning |", "| --- | --- | --- |")
    strict = table["file"] in SCHEMAS
    for name, (kind, meaning) in table["columns"].items():
        if strict and name in WORDS:
            meaning = f"{meaning}: {', '.join(WORDS[name])}"
        if table["file"].endswith("judgments.parquet"):
            _check_type(name, kind)
        yield f"| `{name}` | {kind} | {meaning} |"


def _check_type(name: str, kind: str) -> None:
    wanted = {"text": pyarrow.string(), "int": pyarrow.int64()}[kind.split(",")[0]]
    if judgment_schema.ARROW_SCHEMA.field(name).type != wanted:
        raise ValueError(f"docs/dictionary.yaml, judgments.parquet: {name} is not {kind}")


def quantities() -> Iterator[str]:
    """Write every reported quantity with its unit, its definition and its table."""
    yield from ("## Quantities", "")
    yield "Values of `quantity`, variables of `quantities.nc` and, of the model, of `posterior.nc`."
    yield "Those in log-odds are reported in Elo too; a strength also as a rating with mean 1000."
    yield from ("", "| quantity | unit | definition | table |", "| --- | --- | --- | --- |")
    for name, (unit, definition) in DEFINITIONS.items():
        held = ", ".join(f"`{table}`" for table, names in TABLES.items() if name in names)
        of_model = " *" if name in QUANTITIES else ""
        yield f"| `{name}`{of_model} | {unit} | {definition} | {held} |"
    yield from ("", "\\* a parameter of the model; the rest are computed from strengths.")
