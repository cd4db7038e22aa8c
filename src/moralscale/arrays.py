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
from moralscale.records import (
    USED,
    VERDICTS,
    Arena,
    BetaMeaning,
    Outcome,
    foundations_of,
    intensities_of,
)

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
    raveled table and what came of it.

    Attributes
    ----------
    first_idx, second_idx : (judgment,), int
        Places of the two contestants in the raveled (judge, slot) table.
    outcome : (judgment,), int8
        Place of the outcome in `records.VERDICTS`: 0 first, 1 second, 2 tie.
    judge_idx, arena_idx : (judgment,), int
        Judge and arena (in the order of `coords`).
    foundation_idx, intensity : (scene,), int
        Position in ``coords["foundation"]``, and the intensity label.
    estimands : Estimands
        What the composites are made of.
    coords : dict
        Coordinates of the model's dims.
    bridged : bool
        Whether there are bridge judgments.
    """

    first_idx: Index
    second_idx: Index
    outcome: NDArray[np.int8]
    judge_idx: Index
    arena_idx: Index
    foundation_idx: Index
    intensity: Index
    estimands: Estimands
    coords: dict[str, list[Any]]
    bridged: bool

    @property
    def first_won(self) -> NDArray[np.bool_]:
        """Whether the contestant shown first was chosen: (judgment,)."""
        won: NDArray[np.bool_] = self.outcome == VERDICTS.index(Outcome.FIRST)
        return won

    @property
    def beta_meaning(self) -> BetaMeaning:
        """What beta means in a fit of these judgments."""
        return BetaMeaning.of("bridged" if self.bridged else "study")

    @property
    def slot_arena(self) -> Index:
        """Place in ``coords["arena"]`` of the arena of each column of the strength table."""
        n_scenes, n_composites = len(self.coords["scene"]), len(self.coords["composite"])
        sizes = [n_scenes, n_composites, (n_scenes + n_composites) * self.bridged]
        return np.repeat(np.arange(3), sizes)

    @property
    def repeats(self) -> tuple[Index, Index]:
        """The comparisons that judgments answer: the same judge, the same two in the same order.

        Returns
        -------
        row : (comparison,)
            A judgment of each comparison; every judgment in turn where none was asked twice.
        comparison : (judgment,)
            The comparison that each judgment answers.
        """
        n_places = self.n_slots * len(self.coords["judge"])
        key = self.first_idx * n_places + self.second_idx
        _, row, comparison = np.unique(key, return_index=True, return_inverse=True)
        if len(row) == len(key):
            return np.arange(len(key)), np.arange(len(key))
        return row, comparison

    @property
    def level(self) -> Index:
        """Place of each scene's intensity in ``coords["intensity"]``: (scene,)."""
        return np.searchsorted(self.coords["intensity"], self.intensity)

    @property
    def judgments_a_scene(self) -> float:
        """Judgments of the single arena in which a scene takes part, on average over the panel."""
        single = self.coords["arena"].index(Arena.SINGLE)
        return 2 * float((self.arena_idx == single).sum()) / len(self.coords["scene"])

    @property
    def n_slots(self) -> int:
        """Columns of the strength table."""
        scenes, composites = self.coords["scene"], self.coords["composite"]
        return slots_of(len(scenes), len(composites), bridged=self.bridged)

    @property
    def slots(self) -> tuple[Index, Index]:
        """Columns of the two contestants in the strength table: two of (judgment,)."""
        return self.first_idx % self.n_slots, self.second_idx % self.n_slots


def make_arrays(
    judgments: pd.DataFrame,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    *,
    data: str,
    ties: bool = False,
) -> Arrays:
    """Index the decided judgments of a table.

    Refusals, blocks, truncations and unreadable answers are left out, and so are ties where the
    observation model has no place for them; none of them is turned into half a win.

    Parameters
    ----------
    judgments : DataFrame
        A table of judgments (docs/data.md).
    scenes, composites : DataFrame
        The corpus and the composites of the design.
    data : {"study", "bridged"}
        Which arenas to read.
    ties : bool, optional
        Whether ties are read too; those that are left out are counted in the log.

    Raises
    ------
    JudgmentError
        A contestant is neither a scene nor a composite.
    ModelError
        `data` is not known, an arena has no decided judgment, or the bridge judgments cannot tell
        beta from choice noise.
    """
    if data not in DATA:
        raise ModelError(f"unknown data '{data}'", where="data", mend=suggestion(data, DATA))
    arenas = DATA[data]
    read = judgments["arena"].isin(arenas)
    table = judgments[read & judgments["outcome"].isin(VERDICTS if ties else USED)]
    n_ties = int((read & (judgments["outcome"] == Outcome.TIE)).sum())
    if n_ties and not ties:
        LOG.warning("%d ties are left out of the fit; `ties: davidson` lets them enter", n_ties)
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
    foundations = foundations_of(scenes["foundation"])
    arrays = Arrays(
        first_idx=judge_idx * n_slots + _positions(slots, table, "first"),
        second_idx=judge_idx * n_slots + _positions(slots, table, "second"),
        outcome=pd.Index(VERDICTS).get_indexer(pd.Index(table["outcome"])).astype(np.int8),
        judge_idx=judge_idx,
        arena_idx=arena_idx,
        foundation_idx=pd.Index(foundations).get_indexer(pd.Index(scenes["foundation"])),
        intensity=scenes["intensity"].to_numpy(dtype=np.int64),
        estimands=(estimands := Estimands.from_composites(scenes, composites)),
        coords={
            "judge": judge_names,
            "scene": scenes["id"].to_list(),
            "composite": composites["composite_id"].to_list(),
            "foundation": list(foundations),
            "intensity": list(intensities_of(scenes["intensity"])),
            "config": list(estimands.config_names),
            "arena": [str(arena) for arena in arenas],
            "other_arena": [str(arena) for arena in arenas if arena is not Arena.SINGLE],
        },
        bridged=bridged,
    )
    if bridged:
        _check_bridge(arrays)
    return arrays


def _check_bridge(arrays: Arrays) -> None:
    """Refuse bridge judgments from which beta would not be identified.

    Between a scene and a composite, eta is a combination of the scene's strength, the component
    sum and a constant, with sign by which is shown first: three coefficients. At the nominal
    intensities these must not be collinear.
    """
    bridge = arrays.arena_idx == arrays.coords["arena"].index(Arena.BRIDGE)
    slots = np.stack(arrays.slots)[:, bridge] - arrays.n_slots // 2
    n_scenes = len(arrays.coords["scene"])
    scene, composite = slots.min(axis=0), slots.max(axis=0) - n_scenes
    columns = [
        arrays.intensity[scene],
        arrays.estimands.intensity_sum[composite],
        np.ones(len(scene)),
    ]
    if np.linalg.matrix_rank(np.column_stack(columns)) < len(columns):
        raise ModelError(
            f"{len(scene)} bridge judgments of too few kinds cannot tell beta from choice noise",
            where="data: bridged",
            mend="ask bridge comparisons over scenes and composites of several intensities, or "
            "fit `data: study`, whose beta is in units of choice noise",
        )


def slots_of(n_scenes: int, n_composites: int, *, bridged: bool) -> int:
    """Count the columns of a strength table: all contestants, and once more for a bridge arena."""
    return (2 if bridged else 1) * (n_scenes + n_composites)


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
