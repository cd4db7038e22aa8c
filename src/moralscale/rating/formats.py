"""Files of any of the known formats as Arrow tables of the wanted columns."""

from __future__ import annotations

import codecs
import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json
import pyarrow.parquet as parquet

from moralscale.errors import JudgmentError, suggestion

#: Columns that a table of comparisons may have; far more than anybody's table has.
MOST_COLUMNS = 1_000
#: Bytes in which the first line must end.
LONGEST_LINE = 1 << 20
DELIMITERS = {".csv": ",", ".tsv": "\t"}
LINES = (".jsonl", ".ndjson")
SUFFIXES = (*DELIMITERS, *LINES, ".parquet")


@dataclass(frozen=True)
class Wanted:
    """Columns that are read: the names they have in the file.

    Attributes
    ----------
    needed, optional : tuple of str
        Those that must be there, and those that are read where they are.
    words : tuple of str
        Those of either kind that hold text.
    """

    needed: tuple[str, ...]
    optional: tuple[str, ...]
    words: tuple[str, ...]

    def among(self, names: Sequence[str], where: str) -> list[str]:
        """Pick the wanted ones of a file's columns, after a check of its header."""
        if not names:
            raise JudgmentError("no names of columns", where=where, mend="write a header")
        _check_number(len(names), where)
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise JudgmentError(
                f"column '{twice[0][:60]}' is there twice", where=where, mend="rename one of them"
            )
        for name in self.needed:
            if name not in names:
                near = suggestion(name, list(names)[:20])
                mend = f"{near} (or name columns by --columns first=NAME,second=NAME,outcome=NAME)"
                raise JudgmentError(f"no column '{name}'", where=where, mend=mend)
        return [name for name in (*self.needed, *self.optional) if name in names]


def read_table(path: Path, wanted: Wanted) -> tuple[pa.Table, int]:
    """Read the wanted columns of a file.

    Returns
    -------
    table : Table
        The columns, words as text.
    first_row : int
        The row of the file, as an editor counts, that holds the first judgment.

    Raises
    ------
    JudgmentError
        The file is missing, empty, of an unknown or another format, not UTF-8, or lacks columns.
    """
    where = str(path)
    if path.is_dir():
        raise JudgmentError("this is a folder", where=where, mend="name a file")
    if not path.is_file():
        raise JudgmentError("file not found", where=where, mend="check the path")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise JudgmentError(
            f"unknown format '{path.suffix}'", where=where, mend=f"use one of {', '.join(SUFFIXES)}"
        )
    try:
        if not path.stat().st_size:
            raise JudgmentError("the file is empty", where=where, mend="write a header and rows")
        if suffix == ".parquet":
            return _read_parquet(path, wanted), 1
        if suffix in LINES:
            return _read_lines(path, wanted), 1
        return _read_csv(path, wanted, DELIMITERS[suffix]), 2
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, suffix, error) from None


def from_frame(frame: pd.DataFrame, wanted: Wanted) -> pa.Table:
    """Take the wanted columns of a DataFrame.

    Raises
    ------
    JudgmentError
        A column is missing, there twice, or not of one type.
    """
    names = wanted.among([str(name) for name in frame.columns], "table")
    try:
        table = pa.Table.from_pandas(frame[names], preserve_index=False)
        return _with_words(table, wanted)
    except pa.ArrowException as error:
        reason = " ".join(map(str, error.args))
        raise JudgmentError(reason[:200], where="table", mend="make it text") from None


def _read_csv(path: Path, wanted: Wanted, delimiter: str) -> pa.Table:
    where = f"{path}, row 1"
    header = _header(path, delimiter)
    for other in ";\t,":
        if len(header) == 1 and other in header[0]:
            what = f"columns are separated by {other!r}, not by {delimiter!r}"
            raise JudgmentError(what, where=where, mend="use commas in .csv and tabs in .tsv")
    names = wanted.among(header, where)
    try:
        return _parsed(path, names, wanted, delimiter, threads=True)
    except pa.ArrowInvalid:
        # Only a single thread knows the row that it cannot read.
        return _parsed(path, names, wanted, delimiter, threads=False)


