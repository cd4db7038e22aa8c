"""The corpus of scenes: load and validate.

A corpus is a UTF-8 CSV file with the columns `id, foundation, intensity, anchor, text`. Its size is
free: schedules and models take whatever foundations, intensities and scenes it holds.
"""

from __future__ import annotations

import csv
import io
from difflib import get_close_matches
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from moralscale.errors import SceneError
from moralscale.records import FOUNDATIONS, INTENSITIES, Scene

COLUMNS = ("id", "foundation", "intensity", "anchor", "text")
_HEADER = ",".join(COLUMNS)
#: Written forms of an intensity; spreadsheets like a plus sign.
_INTENSITY_FORMS = {form: i for i in INTENSITIES for form in (f"{i}", f"{i:+d}")} | {"0": 0}
#: Written forms of a flag; spreadsheets like capitals.
_ANCHOR_FORMS = {form: form.lower() == "true" for w in ("true", "false") for form in (w, w.upper())}

#: What was wrong and how to mend it, by the name of the check that failed.
_FAULTS = {
    "id_characters": (
        "id {value!r} is empty or has other characters than letters, digits, '.', '_' and '-'",
        "write an id like 'care-m2-01'",
    ),
    "id_unique": ("duplicate id {value!r}, already in row {earlier}", "give each scene its own id"),
    "foundation": ("unknown foundation {value!r}", "{suggestion}use one of {foundations}"),
    "intensity": ("intensity {value!r} is not on the scale", "use one of -2, -1, 0, 1, 2"),
    "anchor": ("anchor {value!r} is not a flag", "write true or false"),
    "text_filled": ("empty text", "write the scene's text or delete the row"),
    "text_one_line": ("text {value!r} has a line break or tab", "write the text on one line"),
    "text_unique": (
        "duplicate text {value!r}, already in row {earlier}",
        "reword or delete one of the two scenes",
    ),
}


def load_scenes(path: str | Path) -> pd.DataFrame:
    """Read and validate a corpus.

    Parameters
    ----------
    path : str or Path
        CSV file, UTF-8 (a byte order mark is allowed), columns in any order. Space around a value is
        dropped and empty lines are skipped.

    Returns
    -------
    pandas.DataFrame
        One row a scene in file order: id (str), foundation (str), intensity (int64), anchor (bool),
        text (str); default index.

    Raises
    ------
    SceneError
        The file cannot be read, its columns are not those above, or a row is not valid. The error
        names the first such row by its line in the file, counted from 1 as an editor does.
    """
    path = Path(path)
    frame, lines = _read_rows(path)
    try:
        _schema().validate(frame, lazy=True)
    except pa.errors.SchemaErrors as error:
        raise _first_fault(error.failure_cases, frame, lines, path) from None
    return frame.assign(
        intensity=frame["intensity"].map(_INTENSITY_FORMS).astype("int64"),
        anchor=frame["anchor"].map(_ANCHOR_FORMS).astype(bool),
    )


def scene_records(frame: pd.DataFrame) -> dict[str, Scene]:
    """Scenes by id, in the order of a frame from `load_scenes`."""
    columns = (frame[name].tolist() for name in COLUMNS)
    return {row[0]: Scene(*row) for row in zip(*columns, strict=True)}


def _read_rows(path: Path) -> tuple[pd.DataFrame, list[int]]:
    """All values as stripped strings, and the line at which each row starts."""
    # A record with a quoted line break spans lines, so the reader's own count says where it starts.
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), strict=True)
    header: list[str] | None = None
    rows, lines, line = [], [], 1
    try:
        for values in reader:
            row, line = [value.strip() for value in values], reader.line_num + 1
            start = line - 1 - sum(value.count("\n") for value in values)
            if not any(row):
                continue
            if header is None:
                header = _checked_header(row, path)
            elif len(row) != len(header):
                raise SceneError(
                    f"{len(row)} values for {len(header)} columns",
                    where=f"{path}, row {start}",
                    mend='put a text that has commas in "double quotes"',
                )
            else:
                rows.append(row)
                lines.append(start)
    except csv.Error as error:
        raise SceneError(
            f"not valid CSV ({error})",
            where=f"{path}, row {line}",
            mend='close every quote, and write a quote inside a text as ""',
        ) from None
    if not rows:
        mend = f"write the header {_HEADER} and one row for each scene"
        raise SceneError("no scenes in the file", where=str(path), mend=mend)
    return pd.DataFrame(rows, columns=header, dtype="str")[list(COLUMNS)], lines
