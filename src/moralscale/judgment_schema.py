"""What a table of judgments must be: its columns, their types and values."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pyarrow

from moralscale.errors import JudgmentError
from moralscale.records import Arena, Origin, Outcome

TEXT = pyarrow.string()
WHOLE = pyarrow.int64()
#: Columns of the table, in order, with their types on disk.
ARROW_SCHEMA = pyarrow.schema(
    [
        pyarrow.field("comparison_id", TEXT, nullable=False),
        pyarrow.field("arena", TEXT, nullable=False),
        pyarrow.field("judge", TEXT, nullable=False),
        pyarrow.field("first", TEXT, nullable=False),
        pyarrow.field("second", TEXT, nullable=False),
        pyarrow.field("first_order", TEXT, nullable=False),
        pyarrow.field("second_order", TEXT, nullable=False),
        pyarrow.field("repeat", WHOLE, nullable=False),
        pyarrow.field("prompt", TEXT, nullable=False),
        pyarrow.field("outcome", TEXT),
        pyarrow.field("attempts", WHOLE, nullable=False),
        pyarrow.field("input_tokens", WHOLE, nullable=False),
        pyarrow.field("output_tokens", WHOLE, nullable=False),
        pyarrow.field("reasoning_tokens", WHOLE, nullable=False),
        pyarrow.field("origin", TEXT, nullable=False),
    ]
)
COLUMNS = tuple(ARROW_SCHEMA.names)
ORDERS = ("a", "ab", "ba")


def schema() -> pa.DataFrameSchema:
    """Build the schema of the table: types, allowed values, and what must hold within a row."""

    def words(allowed: Iterable[str] | None = None, *, nullable: bool = False) -> pa.Column:
        check = pa.Check.str_length(min_value=1) if allowed is None else pa.Check.isin([*allowed])
        return pa.Column(str, check, nullable=nullable)

    def whole(least: int) -> pa.Column:
        return pa.Column(np.int64, pa.Check.ge(least))

    columns = {
        "comparison_id": words(),
        "arena": words(Arena),
        "judge": words(),
        "first": words(),
        "second": words(),
        "first_order": words(ORDERS),
        "second_order": words(ORDERS),
        "repeat": whole(1),
        "prompt": words(),
        "outcome": words(Outcome, nullable=True),
        "attempts": whole(0),
        "input_tokens": whole(0),
        "output_tokens": whole(0),
        "reasoning_tokens": whole(0),
        "origin": words(Origin),
    }
    return pa.DataFrameSchema(columns, strict=True)


def validate(table: pd.DataFrame, *, source: str) -> pd.DataFrame:
    """Check a table of judgments.

    Parameters
    ----------
    table : DataFrame
        The table; row numbers in messages count from 1.
    source : str
        The file that it came from, for messages.

    Returns
    -------
    DataFrame
        The table as it was given.

    Raises
    ------
    JudgmentError
        A column is missing, unknown or of the wrong type; a value is not allowed; a comparison
        stands twice; a contestant meets itself. Names file, row, column and value.
    """
    _check_columns(table, source)
    try:
        schema().validate(table.reset_index(drop=True), lazy=True)
    except pa.errors.SchemaErrors as errors:
        raise _first_fault(errors.failure_cases, source) from None
    _check_rows(table.reset_index(drop=True), source)
    return table


def _check_columns(table: pd.DataFrame, source: str) -> None:
    for column in COLUMNS:
        if column not in table.columns:
            raise JudgmentError(f"column '{column}' is missing", where=source, mend="add it")
    for column in table.columns:
        if column not in COLUMNS:
            mend = f"remove it; the columns are {', '.join(COLUMNS)}"
            raise JudgmentError(f"unknown column '{column}'", where=source, mend=mend)


def _check_rows(table: pd.DataFrame, source: str) -> None:
    twice = table["comparison_id"].duplicated()
    if twice.any():
        row = int(np.argmax(twice))
        value = table["comparison_id"].iloc[row]
        where = f"{source}, row {row + 1}, column comparison_id"
        raise JudgmentError(
            f"comparison '{value}' stands twice", where=where, mend="remove one of the two rows"
        )
    same = (table["first"] == table["second"]).to_numpy()
    if same.any():
        row = int(np.argmax(same))
        value = table["second"].iloc[row]
        where = f"{source}, row {row + 1}, column second"
        raise JudgmentError(
            f"'{value}' meets itself", where=where, mend="name two different contestants"
        )


def _first_fault(cases: pd.DataFrame, source: str) -> JudgmentError:
    """Turn the first failure in the order of rows into an error."""
    case = cases.sort_values("index", na_position="first").iloc[0]
    column, value, row = case["column"], case["failure_case"], case["index"]
    where = f"{source}, column {column}"
    if pd.isna(row):
        return JudgmentError(f"wrong type {value}", where=where, mend=_mend(str(column)))
    where = f"{source}, row {int(row) + 1}, column {column}"
    what = "the value is missing" if pd.isna(value) else f"value {_plain(value)} is not allowed"
    return JudgmentError(what, where=where, mend=_mend(str(column)))


def _mend(column: str) -> str:
    allowed = {"arena": Arena, "outcome": Outcome, "origin": Origin}.get(column)
    if allowed is not None:
        return f"use one of {', '.join(allowed)}"
    if column.endswith("_order"):
        return f"use one of {', '.join(ORDERS)}"
    if ARROW_SCHEMA.field(column).type == WHOLE:
        return f"use whole numbers from {1 if column == 'repeat' else 0} up"
    return "give a text of at least one character"


def _plain(value: object) -> str:
    """Write a value as the user did: numpy's numbers would show their type."""
    return repr(value.item() if isinstance(value, np.generic) else value)