def _parsed(
    path: Path, names: list[str], wanted: Wanted, delimiter: str, *, threads: bool
) -> pa.Table:
    text = pa.dictionary(pa.int32(), pa.string())
    return arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(use_threads=threads),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=names,
            column_types={name: text if name in wanted.words else pa.string() for name in names},
            null_values=["", "NaN", "nan"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _header(path: Path, delimiter: str) -> list[str]:
    """Names in the first line, found without reading a file that is no table."""
    line = _first_line(path, delimiter)
    try:
        return next(csv.reader([line.decode("utf-8-sig")], delimiter=delimiter), [])
    except csv.Error as error:
        mend = "end lines with a line feed, and give names of columns without line breaks"
        raise JudgmentError(_line(error), where=f"{path}, row 1", mend=mend) from None


def _read_lines(path: Path, wanted: Wanted) -> pa.Table:
    where = f"{path}, row 1"
    try:
        record = json.loads(_first_line(path), object_pairs_hook=lambda pairs: pairs)
    except (ValueError, RecursionError) as error:
        raise JudgmentError(f"not JSON ({error})", where=where) from None
    if not isinstance(record, list) or not all(isinstance(pair, tuple) for pair in record):
        raise JudgmentError("not a JSON object", where=where, mend="write one object a line")
    names = wanted.among([name for name, _ in record], where)
    names += [name for name in wanted.optional if name not in names]
    table = arrow_json.read_json(path)
    return _with_words(table.select([n for n in names if n in table.column_names]), wanted)


def _read_parquet(path: Path, wanted: Wanted) -> pa.Table:
    with parquet.ParquetFile(path) as file:
        names = wanted.among(file.schema_arrow.names, str(path))
        return _with_words(file.read(columns=names), wanted)


def _with_words(table: pa.Table, wanted: Wanted) -> pa.Table:
    """Turn columns of words into text: ids may be numbers elsewhere."""
    for place, name in enumerate(table.column_names):
        kind = table.schema.field(name).type
        if name not in wanted.words or pa.types.is_dictionary(kind):
            continue
        if pa.types.is_nested(kind):
            raise pa.ArrowInvalid(f"column '{name}' holds {kind}, not text")
        table = table.set_column(place, name, table[name].cast(pa.string()))
    return table


def _first_line(path: Path, delimiter: str = ",") -> bytes:
    with path.open("rb") as file:
        line = file.readline(LONGEST_LINE)
    where = f"{path}, row 1"
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise JudgmentError("this is UTF-16", where=where, mend="save it as UTF-8")
    if b"\0" in line:
        mend = f"save it as UTF-8; {', '.join(SUFFIXES)} can be read"
        raise JudgmentError("this is not text", where=where, mend=mend)
    _check_number(line.count(delimiter.encode()) + 1, where, at_least=len(line) == LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise JudgmentError(
            f"the line goes on for over {LONGEST_LINE:,} bytes",
            where=where,
            mend=f"a table of comparisons has at most {MOST_COLUMNS:,} columns",
        )
    try:
        line.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(where, error) from None
    return line


def _check_number(columns: int, where: str, *, at_least: bool = False) -> None:
    if columns > MOST_COLUMNS:
        raise JudgmentError(
            f"{'at least ' if at_least else ''}{columns:,} columns",
            where=where,
            mend=f"a table of comparisons has at most {MOST_COLUMNS:,}: first, second, ...",
        )


def _unreadable(path: Path, suffix: str, error: Exception) -> JudgmentError:
    """Say why a file cannot be read: where its text is not UTF-8, or what Arrow found."""
    if suffix != ".parquet":
        text = path.read_bytes()
        try:
            text.decode()
        except UnicodeDecodeError as fault:
            return _not_utf8(f"{path}, row {text[: fault.start].count(b'\n') + 1}", fault)
    return JudgmentError(f"not a {suffix[1:]} table: {_line(error)}", where=str(path))


def _not_utf8(where: str, error: UnicodeDecodeError) -> JudgmentError:
    byte = error.object[error.start]
    return JudgmentError(f"byte 0x{byte:02x} is not UTF-8", where=where, mend="save it as UTF-8")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
