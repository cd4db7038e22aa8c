"""Pairing by information: nearer opponents, and all that balanced schedules keep."""

from __future__ import annotations

import numpy as np
import pytest

from moralscale.design import make_schedule
from moralscale.design.pairing import expected_strengths


@pytest.mark.parametrize("arena", ["single", "composite", "bridge"])
def test_near_opponents_meet_and_the_balance_stays(arena, tiny_scenes, tiny_composites):
    def schedule(pairing):
        return make_schedule(
            arena,
            tiny_scenes,
            tiny_composites,
            ["a", "b"],
            judgments=800,
            repeats=1,
            prompts=["trolley"],
            seed=3,
            pairing=pairing,
        )

    ids = np.array([*tiny_scenes["id"], *tiny_composites["composite_id"]], dtype=object)
    level = dict(zip(ids, expected_strengths(ids, tiny_scenes, tiny_composites), strict=True))
    gaps = {}
    for pairing in ("balanced", "information"):
        table = schedule(pairing)
        gap = table["first"].map(level) - table["second"].map(level)
        gaps[pairing] = gap.abs().mean()
        for side in ("first", "second"):
            counts = table.groupby("judge")[side].value_counts()
            balanced = schedule("balanced").groupby("judge")[side].value_counts()
            assert counts.sort_index().equals(balanced.sort_index())
        assert (table["first"] != table["second"]).all()
    assert gaps["information"] < 0.75 * gaps["balanced"]
    assert schedule("information").equals(schedule("information"))
