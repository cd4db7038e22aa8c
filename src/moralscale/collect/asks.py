"""From a schedule to the questions that a judge is asked."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.compute
import pyarrow.parquet as parquet

from moralscale.errors import DesignError
from moralscale.journal import Journal
from moralscale.prompts import PromptTemplate, render
from moralscale.providers.base import Ask, Provider, key_of

#: Columns of a schedule, in the order of the files under ``design``.
SCHEDULE_COLUMNS = (
    "comparison_id",
    "arena",
    "judge",
    "first",
    "second",
    "first_order",
    "second_order",
    "repeat",
    "prompt",
)
#: Columns whose texts recur.
RECURRING = tuple(name for name in SCHEDULE_COLUMNS if name not in ("comparison_id", "repeat"))
#: Rows of the schedule that are looked at together.
CHUNK = 4096
#: Rows that are read together.
READ = 32_768


@dataclass(frozen=True)
class Asks:
    """The questions of one judge's schedule, rendered one by one as they are needed.

    Attributes
    ----------
    schedule : DataFrame
        Comparisons of one judge, with `SCHEDULE_COLUMNS`.
    acts : dict
        Texts of the acts of each contestant, in the order ``a``, ``b``.
    templates : mapping
        Prompt templates by name.
    rows : sequence of int, optional
        Positions in the schedule of those that are meant; all unless given.
    """

    schedule: pd.DataFrame
    acts: Mapping[str, tuple[str, ...]]
    templates: Mapping[str, PromptTemplate]
    rows: Sequence[int] | None = None

    @classmethod
    def of(
        cls,
        schedule: pd.DataFrame,
        scenes: pd.DataFrame,
        composites: pd.DataFrame,
        templates: Mapping[str, PromptTemplate],
    ) -> Asks:
        """Check a schedule against scenes, composites and templates.

        Raises
        ------
        DesignError
            A column is missing, a comparison stands twice, several judges are mixed, or a
            contestant or template is unknown.
        """
        acts = contestant_acts(scenes, composites)
        _check(schedule, acts, templates)
        return cls(schedule, acts, templates)

    def __len__(self) -> int:
        """Count the comparisons."""
        return len(self.schedule) if self.rows is None else len(self.rows)

    def __iter__(self) -> Iterator[Ask]:
        """Render the questions in the order of the schedule."""
        for start in range(0, len(self), CHUNK):
            rows = slice(start, start + CHUNK)
            chunk = self.schedule.iloc[rows if self.rows is None else list(self.rows[rows])]
            for row in chunk.itertuples(index=False):
                yield self._ask(row)

    def at(self, rows: Sequence[int]) -> Asks:
        """Return the questions at these positions of the schedule only."""
        return replace(self, rows=rows)

    def _ask(self, row: Any) -> Ask:
        first, second = self._shown(row, "first"), self._shown(row, "second")
        prompt = render(self.templates[row.prompt], first, second)
        return Ask(
            comparison_id=row.comparison_id,
            system=prompt.system,
            user=prompt.user,
            labels=tuple(prompt.labels),
            contestants=(row.first, row.second, row.first_order, row.second_order),
            template=row.prompt,
            repeat=int(row.repeat),
        )

    def _shown(self, row: Any, side: str) -> tuple[str, ...]:
        """Texts of the acts of one option, in the order in which they are shown."""
        acts, order = self.acts[getattr(row, side)], getattr(row, f"{side}_order")
        if order == "ab"[: len(acts)]:
            return acts
        if order == "ba" and len(acts) == 2:
            return acts[::-1]
        what = f"an option of {len(acts)} acts cannot be shown in order '{order}'"
        where = f"comparison {row.comparison_id}, column {side}_order"
        raise DesignError(what, where=where, mend="make the schedule anew")


def read_schedules(paths: Sequence[str], judge: str) -> pd.DataFrame:
    """Read one judge's comparisons of several arenas.

    Returns
    -------
    DataFrame
        `SCHEDULE_COLUMNS` in any order. Texts that recur are categories: a million rows must stay
        small.
    """
    known: dict[str, dict[Any, int]] = {name: {} for name in RECURRING}
    codes: dict[str, list[np.ndarray]] = {name: [] for name in RECURRING}
    rest = []
    for batch in (batch for path in paths for batch in _batches_of(path, judge)):
        rest.append(batch.select(["comparison_id", "repeat"]))
        for name in RECURRING:
            column = batch.column(name).combine_chunks()
            values = known[name]
            places = [values.setdefault(v, len(values)) for v in column.dictionary.to_pylist()]
            own = np.asarray(places, dtype=np.int32)[column.indices.to_numpy()]
            codes[name].append(own.astype(np.min_scalar_type(-len(values) - 1)))
    columns: pd.DataFrame = pyarrow.concat_tables(rest).to_pandas(
        split_blocks=True, self_destruct=True
    )
    for name in RECURRING:
        own = np.concatenate(codes.pop(name))
        categories = pd.Index(list(known[name]))
        columns[name] = pd.Categorical.from_codes(own, categories=categories)
    pyarrow.default_memory_pool().release_unused()
    return columns


def _batches_of(path: str, judge: str) -> Iterator[pyarrow.Table]:
    """Read a schedule part by part: as a whole, it takes several times what is kept of it."""
    with parquet.ParquetFile(path, read_dictionary=list(RECURRING)) as file:
        for batch in file.iter_batches(READ, columns=list(SCHEDULE_COLUMNS)):
            own = pyarrow.compute.field("judge") == judge
            yield pyarrow.Table.from_batches([batch]).filter(own)


def contestant_acts(scenes: pd.DataFrame, composites: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Texts of the acts of every contestant: one for a scene, two for a composite.

    Raises
    ------
    DesignError
        A composite names a scene that the corpus does not have.
    """
    texts = dict(zip(scenes["id"], scenes["text"], strict=True))
    acts: dict[str, tuple[str, ...]] = {scene: (text,) for scene, text in texts.items()}
    columns = ("composite_id", "scene_a", "scene_b")
    for composite, *pair in zip(*(composites[name] for name in columns), strict=True):
        for scene in pair:
            if scene not in texts:
                where = f"composite {composite}"
                raise DesignError(
                    f"unknown scene '{scene}'", where=where, mend="make the design anew"
                )
        acts[composite] = (texts[pair[0]], texts[pair[1]])
    return acts


