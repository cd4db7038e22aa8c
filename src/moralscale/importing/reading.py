"""Read somebody else's table, whatever its format, as text."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow
import pyarrow.parquet as parquet

from moralscale.errors import JudgmentError

#: More columns are no table of judgments, and take minutes to find that out.
MOST_COLUMNS = 10_000


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a .csv, .jsonl or .parquet file.

    Parameters
    ----------
    path : path
        Text is UTF-8, with or without a byte order mark. A CSV file has a line of names.

    Returns
    -------
    DataFrame
        One row a row of the file, in its order. Every value is a text without space around it, or
        missing where it is so or empty in the file; whole numbers are written without a point.

    Raises
    ------
    JudgmentError
        The file is missing, has another ending, cannot be read, holds no row, has more than
        `MOST_COLUMNS`, or gives a column twice.
    """
    path = Path(path)
    if path.suffix not in READERS:
        mend = f"use a file that ends in {', '.join(READERS)}"
        raise JudgmentError(f"unknown format '{path.suffix}'", where=str(path), mend=mend)
    if not path.is_file():
        what = "a folder, not a file" if path.is_dir() else "file not found"
        raise JudgmentError(what, where=str(path), mend="check the path")
    try:
        table = READERS[path.suffix](path)
        columns = [
            [_text(value) for value in table.iloc[:, n].tolist()] for n in range(table.shape[1])
        ]
    except UnicodeError:
        raise JudgmentError("not UTF-8", where=str(path), mend="save it so") from None
    except (OSError, ValueError, csv.Error, pyarrow.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise JudgmentError(f"not {path.suffix[1:]}: {reason}", where=str(path)) from None
    if not len(table):
        mend = "check that this is the file that was meant"
        raise JudgmentError("the file holds no rows", where=str(path), mend=mend)
    names = [str(name).strip() for name in table.columns]
    for name, count in Counter(names).items():
        if count > 1:
            what = f"column '{name}' is there twice"
            raise JudgmentError(what, where=str(path), mend="rename one of the two")
    named = dict(zip(names, columns, strict=True))
    return pd.DataFrame(named, columns=names, index=range(len(table)), dtype="str")


def _check_width(columns: Collection[str], path: Path) -> None:
    if len(columns) > MOST_COLUMNS:
        what = f"more than {MOST_COLUMNS} columns"
        raise JudgmentError(what, where=str(path), mend="write one row a judgment")


def _read_csv(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8-sig", newline="") as file:
        _check_width(next(filter(None, csv.reader(file)), []), path)
    # Names are read as a row: pandas would rename the second of two equal ones.
    table = pd.read_csv(
        path, header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig", index_col=False
    )
    return table.iloc[1:].set_axis(table.iloc[0].fillna("").tolist(), axis=1)


def _read_jsonl(path: Path) -> pd.DataFrame:
    rows, names = [], set[str]()
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                where = f"{path}, line {number}"
                mend = "write one object a line: {...}"
                raise JudgmentError("not a JSON object", where=where, mend=mend)
            names.update(row)
            _check_width(names, path)
            rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _read_parquet(path: Path) -> pd.DataFrame:
    # Nullable types keep a whole number whole beside a missing one.
    with parquet.ParquetFile(path) as file:
        _check_width(file.schema_arrow.names, path)
        table: pd.DataFrame = file.read().to_pandas(integer_object_nulls=True, ignore_metadata=True)
        return table


#: How each format is read, by the ending of the file's name.
READERS: Mapping[str, Callable[[Path], pd.DataFrame]] = MappingProxyType(
    {".csv": _read_csv, ".jsonl": _read_jsonl, ".parquet": _read_parquet}
)


def _text(value: Any) -> str | None:
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float):
        if math.isnan(value):
            return None
        value = int(value) if value.is_integer() else value
    text = value.decode() if isinstance(value, bytes) else str(value)
    text.encode()  # JSON can escape halves of characters, which no file can hold
    return text.strip() or None
