"""The field of an arena: its contestants, and who may meet whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from moralscale.design.bits import Ints
from moralscale.design.graphs import Bools
from moralscale.errors import DesignError
from moralscale.records import Arena


@dataclass(frozen=True)
class Field:
    """Contestants of an arena, in the order of their ids.

    Attributes
    ----------
    ids : array, shape (n,)
    sides : tuple of array
        Indices: one side, or scenes and composites for the bridge.
    composite : array, shape (n,)
        Whether a contestant is a composite.
    allowed : array, shape (n, n)
        Who may meet whom.
    """

    ids: np.ndarray
    sides: tuple[Ints, ...]
    composite: Bools
    allowed: Bools


def make_field(arena: Arena, scenes: pd.DataFrame, composites: pd.DataFrame) -> Field:
    """Contestants in the order of their ids, and who may meet whom."""
    single = sorted(scenes["id"]) if arena != Arena.COMPOSITE else []
    acts = {scene: (scene, scene) for scene in single}
    made = composites.sort_values("composite_id") if arena != Arena.SINGLE else composites.iloc[:0]
    pairs = zip(made["scene_a"], made["scene_b"], strict=True)
    acts |= dict(zip(made["composite_id"], pairs, strict=True))
    composite = np.arange(len(acts)) >= len(single)
    code = {scene: i for i, scene in enumerate(sorted({s for pair in acts.values() for s in pair}))}
    a = np.array([code[pair[0]] for pair in acts.values()], dtype=np.int64)
    b = np.array([code[pair[1]] for pair in acts.values()], dtype=np.int64)
    shared = (a[:, None] == a) | (a[:, None] == b) | (b[:, None] == a) | (b[:, None] == b)
    sides: tuple[Ints, ...] = (np.arange(len(acts)),)
    if arena == Arena.BRIDGE:
        shared |= composite[:, None] == composite
        sides = (np.flatnonzero(~composite), np.flatnonzero(composite))
    if shared.all():
        what = f"no two of {len(acts)} contestants may meet"
        mend = "give scenes and composites that do not all share a scene"
        raise DesignError(what, where=f"design, {arena} arena", mend=mend)
    return Field(np.array(list(acts), dtype=object), sides, composite, ~shared)
