"""From a table of any names and labels to checked comparisons; every fault with its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from moralscale.bradley_terry import VERDICTS
from moralscale.errors import ConfigError, JudgmentError, suggestion
from moralscale.rating.comparisons import Comparisons
from moralscale.rating.formats import Wanted, from_frame, read_table

NEEDED = ("first", "second", "outcome")
OPTIONAL = ("n", "weight", "judge")
WORDS = ("first", "second", "outcome", "judge")
#: Code of a label that is left out.
IGNORED = len(VERDICTS)
#: The most that counts may come to: above, doubles no longer hold them.
MOST = 2**53


def read_comparisons(
    source: str | Path | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    outcomes: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
) -> Comparisons:
    """Read and check paired comparisons.

    Parameters
    ----------
    source : path or DataFrame
        CSV, TSV, JSON lines or Parquet, by its suffix; or a table.
    columns : mapping, optional
        The file's names of the columns ``first``, ``second``, ``outcome``, ``n``, ``weight``,
        ``judge``, where they differ. The last three need not be there.
    outcomes : mapping, optional
        The file's outcome labels as ``first``, ``second`` or ``tie``:
        ``{"home": "first", "away": "second"}``. These words themselves are known.
    ignore : sequence of str, optional
        Outcome labels whose rows are left out and counted.

    Raises
    ------
    JudgmentError
        The file cannot be read, or a row is not a comparison; the error names the row.
    ConfigError
        `columns` or `outcomes` name something that does not exist.
    """
    names = _names(columns or {})
    labels = _labels(outcomes or {}, ignore)
    must = dict.fromkeys((*NEEDED, *(columns or {})))
    wanted = Wanted(
        needed=tuple(names[key] for key in must),
        optional=tuple(name for key, name in names.items() if key not in must),
        words=tuple(names[key] for key in WORDS if key in names),
    )
    if isinstance(source, pd.DataFrame):
        table, first_row, place = from_frame(source, wanted), 1, "table"
    elif not isinstance(source, str | Path):
        what = f"{type(source).__name__} is no table"
        raise JudgmentError(what, where="comparisons", mend="give a file or a DataFrame")
    else:
        table, first_row = read_table(Path(source), wanted)
        place = str(source)
    return _Reader(table, names, place, first_row).read(labels)


def _names(columns: Mapping[str, str]) -> dict[str, str]:
    known = (*NEEDED, *OPTIONAL)
    for key in columns:
        if key not in known:
            raise ConfigError(
                f"unknown column '{key}'", where="columns", mend=suggestion(key, known)
            )
    names = {key: columns.get(key, key) for key in known if key in columns or key in NEEDED}
    if len(set(names.values())) < len(names):
        raise ConfigError("one column of the file is named twice", where="columns")
    # A column that is mapped to something else is not also what its own name says.
    return names | {key: key for key in known if key not in names and key not in names.values()}


def _labels(outcomes: Mapping[str, str], ignore: Sequence[str]) -> dict[str, int]:
    verdicts = [str(verdict) for verdict in VERDICTS]
    labels = {verdict: code for code, verdict in enumerate(verdicts)}
    for label, verdict in outcomes.items():
        if verdict not in verdicts:
            raise ConfigError(
                f"unknown outcome '{verdict}'",
                where="outcomes",
                mend=suggestion(str(verdict), verdicts),
            )
        labels[label] = verdicts.index(verdict)
    # A single text is one label, not its letters.
    left_out = [ignore] if isinstance(ignore, str) else ignore
    return labels | dict.fromkeys(left_out, IGNORED)


class _Reader:
    """One table, its names of columns, and how to name its rows."""

    def __init__(self, table: pa.Table, names: dict[str, str], place: str, first_row: int) -> None:
        self._table, self._names = table, names
        self._place, self._first_row = place, first_row

    def read(self, labels: dict[str, int]) -> Comparisons:
        if not len(self._table):
            raise JudgmentError("no judgments", where=self._place, mend="write a row for each")
        first, of_first = self._words("first")
        second, of_second = self._words("second")
        contestants = tuple(sorted({*of_first, *of_second}))
        first, second = (
            _placed(codes, words, contestants)
            for codes, words in ((first, of_first), (second, of_second))
        )
        self._check_pairs(first, second, contestants)
        outcome, labelled, label_idx = self._outcomes(labels, first, second, contestants)
        judge_idx: NDArray[np.int64] | None = None
        judges: tuple[str, ...] = ()
        if self._has("judge"):
            codes, of_judge = self._words("judge")
            judges = tuple(sorted(set(of_judge)))
            judge_idx = _placed(codes, of_judge, judges)
        n, weight = self._number("n"), self._number("weight")
        kept = outcome != IGNORED
        if not kept.any():
            raise JudgmentError("every row is left out by its outcome", where=self._place)
        left_out = np.bincount(label_idx[~kept], None if n is None else n[~kept], len(labelled))
        return Comparisons(
            contestants=contestants,
            first_idx=first,
            second_idx=second,
            outcome=outcome,
            n=n,
            weight=weight,
            judges=judges,
            judge_idx=judge_idx,
            ignored={labelled[i]: int(left_out[i]) for i in np.flatnonzero(left_out)},
            source=self._place,
        ).only(kept)

    def _has(self, key: str) -> bool:
        return self._names.get(key) in self._table.column_names

    def _fault(self, row: int, key: str, what: str, mend: str = "") -> JudgmentError:
        where = f"{self._place}, row {row + self._first_row}, column {self._names[key]}"
        return JudgmentError(what, where=where, mend=mend)

    def _words(self, key: str) -> tuple[NDArray[np.int64], list[str]]:
        """Codes and words of a column of text; spaces around a word are not part of it."""
        column = self._table[self._names[key]].combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if pa.types.is_null(column.dictionary.type):
            raise self._fault(0, key, "missing value", "fill it in")
        words = [(word or "").strip() for word in column.dictionary.cast(pa.string()).to_pylist()]
        filled = np.array([word not in ("", "NaN", "nan") for word in words] + [False])
        codes = column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        codes = codes.astype(np.int64)
        if not filled[codes].all():
            row = int(np.argmin(filled[codes]))
            raise self._fault(row, key, "missing value", "fill it in, or delete the row")
        return codes, words

    def _check_pairs(
        self, first: NDArray[np.int64], second: NDArray[np.int64], contestants: tuple[str, ...]
    ) -> None:
        same = first == second
        if same.any():
            row = int(same.argmax())
            name = contestants[first[row]]
            raise self._fault(row, "second", f"'{name}' is compared with itself", "delete the row")

    def _outcomes(
        self,
        labels: dict[str, int],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        contestants: tuple[str, ...],
    ) -> tuple[NDArray[np.int8], list[str], NDArray[np.int64]]:
        """Find what each row came to, the labels, and which of them each row has."""
        codes, words = self._words("outcome")
        meaning = np.array([labels.get(word, -1) for word in words], dtype=np.int8)
        outcome = meaning[codes]
        if (outcome < 0).any():
            row = int((outcome < 0).argmax())
            word = words[codes[row]]
            if word in (contestants[first[row]], contestants[second[row]]):
                mend = f"write '{VERDICTS[word == contestants[second[row]]]}'"
                raise self._fault(row, "outcome", f"the winner is given by name, '{word}'", mend)
            mend = (
                "map it by --outcomes LABEL=first|second|tie, or leave such rows out"
                " by --ignore LABEL"
            )
            raise self._fault(row, "outcome", f"unknown outcome '{word[:60]}'", mend)
        return outcome, words, codes

    def _number(self, key: str) -> NDArray[Any] | None:
        """Read counts, whole numbers from 1 on, or weights, finite numbers above 0."""
        if not self._has(key):
            return None
        column = self._table[self._names[key]]
        values: NDArray[Any]
        try:
            values = pc.cast(column, pa.float64()).to_numpy()
        except (pa.ArrowException, ValueError):
            values = pd.to_numeric(column.to_pandas(), errors="coerce").to_numpy(dtype=float)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(values) & (values > 0)
            if key == "n":
                good &= (values == np.floor(values)) & (values < MOST)
        if not good.all():
            row = int(np.argmin(good))
            kind = "a finite number above 0"
            if key == "n":
                kind = f"a whole number from 1 to {MOST - 1}"
            value = column[row].as_py()
            what = "missing value" if value is None else f"'{str(value)[:40]}' is not {kind}"
            raise self._fault(row, key, what, "" if value is not None else f"write {kind}")
        if values.sum() >= MOST or (key == "weight" and values.max() / values.min() > 1e12):
            raise JudgmentError(
                f"the numbers in column {self._names[key]} are too far apart "
                "or too large to be added",
                where=self._place,
            )
        return values.astype(np.int64, copy=False) if key == "n" else values


def _placed(
    codes: NDArray[np.int64], words: list[str], sorted_words: tuple[str, ...]
) -> NDArray[np.int64]:
    """Turn codes of words into places in sorted words."""
    place = {word: i for i, word in enumerate(sorted_words)}
    return np.array([place[word] for word in words], dtype=np.int64)[codes]
