"""Read somebody else's table, whatever its format, as text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow
import pyarrow.parquet as parquet

from moralscale.errors import JudgmentError


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
        The file is missing, has another ending, cannot be read, or gives a column twice.
    """
    path = Path(path)
    if path.suffix not in READERS:
        mend = f"use a file that ends in {', '.join(READERS)}"
        raise JudgmentError(f"unknown format '{path.suffix}'", where=str(path), mend=mend)
    if not path.is_file():
        raise JudgmentError("file not found", where=str(path), mend="check the path")
    try:
        table = READERS[path.suffix](path)
    except UnicodeDecodeError:
        raise JudgmentError("not UTF-8", where=str(path), mend="save it so") from None
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise JudgmentError(f"not {path.suffix[1:]}: {reason}", where=str(path)) from None
    names = [str(name).strip() for name in table.columns]
    for name in names:
        if names.count(name) > 1:
            what = f"column '{name}' is there twice"
            raise JudgmentError(what, where=str(path), mend="rename one of the two")
    columns = {
        name: [_text(value) for value in table.iloc[:, n].tolist()] for n, name in enumerate(names)
    }
    return pd.DataFrame(columns, columns=names, index=range(len(table)), dtype="str")


def _read_csv(path: Path) -> pd.DataFrame:
    # Names are read as a row: pandas would rename the second of two equal ones.
    table = pd.read_csv(
        path, header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig", index_col=False
    )
    return table.iloc[1:].set_axis(table.iloc[0].fillna("").tolist(), axis=1)


def _read_jsonl(path: Path) -> pd.DataFrame:
    rows = []
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                where = f"{path}, line {number}"
                mend = "write one object a line: {...}"
                raise JudgmentError("not a JSON object", where=where, mend=mend)
            rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _read_parquet(path: Path) -> pd.DataFrame:
    # Nullable types keep a whole number whole beside a missing one.
    return parquet.read_table(path).to_pandas(integer_object_nulls=True, ignore_metadata=True)


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
    return str(value).strip() or None
