"""What every row of an imported file must hold, and what to say of the first that does not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pandera.pandas as pa

from moralscale.config import NAME_PATTERN
from moralscale.errors import JudgmentError, shortened, suggestion
from moralscale.judgment_schema import ORDERS
from moralscale.records import Arena, Outcome

NEEDED = ("judge", "first", "second", "outcome")
COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True)
class Rows:
    """Rows of a file under the names of judgments' columns.

    Attributes
    ----------
    table : DataFrame
        Texts.
    source : str
        The file.
    names : mapping
        The file's name of each column.
    """

    table: pd.DataFrame
    source: str
    names: Mapping[str, str]

    def error(self, row: int, column: str, what: str, mend: str = "") -> JudgmentError:
        """Name the value at fault; rows count from 0 here and from 1 in the message."""
        name = self.names.get(column, column)
        return JudgmentError(what, where=f"{self.source}, row {row + 1}, column {name}", mend=mend)


def check(
    rows: Rows, arenas: Mapping[str, Arena], labels: Collection[str], *, by_name: bool
) -> None:
    """Check types and values of every row.

    Parameters
    ----------
    rows : Rows
        The file.
    arenas : mapping
        All contestants: `Arena.SINGLE` for a scene, `Arena.COMPOSITE` for a composite.
    labels : collection of str
        Labels of outcomes.
    by_name : bool
        Whether an outcome may name a contestant.

    Raises
    ------
    JudgmentError
        Of the first row at fault: a missing or unknown value, or a contestant that meets itself.
    """
    columns = _columns(arenas, labels, by_name)
    schema = pa.DataFrameSchema({n: column for n, column in columns.items() if n in rows.table})
    try:
        schema.validate(rows.table, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.sort_values("index", kind="stable", na_position="first")
        case = cases.iloc[0]
        row, column, value = int(case["index"]), str(case["column"]), case["failure_case"]
        raise _fault(rows, row, column, value, arenas, labels) from None
    same = (rows.table["first"] == rows.table["second"]).to_numpy()
    if same.any():
        row = int(same.argmax())
        what = f"'{rows.table['second'].iloc[row]}' meets itself"
        raise rows.error(row, "second", what, "name two different contestants")
    if by_name:
        _check_winners(rows, arenas)


def _columns(
    arenas: Mapping[str, Arena], labels: Collection[str], by_name: bool
) -> dict[str, pa.Column]:
    def words(test: pa.Check) -> pa.Column:
        return pa.Column(str, test, nullable=False)

    outcomes = [*labels, *arenas] if by_name else [*labels]
    whole = pa.Check.str_matches(r"^[0-9]{1,9}$")
    return {
        "judge": words(pa.Check.str_matches(NAME_PATTERN)),
        "first": words(pa.Check.isin([*arenas])),
        "second": words(pa.Check.isin([*arenas])),
        "outcome": words(pa.Check.isin(outcomes)),
        "arena": words(pa.Check.isin([*map(str, Arena)])),
        "first_order": words(pa.Check.isin(ORDERS)),
        "second_order": words(pa.Check.isin(ORDERS)),
        "repeat": words(pa.Check.str_matches(r"^[1-9][0-9]{0,8}$")),
        "prompt": pa.Column(str),
        "comparison_id": pa.Column(str),
        **dict.fromkeys(COUNTS, words(whole)),
    }


def _fault(
    rows: Rows,
    row: int,
    column: str,
    value: Any,
    arenas: Mapping[str, Arena],
    labels: Collection[str],
) -> JudgmentError:
    if pd.isna(value):
        return rows.error(row, column, "the value is missing", _mends(labels).get(column, ""))
    text = shortened(str(value))
    if column in ("first", "second"):
        mend = suggestion(text, arenas) if _near(text, arenas) else _UNKNOWN
        return rows.error(row, column, f"'{text}' is neither a scene nor a composite", mend)
    if column == "outcome" and text in arenas:
        what = f"'{text}' names a contestant, not a side"
        return rows.error(row, column, what, "set `winner: contestant` in the import")
    if column == "judge":
        mend = "give it a name of letters, digits, '.', '_' and '-' under `judges` of the import"
        return rows.error(row, column, f"'{text}' cannot name a judge", mend)
    return rows.error(row, column, f"value '{text}' is not allowed", _mends(labels)[column])


_UNKNOWN = "use the corpus and composites that were judged (`scenes`, `import.composites`)"


def _near(text: str, known: Collection[str]) -> bool:
    return suggestion(text, known).startswith("did you mean")


def _mends(labels: Collection[str]) -> dict[str, str]:
    known = f"use one of {', '.join(labels)}"
    count: Callable[[int], str] = "use whole numbers from {} up".format
    return {
        "outcome": f"{known}, or say what it means under `outcomes` of the import",
        "arena": f"use one of {', '.join(Arena)}",
        "first_order": f"use one of {', '.join(ORDERS)}",
        "second_order": f"use one of {', '.join(ORDERS)}",
        "repeat": count(1),
        **dict.fromkeys(COUNTS, count(0)),
        "judge": "every judgment needs its judge",
    }


def _check_winners(rows: Rows, arenas: Mapping[str, Arena]) -> None:
    table = rows.table
    named = table["outcome"].isin([*arenas])
    stranger = named & (table["outcome"] != table["first"]) & (table["outcome"] != table["second"])
    if stranger.any():
        row = int(stranger.to_numpy().argmax())
        what = f"'{table['outcome'].iloc[row]}' is neither first nor second of this row"
        raise rows.error(row, "outcome", what, "name one of the two")


def known_labels(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Outcomes by label: those that a configuration gives, and every outcome under its own name."""
    return {outcome.value: outcome for outcome in Outcome} | dict(outcomes)
