"""Judgments as index arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from moralscale.arrays import make_arrays
from moralscale.errors import JudgmentError, ModelError
from moralscale.records import BetaMeaning, Outcome


def decode(arrays):
    """Judge, contestants and winner of every judgment, read back from the indices."""
    coords = arrays.coords
    slots = [("single", name) for name in coords["scene"]]
    slots += [("composite", name) for name in coords["composite"]]
    if arrays.bridged:
        slots += [("bridge", name) for name in coords["scene"] + coords["composite"]]
    assert len(slots) == arrays.n_slots
    rows = []
    for first, second, won, judge, arena in zip(
        arrays.first_idx,
        arrays.second_idx,
        arrays.first_won,
        arrays.judge_idx,
        arrays.arena_idx,
        strict=True,
    ):
        assert first // arrays.n_slots == second // arrays.n_slots == judge
        (arena_1, name_1), (arena_2, name_2) = (slots[i % arrays.n_slots] for i in (first, second))
        assert arena_1 == arena_2 == coords["arena"][arena]
        outcome = "first" if won else "second"
        rows.append((coords["judge"][judge], arena_1, name_1, name_2, outcome))
    return rows


@pytest.mark.parametrize("data", ["study", "bridged"])
def test_every_decided_judgment_is_found_at_its_place(
    data, few_judgments, tiny_scenes, few_composites
):
    arrays = make_arrays(few_judgments, tiny_scenes, few_composites, data=data)
    assert arrays.bridged == (data == "bridged")
    kept = few_judgments[(few_judgments["arena"] != "bridge") | arrays.bridged]
    columns = ["judge", "arena", "first", "second", "outcome"]
    assert decode(arrays) == list(kept[columns].itertuples(index=False, name=None))
    slots = arrays.slots
    assert slots[0].max() < arrays.n_slots
    np.testing.assert_array_equal(slots[1], arrays.second_idx - arrays.judge_idx * arrays.n_slots)


def test_scenes_are_described_in_corpus_order(few_judgments, tiny_scenes, few_composites):
    arrays = make_arrays(few_judgments, tiny_scenes, few_composites, data="study")
    assert arrays.coords["scene"] == tiny_scenes["id"].to_list()
    named = [arrays.coords["foundation"][i] for i in arrays.foundation_idx]
    assert named == tiny_scenes["foundation"].to_list()
    assert arrays.intensity.tolist() == tiny_scenes["intensity"].to_list()


@pytest.mark.parametrize(
    "outcome", [*(o.value for o in Outcome if o not in ("first", "second")), None]
)
def test_what_is_not_decided_is_left_out_and_never_half_a_win(
    outcome, few_judgments, tiny_scenes, few_composites, caplog
):
    spoilt = few_judgments.copy()
    spoilt.loc[spoilt.index[::4], "outcome"] = outcome
    arrays = make_arrays(spoilt, tiny_scenes, few_composites, data="bridged")
    rest = few_judgments.drop(few_judgments.index[::4])
    want = make_arrays(rest, tiny_scenes, few_composites, data="bridged")
    for name in ("first_idx", "second_idx", "outcome", "judge_idx", "arena_idx"):
        np.testing.assert_array_equal(getattr(arrays, name), getattr(want, name))
    assert set(arrays.outcome) <= {0, 1}
    assert ("ties are left out" in caplog.text) == (outcome == "tie")


def test_order_of_rows_changes_nothing_but_the_order(few_judgments, tiny_scenes, few_composites):
    order = np.random.default_rng(0).permutation(len(few_judgments))
    one = make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")
    two = make_arrays(few_judgments.iloc[order], tiny_scenes, few_composites, data="bridged")
    assert one.coords == two.coords
    for name in ("first_idx", "second_idx", "outcome", "judge_idx", "arena_idx"):
        np.testing.assert_array_equal(getattr(one, name)[order], getattr(two, name))


def test_categories_are_read_like_text(few_judgments, tiny_scenes, few_composites):
    columns = ["judge", "arena", "first", "second", "outcome"]
    coded = few_judgments.assign(**{c: few_judgments[c].astype("category") for c in columns})
    one = make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")
    two = make_arrays(coded, tiny_scenes, few_composites, data="bridged")
    assert decode(one) == decode(two)


@pytest.mark.parametrize("side", ["first", "second"])
def test_an_unknown_contestant_is_named_with_its_comparison(
    side, few_judgments, tiny_scenes, few_composites
):
    wrong = few_judgments.copy()
    wrong.loc[5, side] = "care+9-0"
    with pytest.raises(JudgmentError) as error:
        make_arrays(wrong, tiny_scenes, few_composites, data="bridged")
    text = str(error.value)
    assert "'care+9-0' is not a contestant of the single arena" in text
    assert wrong.loc[5, "comparison_id"] in text
    assert f"column {side}" in text


def test_a_composite_is_no_contestant_of_the_single_arena(
    few_judgments, tiny_scenes, few_composites
):
    wrong = few_judgments.copy()
    wrong.loc[0, "first"] = few_composites["composite_id"][0]
    with pytest.raises(JudgmentError, match="not a contestant of the single arena"):
        make_arrays(wrong, tiny_scenes, few_composites, data="study")


@pytest.mark.parametrize(
    ("lost", "mend"), [("single", "collect some"), ("bridge", "data: study"), ("all", "collect")]
)
def test_an_empty_arena_is_an_error_that_says_which(
    lost, mend, few_judgments, tiny_scenes, few_composites
):
    rest = few_judgments.copy()
    rest.loc[(rest["arena"] == lost) | (lost == "all"), "outcome"] = "refusal"
    arena = "single" if lost == "all" else lost
    with pytest.raises(ModelError, match=f"no decided judgment in the {arena} arena.*{mend}"):
        make_arrays(rest, tiny_scenes, few_composites, data="bridged")


def test_unknown_data_is_an_error_with_the_nearest_name(few_judgments, tiny_scenes, few_composites):
    with pytest.raises(ModelError, match="did you mean 'bridged'"):
        make_arrays(few_judgments, tiny_scenes, few_composites, data="brigded")


def test_a_table_of_one_judge_has_one_judge(few_judgments, tiny_scenes, few_composites):
    one = pd.DataFrame(few_judgments[few_judgments["judge"] == "judge-b"])
    arrays = make_arrays(one, tiny_scenes, few_composites, data="bridged")
    assert arrays.coords["judge"] == ["judge-b"]
    assert set(arrays.judge_idx) == {0}


def test_a_judge_without_a_verdict_is_left_out_aloud(
    few_judgments, tiny_scenes, few_composites, caplog
):
    silent = sorted(few_judgments["judge"].unique())[0]
    outcome = few_judgments["outcome"].mask(few_judgments["judge"] == silent, "refusal")
    table = few_judgments.assign(outcome=outcome)
    with caplog.at_level("WARNING", logger="moralscale"):
        arrays = make_arrays(table, tiny_scenes, few_composites, data="bridged")
    assert silent not in arrays.coords["judge"]
    assert silent in caplog.text


def test_ties_are_read_where_they_are_asked_for(few_judgments, tiny_scenes, few_composites, caplog):
    tied = few_judgments.assign(
        outcome=few_judgments["outcome"].mask(few_judgments.index % 4 == 0, "tie")
    )
    arrays = make_arrays(tied, tiny_scenes, few_composites, data="bridged", ties=True)
    assert not caplog.text
    codes = {"first": 0, "second": 1, "tie": 2}
    assert arrays.outcome.tolist() == tied["outcome"].map(codes).to_list()
    assert arrays.first_won.tolist() == (tied["outcome"] == "first").to_list()


def test_repeats_are_the_same_two_in_the_same_order_by_the_same_judge(
    few_judgments, tiny_scenes, few_composites
):
    once = make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")
    row, comparison = once.repeats
    n = len(few_judgments)
    if len(row) == n:  # nothing was asked twice: every judgment in turn
        assert row.tolist() == comparison.tolist() == list(range(n))
    doubled = pd.concat([few_judgments, few_judgments.iloc[::2]])
    arrays = make_arrays(doubled, tiny_scenes, few_composites, data="bridged")
    row, comparison = arrays.repeats
    asked = ["judge", "arena", "first", "second"]
    assert len(row) == len(few_judgments.drop_duplicates(asked))
    keys = list(doubled[asked].itertuples(index=False, name=None))
    assert [keys[row[c]] for c in comparison] == keys


@pytest.mark.parametrize("data", ["study", "bridged"])
def test_what_beta_means_follows_from_the_arenas(data, few_judgments, tiny_scenes, few_composites):
    arrays = make_arrays(few_judgments, tiny_scenes, few_composites, data=data)
    assert arrays.beta_meaning is BetaMeaning.of(data)
    assert ("in units of" in arrays.beta_meaning) == (data == "study")
    sizes = np.bincount(arrays.slot_arena)
    assert sizes.tolist() == [51, 50, 101][: len(arrays.coords["arena"])]


@pytest.mark.parametrize("same", ["scenes", "composites", "both"])
def test_a_bridge_that_cannot_tell_beta_from_noise_is_refused(
    same, few_judgments, tiny_scenes, few_composites
):
    scene = dict(zip(tiny_scenes["id"], tiny_scenes["intensity"] == 1, strict=True))
    sums = few_composites["intensity_a"] + few_composites["intensity_b"]
    composite = dict(zip(few_composites["composite_id"], sums == -3, strict=True))
    bridge = few_judgments["arena"] == "bridge"
    kept = ~bridge
    sides = [few_judgments[side] for side in ("first", "second")]
    level = [side.map(lambda n: scene.get(n, composite.get(n))) for side in sides]
    is_scene = [side.isin(scene) for side in sides]
    of_scene = np.where(is_scene[0], level[0], level[1]).astype(bool)
    of_composite = np.where(is_scene[0], level[1], level[0]).astype(bool)
    chosen = {"scenes": of_scene, "composites": of_composite, "both": of_scene & of_composite}
    kept = kept | (bridge & chosen[same])
    if same == "both":
        kept |= few_judgments.index == few_judgments.index[bridge][0]
    with pytest.raises(ModelError, match=r"cannot tell beta from choice noise.*data: study"):
        make_arrays(few_judgments[kept], tiny_scenes, few_composites, data="bridged")