def _check(
    schedule: pd.DataFrame, acts: Mapping[str, Any], templates: Mapping[str, PromptTemplate]
) -> None:
    mend = "make the schedule anew"
    for column in SCHEDULE_COLUMNS:
        if column not in schedule:
            raise DesignError(f"the schedule has no column '{column}'", mend=mend)
    if schedule["judge"].nunique() > 1:
        judges = ", ".join(sorted(schedule["judge"].unique())[:3])
        raise DesignError(
            f"the schedule mixes judges: {judges}", mend="collect one judge at a time"
        )
    # Hashes first: they take a tenth of the memory, and few schedules are at fault.
    ids = schedule["comparison_id"]
    parts = (ids.iloc[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
    hashes = np.fromiter((hash(one) for part in parts for one in part), np.int64, len(ids))
    hashes.sort()
    suspect = bool((hashes[1:] == hashes[:-1]).any())
    if suspect and ids.duplicated().any():
        twice = ids[ids.duplicated()]
        raise DesignError(f"comparison {twice.iloc[0]} stands twice in the schedule", mend=mend)
    for column, known in (("first", acts), ("second", acts), ("prompt", templates)):
        if not known.keys() >= set(schedule[column].unique()):
            row = schedule.loc[~schedule[column].isin(list(known))].iloc[0]
            where = f"comparison {row['comparison_id']}, column {column}"
            raise DesignError(f"unknown: '{row[column]}'", where=where, mend=mend)


def still_open(asks: Asks, provider: Provider, journal: Journal) -> Sequence[int]:
    """Positions of the questions without an answer, or with one that was cut short."""
    if not len(journal):
        return range(len(asks))
    standings = (journal.answered(key_of(provider, ask)) for ask in asks)
    return array("L", (n for n, found in enumerate(standings) if found is None or found.again))
