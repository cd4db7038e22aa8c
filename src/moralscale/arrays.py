"""Judgments as index arrays: what the likelihood reads."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moralscale.errors import JudgmentError, ModelError, suggestion
from moralscale.estimands import Estimands
from moralscale.records import FOUNDATIONS, INTENSITIES, USED, Arena, Outcome

LOG = logging.getLogger(__name__)
Index = NDArray[np.int64]

#: Which arenas a fit reads, by the name of its data.
DATA = {
    "study": (Arena.SINGLE, Arena.COMPOSITE),
    "bridged": (Arena.SINGLE, Arena.COMPOSITE, Arena.BRIDGE),
}


@dataclass(frozen=True, eq=False)
class Arrays:
    """Decided judgments against the strength table.

    The strength table of a fit has one row a judge and one column a *slot*: the scenes as the
    single arena shows them, the composites as the composite arena shows them and, where there are
    bridge judgments, both again as the bridge arena shows them. A judgment is two places in the
    raveled table and who won.

    Attributes
    ----------
    first_idx, second_idx : (judgment,), int
        Places of the two contestants in the raveled (judge, slot) table.
    first_won : (judgment,), bool
        Whether the contestant shown first was chosen.
    judge_idx, arena_idx : (judgment,), int
        Judge and arena (in the order of `coords`).
    foundation_idx, intensity : (scene,), int
        Position in `records.FOUNDATIONS`, and the intensity label.
    estimands : Estimands
        What the composites are made of.
    coords : dict
        Coordinates of the model's dims.
    bridged : bool
        Whether there are bridge judgments.
    """

    first_idx: Index
    second_idx: Index
    first_won: NDArray[np.bool_]
    judge_idx: Index
    arena_idx: Index
    foundation_idx: Index
    intensity: Index
    estimands: Estimands
    coords: dict[str, list[Any]]
    bridged: bool

    @property
    def judgments_a_scene(self) -> float:
        """Judgments of the single arena in which a scene takes part, on average over the panel."""
        single = self.coords["arena"].index(Arena.SINGLE)
        return 2 * float((self.arena_idx == single).sum()) / len(self.coords["scene"])

    @property
    def n_slots(self) -> int:
        """Columns of the strength table."""
        once = len(self.coords["scene"]) + len(self.coords["composite"])
        return 2 * once if self.bridged else once

    @property
    def slots(self) -> tuple[Index, Index]:
        """Columns of the two contestants in the strength table: two of (judgment,)."""
        return self.first_idx % self.n_slots, self.second_idx % self.n_slots


def make_arrays(
    judgments: pd.DataFrame, scenes: pd.DataFrame, composites: pd.DataFrame, *, data: str
) -> Arrays:
    """Index the decided judgments of a table.

    Refusals, blocks, truncations and unreadable answers are left out, and so are ties, which this
    observation model has no place for; none of them is turned into half a win.

    Parameters
    ----------
    judgments : DataFrame
        A table of judgments (docs/data.md).
    scenes, composites : DataFrame
        The corpus and the composites of the design.
    data : {"study", "bridged"}
        Which arenas to read.

    Raises
    ------
    JudgmentError
        A contestant is neither a scene nor a composite.
    ModelError
        `data` is not known, or an arena has no decided judgment.
    """
    if data not in DATA:
        raise ModelError(f"unknown data '{data}'", where="data", mend=suggestion(data, DATA))
    arenas = DATA[data]
    decided = judgments["outcome"].isin(USED)
    table = judgments[decided & judgments["arena"].isin(arenas)]
    for arena in arenas:
        if not (table["arena"] == arena).any():
            raise ModelError(
                f"no decided judgment in the {arena} arena",
                where=f"data: {data}",
                mend="collect some, or fit `data: study`"
                if arena is Arena.BRIDGE
                else "collect some",
            )
    bridged = Arena.BRIDGE in arenas
    judge_names = sorted(table["judge"].unique())
    for judge in sorted(set(judgments["judge"]) - set(judge_names)):
        LOG.warning("%s chose neither option in any comparison, and is left out of the fit", judge)
    slots = _slots(scenes["id"], composites["composite_id"], bridged)
    judge_idx = pd.Index(judge_names).get_indexer(pd.Index(table["judge"]))
    arena_idx = pd.Index([str(a) for a in arenas]).get_indexer(pd.Index(table["arena"]))
    n_slots = len(slots)
    return Arrays(
        first_idx=judge_idx * n_slots + _positions(slots, table, "first"),
        second_idx=judge_idx * n_slots + _positions(slots, table, "second"),
        first_won=(table["outcome"] == Outcome.FIRST).to_numpy(dtype=bool),
        judge_idx=judge_idx,
        arena_idx=arena_idx,
        foundation_idx=pd.Index(FOUNDATIONS).get_indexer(pd.Index(scenes["foundation"])),
        intensity=scenes["intensity"].to_numpy(dtype=np.int64),
        estimands=(estimands := Estimands.from_composites(scenes, composites)),
        coords={
            "judge": judge_names,
            "scene": scenes["id"].to_list(),
            "composite": composites["composite_id"].to_list(),
            "foundation": list(FOUNDATIONS),
            "intensity": list(INTENSITIES),
            "config": list(estimands.config_names),
            "arena": [str(arena) for arena in arenas],
        },
        bridged=bridged,
    )


def _slots(scenes: pd.Series, composites: pd.Series, bridged: bool) -> pd.MultiIndex:
    """Index the columns of the strength table by arena and contestant."""
    parts = [(Arena.SINGLE, scenes), (Arena.COMPOSITE, composites)]
    if bridged:
        parts += [(Arena.BRIDGE, scenes), (Arena.BRIDGE, composites)]
    return pd.MultiIndex.from_tuples([(str(a), name) for a, names in parts for name in names])


def _positions(slots: pd.MultiIndex, table: pd.DataFrame, side: str) -> Index:
    position = slots.get_indexer(pd.MultiIndex.from_frame(table[["arena", side]].astype(str)))
    if (position < 0).any():
        row = table[position < 0].iloc[0]
        raise JudgmentError(
            f"'{row[side]}' is not a contestant of the {row['arena']} arena",
            where=f"comparison {row['comparison_id']}, column {side}",
            mend="use the corpus and composites that the judgments were collected with",
        )
    return position
