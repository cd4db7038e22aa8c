"""From a file of somebody else's judgments to the table that fits read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from moralscale.config import Import, validate
from moralscale.design.schedule import COLUMNS as DESIGN
from moralscale.design.schedule import comparison_ids
from moralscale.errors import JudgmentError, shortened, suggestion
from moralscale.importing.reading import read_table
from moralscale.importing.rows import COUNTS, NEEDED, Rows, check, known_labels
from moralscale.judgment_schema import ARROW_SCHEMA, WHOLE
from moralscale.judgment_schema import validate as validate_judgments
from moralscale.judgments import arrange
from moralscale.records import Arena, Origin, Outcome
from moralscale.scenes import load_scenes

#: Name of the prompt of judgments that name none.
PROMPT = "imported"


def import_judgments(
    settings: Import, scenes: pd.DataFrame, composites: pd.DataFrame
) -> pd.DataFrame:
    """Read, check and translate a file of judgments.

    Parameters
    ----------
    settings : Import
        The file, and what its columns and labels mean.
    scenes, composites : DataFrame
        The corpus, and the composites that were judged: every contestant is the id of one of them.

    Returns
    -------
    DataFrame
        A table of judgments (docs/data.md) with origin `imported`. Where the file does not say:
        the arena follows from the contestants, acts count as shown in the order ``ab``, `repeat`
        counts the comparisons of an id column that are the same, or is 1, and there was one
        attempt.

    Raises
    ------
    JudgmentError
        The file cannot be read or a column is missing; or, of the first row at fault: an unknown
        contestant, label or judge's name, a missing value, a contestant that meets itself, a winner
        that is not a side, an arena or order that does not fit, a judgment that stands twice.
    """
    rows = _rows(settings)
    arenas = _arenas(scenes, composites, settings.file)
    labels = known_labels(settings.outcomes)
    by_name = settings.winner == "contestant"
    check(rows, arenas, labels, by_name=by_name)
    table = rows.table.assign(outcome=_outcomes(rows.table, labels))
    table = _completed(Rows(table, rows.source, rows.names), arenas)
    return arrange(validate_judgments(table, source=settings.file))


def read_any(path: str | Path, scenes: pd.DataFrame, composites: pd.DataFrame) -> pd.DataFrame:
    """Read judgments of this project or of somebody else.

    Parameters
    ----------
    path : path
        A .csv, .jsonl or .parquet file. With a column ``origin`` it is a table of judgments
        (docs/data.md) and must be whole; without, judge, first, second and outcome are enough, and
        the rest is completed as by `import_judgments`.
    scenes, composites : DataFrame
        The corpus, and the composites that were judged.

    Returns
    -------
    DataFrame
        A table of judgments.

    Raises
    ------
    JudgmentError
        As of `import_judgments`.
    """
    table = read_table(path)
    if "origin" not in table:
        return import_judgments(Import(file=str(path)), scenes, composites)
    rows = Rows(table, str(path), {})
    for column in table.columns.intersection([f.name for f in ARROW_SCHEMA if f.type == WHOLE]):
        numbers = pd.to_numeric(table[column], errors="coerce")
        wrong = (~(numbers % 1 == 0)).to_numpy()
        if wrong.any():
            row = int(wrong.argmax())
            value = table[column].iloc[row]
            what = "the value is missing" if pd.isna(value) else f"'{value}' is no whole number"
            raise rows.error(row, column, what, "write a whole number")
        table[column] = numbers.astype("int64")
    return arrange(validate_judgments(table, source=str(path)))


def import_from_files(settings: Mapping[str, Any], *, scenes: str, composites: str) -> pd.DataFrame:
    """Import judgments; errors as of `import_judgments`.

    Parameters
    ----------
    settings : mapping
        The run's ``import``.
    scenes, composites : path
        The corpus, and the composites of the run.
    """
    valid = validate(Import, settings, source="import")
    return import_judgments(valid, load_scenes(scenes), pd.read_parquet(composites))


def _rows(settings: Import) -> Rows:
    """Read the file and give its columns their names here; others of its columns are left out."""
    table = read_table(settings.file)
    for ours, theirs in settings.columns.items():
        if theirs not in table:
            where = f"{settings.file}, import.columns.{ours}"
            mend = suggestion(theirs, map(str, table.columns))
            raise JudgmentError(f"the file has no column '{theirs}'", where=where, mend=mend)
    names = {name: name for name in (*NEEDED, *_OPTIONAL) if name in table} | settings.columns
    for name in NEEDED:
        if name not in names:
            mend = f"name the column that holds it: `columns: {{{name}: ...}}`"
            there = shortened(", ".join(map(str, table.columns)))
            what = f"there is no column '{name}' among: {there}"
            raise JudgmentError(what, where=settings.file, mend=mend)
    kept = pd.DataFrame({ours: table[theirs] for ours, theirs in names.items()})
    return Rows(kept.replace({"judge": settings.judges}), settings.file, names)


_OPTIONAL = ("comparison_id", "arena", "first_order", "second_order", "repeat", "prompt", *COUNTS)


def _arenas(scenes: pd.DataFrame, composites: pd.DataFrame, source: str) -> dict[str, Arena]:
    """All contestants, with the arena in which they meet their like."""
    both = sorted(set(scenes["id"]) & set(composites["composite_id"]))
    if both:
        what = f"'{both[0]}' is a scene and a composite"
        raise JudgmentError(what, where=source, mend="rename the composite")
    single = dict.fromkeys(scenes["id"], Arena.SINGLE)
    return single | dict.fromkeys(composites["composite_id"], Arena.COMPOSITE)


def _outcomes(table: pd.DataFrame, labels: Mapping[str, Outcome]) -> list[str]:
    sides = zip(table["outcome"], table["first"], table["second"], strict=True)
    return [
        "first" if said == first else "second" if said == second else labels[said].value
        for said, first, second in sides
    ]


def _completed(rows: Rows, arenas: Mapping[str, Arena]) -> pd.DataFrame:
    """Add what the file leaves out, and check what it gives against the contestants."""
    table = rows.table
    first, second = ([arenas[name] for name in table[side]] for side in ("first", "second"))
    meets = [a.value if a is b else Arena.BRIDGE.value for a, b in zip(first, second, strict=True)]
    _check_given(rows, "arena", [[arena] for arena in meets])
    table = table.assign(arena=meets)
    for side, kinds in (("first", first), ("second", second)):
        allowed = [["a"] if kind is Arena.SINGLE else ["ab", "ba"] for kind in kinds]
        column = f"{side}_order"
        _check_given(rows, column, allowed)
        if column not in table:
            table = table.assign(**{column: [orders[0] for orders in allowed]})
    if "prompt" not in table:
        table = table.assign(prompt=PROMPT)
    if "repeat" not in table:
        same = [name for name in DESIGN if name != "repeat"]
        again = table.groupby(same).cumcount() if "comparison_id" in table else 0
        table = table.assign(repeat=again + 1)
    counts = {name: table[name].astype(int) if name in table else 0 for name in COUNTS}
    table = table.assign(
        repeat=table["repeat"].astype(int), **counts, attempts=1, origin=Origin.IMPORTED.value
    )
    _check_once(rows, table)
    if "comparison_id" not in table:
        table = table.assign(comparison_id=comparison_ids(table))
    return table


def _check_given(rows: Rows, column: str, allowed: list[list[str]]) -> None:
    """Refuse an arena or an order of acts that these contestants cannot have."""
    if column not in rows.table:
        return
    for row, (value, fitting) in enumerate(zip(rows.table[column], allowed, strict=True)):
        if value not in fitting:
            what = f"'{value}' does not fit the contestants"
            raise rows.error(row, column, what, f"use {' or '.join(fitting)}")


def _check_once(rows: Rows, table: pd.DataFrame) -> None:
    """Refuse a judgment that stands twice."""
    twice = table.duplicated(list(DESIGN)).to_numpy()
    if twice.any():
        row = int(twice.argmax())
        same = (table[list(DESIGN)] == table[list(DESIGN)].iloc[row]).all(axis=1).to_numpy()
        what = f"the same judgment stands in row {int(same.argmax()) + 1}"
        mend = "remove one of the two, or give a column that counts the `repeat`"
        raise rows.error(row, "first", what, mend)
