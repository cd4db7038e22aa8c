"""The corpus of scenes: load and validate.

A corpus is a UTF-8 CSV file with the columns `id, foundation, intensity, anchor, text`. Its size,
foundations and intensities are free: how many scenes a cell needs is the business of the design,
not of loading.
"""

from __future__ import annotations

import csv
import io
from difflib import get_close_matches
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from moralscale.errors import SceneError

COLUMNS = ("id", "foundation", "intensity", "anchor", "text")

#: Written forms of an intensity; some people write a plus sign.
_INTENSITY_FORMS = {form: i for i in range(-9, 10) for form in (str(i), f"{i:+d}")}
#: Written forms of a flag; spreadsheets write capitals.
_ANCHOR_FORMS = {
    form: form.lower() == "true" for form in "true True TRUE false False FALSE".split()
}
#: What was wrong and how to mend it, by the name of the check that failed.
_FAULTS = {
    "id characters": (
        "id {value!r} is not made of letters, digits, '.', '_' and '-'",
        "write an id like 'care-m2-01'",
    ),
    "id unique": ("duplicate id {value!r}, first in row {first}", "give each scene its own id"),
    "foundation characters": (
        "foundation {value!r} is not a name of letters, digits, '_' and '-'",
        "write a name such as care, without accents",
    ),
    "foundation spelling": (
        "unknown foundation {value!r}",
        "did you mean {nearest!r}? A foundation of its own needs a name that is not so near",
    ),
    "intensity": (
        "intensity {value!r} is not a whole number from -9 to 9",
        "use a scale such as -2, -1, 0, 1, 2",
    ),
    "anchor": ("anchor {value!r} is not a flag", "write true or false"),
    "text filled": ("empty text", "write the text of the scene, or delete the row"),
    "text on one line": ("text {value!r} has a line break or a tab", "write it on one line"),
    "text unique": ("duplicate text {value!r}, first in row {first}", "reword or delete one"),
}


def load_scenes(path: str | Path) -> pd.DataFrame:
    """Read and validate a corpus.

    Parameters
    ----------
    path : str or Path
        CSV file in UTF-8, with or without a byte order mark; columns in any order. Space around a
        value is dropped, empty lines are skipped.

    Returns
    -------
    pandas.DataFrame
        One row a scene, in file order: id (str), foundation (str), intensity (int64), anchor
        (bool), text (str); the index is 0, 1, ...

    Raises
    ------
    SceneError
        The file cannot be read, its columns are not the five above, or a row is not valid. The
        error names the first such row by its line in the file, as an editor counts.

    Examples
    --------
    >>> from moralscale.resources import project_folder
    >>> corpus = load_scenes(project_folder() / "scenarios/scenes.csv")
    >>> corpus["intensity"].value_counts().sort_index().to_dict()
    {-2: 46, -1: 46, 0: 45, 1: 46, 2: 46}
    """
    path = Path(path)
    header, rows = _read_records(path)
    frame = pd.DataFrame(list(rows.values()), columns=header, dtype="str")[list(COLUMNS)]
    try:
        _schema().validate(frame, lazy=True)
    except pa.errors.SchemaErrors as error:
        raise _first_fault(error.failure_cases, frame, list(rows), path) from None
    return frame.assign(
        intensity=frame["intensity"].map(_INTENSITY_FORMS).astype("int64"),
        anchor=frame["anchor"].map(_ANCHOR_FORMS).astype(bool),
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"{path}, row {error.object[: error.start].count(b'\n') + 1}"
        raise SceneError("not UTF-8", where=where, mend="save the file as CSV UTF-8") from None
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise SceneError(what, where=str(path), mend="check the path of the scene file") from None


def _read_records(path: Path) -> tuple[list[str], dict[int, list[str]]]:
    """Header and records, each record by the line on which it starts."""
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), strict=True)
    header: list[str] = []
    records: dict[int, list[str]] = {}
    line = 1
    try:
        for values in reader:
            record = [value.strip() for value in values]
            if any(record) and not header:
                header = _checked_header(record, f"{path}, row {line}")
            elif any(record):
                records[line] = _checked_width(record, header, f"{path}, row {line}")
            line = reader.line_num + 1  # a quoted line break makes a record longer than a line
    except csv.Error as error:
        mend = "close each quote, and write a quote within a text twice"
        raise SceneError(f"not CSV ({error})", where=f"{path}, row {line}", mend=mend) from None
    if not records:
        mend = f"write the header {','.join(COLUMNS)} and a row for each scene"
        raise SceneError("no scenes in the file", where=str(path), mend=mend)
    return header, records


