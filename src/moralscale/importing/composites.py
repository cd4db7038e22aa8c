"""Composites that were judged elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from moralscale.design.composites import make_composites
from moralscale.errors import JudgmentError, suggestion
from moralscale.importing.reading import read_table
from moralscale.records import config_name, foundations_of
from moralscale.scenes import load_scenes

COLUMNS = ("composite_id", "scene_a", "scene_b")


def design_composites(
    scenes: str | Path, given: str | Path | None, *, realisations: int, seed: int
) -> pd.DataFrame:
    """Make the composites of a run, or read those that it brings; errors as of either.

    Parameters
    ----------
    scenes : path
        The corpus.
    given : path or None
        Composites that were judged elsewhere.
    realisations, seed : int
        As of `design.make_composites`.
    """
    corpus = load_scenes(scenes)
    if given:
        return load_composites(given, corpus)
    return make_composites(corpus, realisations=realisations, seed=seed)


def load_composites(path: str | Path, scenes: pd.DataFrame) -> pd.DataFrame:
    """Read composites and complete them from the corpus.

    Parameters
    ----------
    path : path
        A .csv, .jsonl or .parquet file with the columns `composite_id`, `scene_a` and `scene_b`;
        others are left out.
    scenes : DataFrame
        The corpus.

    Returns
    -------
    DataFrame
        As `design.make_composites` returns it, in the order of the file.

    Raises
    ------
    JudgmentError
        The file cannot be read; or, of the first row at fault: a value is missing, an id stands
        twice, a scene is not in the corpus, or the two scenes make no composite of this model.
    """
    table = read_table(path)
    for column in COLUMNS:
        if column not in table:
            raise JudgmentError(f"column '{column}' is missing", where=str(path), mend="add it")
    known = {
        name: (foundation, int(intensity))
        for name, foundation, intensity in zip(
            scenes["id"], scenes["foundation"], scenes["intensity"], strict=True
        )
    }
    order = foundations_of(scenes["foundation"])
    rows, seen = [], set[str]()
    for number, row in enumerate(table[list(COLUMNS)].to_dict("records"), start=1):
        where = f"{path}, row {number}"
        _check(row, known, seen, order, where)
        seen.add(row["composite_id"])
        (a, i), (b, k) = known[row["scene_a"]], known[row["scene_b"]]
        profile = f"{a}{i:+d}.{b}{k:+d}"
        made = (row["composite_id"], profile, a, b, i, k, config_name(i, k))
        rows.append((*made, row["scene_a"], row["scene_b"]))
    names = "composite_id profile foundation_a foundation_b intensity_a intensity_b config"
    return pd.DataFrame(rows, columns=[*names.split(), "scene_a", "scene_b"])


def _check(
    row: Mapping[Any, Any],
    known: dict[str, tuple[str, int]],
    seen: set[str],
    order: tuple[str, ...],
    where: str,
) -> None:
    for column in COLUMNS:
        value = row[column]
        if pd.isna(value):
            raise JudgmentError("the value is missing", where=f"{where}, column {column}")
        if column != "composite_id" and value not in known:
            mend = suggestion(value, known)
            mend = mend if mend.startswith("did you mean") else "use ids of the corpus (`scenes`)"
            what = f"'{value}' is not a scene of the corpus"
            raise JudgmentError(what, where=f"{where}, column {column}", mend=mend)
    if row["composite_id"] in seen:
        what = f"'{row['composite_id']}' stands twice"
        raise JudgmentError(what, where=f"{where}, column composite_id", mend="remove one of them")
    (a, i), (b, k) = known[row["scene_a"]], known[row["scene_b"]]
    for column, intensity in (("scene_a", i), ("scene_b", k)):
        if intensity == 0:
            what = f"'{row[column]}' is neutral: composites hold no scenes of intensity 0"
            raise JudgmentError(what, where=f"{where}, column {column}", mend="leave it out")
    if a == b:
        what = f"both scenes are of {a}: composites hold scenes of two foundations"
        raise JudgmentError(what, where=f"{where}, column scene_b", mend="leave it out")
    if order.index(a) > order.index(b):
        what = f"{a} stands before {b}; the order is {', '.join(order)}"
        mend = "exchange scene_a and scene_b, and `ab` and `ba` where judgments give an order"
        raise JudgmentError(what, where=f"{where}, column scene_a", mend=mend)
