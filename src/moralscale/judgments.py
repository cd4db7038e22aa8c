"""The table of judgments: one row a comparison and judge, checked when it is read or written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet as parquet

from moralscale.errors import JudgmentError
from moralscale.judgment_schema import ARROW_SCHEMA, COLUMNS, WHOLE, validate
from moralscale.records import Arena, Outcome

#: Outcomes that are verdicts; ties are fitted where the model has a place for them.
VALID = (Outcome.FIRST, Outcome.SECOND, Outcome.TIE)


def arrange(table: pd.DataFrame) -> pd.DataFrame:
    """Bring a table into its one order: columns as `COLUMNS`, rows by arena, judge, comparison.

    Parameters
    ----------
    table : DataFrame
        Judgments with at least `COLUMNS`.

    Returns
    -------
    DataFrame
        The same judgments, with plain types and a fresh index.
    """
    table = table.loc[:, list(COLUMNS)]
    types = {f.name: "int64" if f.type == WHOLE else "str" for f in ARROW_SCHEMA}
    table = table.astype(types)
    place = table["arena"].map({arena.value: n for n, arena in enumerate(Arena)})
    table = table.assign(_place=place).sort_values(["_place", "judge", "comparison_id"])
    return table.drop(columns="_place").reset_index(drop=True)


def read_judgments(path: str | Path) -> pd.DataFrame:
    """Read and check a table of judgments from Parquet.

    Raises
    ------
    JudgmentError
        The file is missing, is not Parquet, or does not hold judgments.
    """
    path = Path(path)
    if not path.is_file():
        raise JudgmentError("file not found", where=str(path), mend="collect or import it first")
    try:
        table = parquet.read_table(path).to_pandas()
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise JudgmentError(f"not a Parquet file: {reason}", where=str(path)) from None
    return validate(table, source=str(path))


def write_judgments(table: pd.DataFrame, path: str | Path) -> None:
    """Check a table of judgments and write it; the same judgments give the same bytes.

    Raises
    ------
    JudgmentError
        As of `validate`; or the file cannot be written.
    """
    table = validate(arrange(table), source=str(path))
    arrow = pyarrow.Table.from_pandas(table, schema=ARROW_SCHEMA, preserve_index=False)
    # Without metadata: pandas would write its version and the types of its index.
    arrow = arrow.replace_schema_metadata(None)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(arrow, path, compression="zstd", row_group_size=1 << 17)
    except OSError as error:
        what, mend = f"cannot be written: {error}", "make room or the folder writable, run again"
        raise JudgmentError(what, where=str(path), mend=mend) from None


def merge(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Merge the judgments of several judges.

    Raises
    ------
    JudgmentError
        There is nothing to merge, a shard is not valid, or two shards hold the same comparison.
    """
    shards = {str(path): read_judgments(path) for path in paths}
    if not shards:
        raise JudgmentError("there are no judgments to merge", mend="name at least one judge")
    seen: dict[str, str] = {}
    for path, shard in shards.items():
        for row, comparison in enumerate(shard["comparison_id"], start=1):
            if comparison in seen:
                what = f"comparison '{comparison}' is in {seen[comparison]} too"
                where = f"{path}, row {row}, column comparison_id"
                raise JudgmentError(what, where=where, mend="give each judge one file")
        seen |= dict.fromkeys(shard["comparison_id"], path)
    return arrange(pd.concat(shards.values(), ignore_index=True))


def count_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Count judgments by judge and arena.

    Returns
    -------
    DataFrame
        judge, arena; planned, attempted and answered comparisons; one column an outcome; and
        valid, those that are verdicts (first, second, tie).
    """
    rows = []
    for arena in Arena:
        of_arena = table[table["arena"] == arena.value]
        for judge, own in of_arena.groupby("judge", sort=True):
            counts = own["outcome"].value_counts()
            by_outcome = {outcome.value: int(counts.get(outcome.value, 0)) for outcome in Outcome}
            rows.append(
                {
                    "judge": judge,
                    "arena": arena.value,
                    "planned": len(own),
                    "attempted": int((own["attempts"] > 0).sum()),
                    "answered": int(own["outcome"].notna().sum()),
                    **by_outcome,
                    "valid": sum(by_outcome[outcome] for outcome in VALID),
                }
            )
    names = ["judge", "arena", "planned", "attempted", "answered", *Outcome, "valid"]
    return pd.DataFrame(rows, columns=[str(name) for name in names])