def _checked_header(header: list[str], where: str) -> list[str]:
    missing = [name for name in COLUMNS if name not in header]
    unknown = [name for name in header if name not in COLUMNS]
    twice = [name for name in COLUMNS if header.count(name) > 1]
    for kind, names in (("missing", missing), ("unknown", unknown), ("repeated", twice)):
        if names:
            mend = f"write the header as {','.join(COLUMNS)}, with commas"
            raise SceneError(f"{kind} column {names[0]!r}", where=where, mend=mend)
    return header


def _checked_width(record: list[str], header: list[str], where: str) -> list[str]:
    if len(record) != len(header):
        what = f"{len(record)} values for {len(header)} columns, the last {record[-1]!r}"
        raise SceneError(what, where=where, mend="put a text with commas in double quotes")
    return record


def _schema() -> pa.DataFrameSchema:
    """Describe the written values; each check is named by its key in `_FAULTS`."""
    check = pa.Check
    checks = {
        "id": [
            check.str_matches(r"^[A-Za-z0-9._-]+\Z", error="id characters"),
            check(lambda ids: ~ids.duplicated(), error="id unique"),
        ],
        "foundation": [
            check.str_matches(r"^[A-Za-z][A-Za-z0-9_-]*\Z", error="foundation characters"),
            check(lambda names: names.map(_misspelt(names)).isna(), error="foundation spelling"),
        ],
        "intensity": [check.isin(list(_INTENSITY_FORMS), error="intensity")],
        "anchor": [check.isin(list(_ANCHOR_FORMS), error="anchor")],
        "text": [
            check(lambda texts: texts != "", error="text filled"),
            check(lambda texts: ~texts.str.contains(r"[\x00-\x1f\x7f\x85\u2028\u2029]"),
                  error="text on one line"),
            check(lambda texts: ~_folded(texts).duplicated(), error="text unique"),
        ],
    }  # fmt: skip
    return pa.DataFrameSchema({name: pa.Column(str, checks[name]) for name in COLUMNS}, strict=True)


def _folded(texts: pd.Series) -> pd.Series:
    """Texts as a reader takes them: neither case nor the width of a space tells them apart."""
    return texts.str.casefold().str.split().str.join(" ")


def _misspelt(names: pd.Series) -> dict[str, str]:
    """Foundations that are others in other letters, with those others.

    Such is a name that differs from an earlier one in case alone, or stands in a single row and is
    nearly that of an earlier or of a commoner one.
    """
    counts = names.value_counts()
    known: list[str] = []
    found = {}
    for name in names.drop_duplicates():
        same = [other for other in known if other.casefold() == name.casefold()]
        commoner = known + [other for other in counts.index[counts > 1] if other != name]
        near = get_close_matches(name, commoner, n=1, cutoff=0.7) if counts[name] == 1 else []
        if same or near:
            found[name] = (same or near)[0]
        else:
            known.append(name)
    return found


def _first_fault(
    cases: pd.DataFrame, frame: pd.DataFrame, lines: list[int], path: Path
) -> SceneError:
    """Pick the fault nearest to the top of the file; within a row, the leftmost and plainest."""
    order = cases.assign(place=cases["column"].map(COLUMNS.index))
    case = order.sort_values(["index", "place", "check_number"]).iloc[0]
    row, column = int(case["index"]), case["column"]
    value = frame[column][row]
    keys = _folded(frame[column]) if column == "text" else frame[column]
    words = {
        "value": value,
        "first": lines[int((keys == keys[row]).argmax())],
        "nearest": _misspelt(frame["foundation"]).get(value, ""),
    }
    what, mend = (part.format(**words) for part in _FAULTS[case["check"]])
    return SceneError(what, where=f"{path}, row {lines[row]}, column {column}", mend=mend)
