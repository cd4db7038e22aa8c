"""Where comparisons are missing, and whether planted dependence on content is found."""

import numpy as np
import pandas as pd
import pytest

from moralscale.missingness import acts_of, content_tests, count_missing, holm


@pytest.fixture(scope="module")
def answers(few_judgments):
    """Every comparison answered."""
    return few_judgments.assign(attempts=1)


@pytest.fixture(scope="module")
def harm(answers, tiny_scenes, few_composites):
    """Whether a comparison shows an act of intensity -2."""
    acts = acts_of(answers, tiny_scenes, few_composites)
    worst = acts.loc[acts["intensity"] == -2, "row"].unique()
    return np.isin(np.arange(len(answers)), worst)


def refused(table, where, share, seed=0):
    """Refuse a share of the comparisons of `where`."""
    lot = np.random.default_rng(seed).random(len(table)) < share
    return table.assign(outcome=table["outcome"].mask(where & lot, "refusal"))


def test_every_act_of_a_comparison_is_listed(answers, tiny_scenes, few_composites):
    acts = acts_of(answers, tiny_scenes, few_composites)
    expected = answers["arena"].map({"single": 2, "composite": 4, "bridge": 3})
    assert acts.groupby("row").size().tolist() == expected.tolist()
    row = int(np.argmax(answers["arena"] == "bridge"))
    scene = tiny_scenes.set_index("id")
    composite = few_composites.set_index("composite_id")
    both = [answers["first"][row], answers["second"][row]]
    pair = composite.loc[next(name for name in both if name in composite.index)]
    one = next(name for name in both if name in scene.index)
    names = [one, pair["scene_a"], pair["scene_b"]]
    own = acts[acts["row"] == row]
    assert sorted(own["foundation"]) == sorted(scene.loc[names, "foundation"])
    assert sorted(own["intensity"]) == sorted(scene.loc[names, "intensity"])


def test_counts_tell_planned_attempted_valid_and_used_apart(answers, tiny_scenes, few_composites):
    outcomes = ["first", "tie", "refusal", "empty", None, "blocked"]
    table = answers.iloc[:6].assign(outcome=outcomes, attempts=[1, 1, 1, 1, 0, 1])
    table = table.assign(first="care-2-0", second="care-2-1", judge="j", arena="single")
    found = count_missing(table, tiny_scenes, few_composites)
    assert len(found) == 1  # both acts are of one cell, and count once
    assert found.iloc[0].to_dict() == {
        "judge": "j",
        "arena": "single",
        "foundation": "care",
        "intensity": -2,
        "planned": 6,
        "attempted": 5,
        "valid": 2,
        "used": 1,
        "declined": 2,
        "unreadable": 1,
        "unanswered": 1,
    }


def test_cells_hold_every_judge_arena_and_content(answers, tiny_scenes, few_composites):
    found = count_missing(answers, tiny_scenes, few_composites)
    single = found[found["arena"] == "single"]
    assert set(single["intensity"]) == {-2, -1, 0, 1, 2}
    assert (found["planned"] == found["used"]).all()
    first = found[found["judge"] == "judge-a"]
    assert first["arena"].drop_duplicates().tolist() == ["single", "composite", "bridge"]
    assert first["foundation"].iloc[0] == "care"


def test_planted_dependence_on_content_is_found(answers, harm, tiny_scenes, few_composites):
    table = refused(answers, harm & (answers["judge"] == "judge-a"), 0.5)
    found = content_tests(table, tiny_scenes, few_composites, seed=1)
    by = found[found["kind"] == "declined"].set_index(["judge", "content"])
    hit = by.loc[("judge-a", "intensity")]
    assert hit["p_adjusted"] < 0.01
    assert hit["level"] == "-2"
    assert hit["share_with"] > 0.3
    assert hit["share_without"] == 0
    assert by.loc["judge-b", "p_value"].isna().all()
    assert found.loc[found["kind"] == "unreadable", "p_value"].isna().all()


def test_random_refusals_are_not_flagged(answers, tiny_scenes, few_composites):
    everywhere = np.ones(len(answers), dtype=bool)
    p = []
    for seed in range(15):
        table = refused(answers, everywhere, 0.1, seed)
        found = content_tests(table, tiny_scenes, few_composites, seed=seed, draws=199)
        p += found["p_value"].dropna().tolist()
    # 90 p-values, uniform on the grid of 200 under the null: these bounds are five sigma wide.
    assert len(p) == 90
    assert abs(np.mean(p) - 0.5) < 5 * np.sqrt(1 / 12 / 90)
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 90)


def test_refusals_that_differ_by_arena_alone_are_no_dependence(
    answers, tiny_scenes, few_composites
):
    # Neutral scenes are found in two arenas only: without strata, this would look like content.
    table = refused(answers, (answers["arena"] == "composite").to_numpy(), 0.5)
    found = content_tests(table, tiny_scenes, few_composites, seed=1)
    declined = found[found["kind"] == "declined"]
    assert (declined["p_adjusted"] > 0.01).all()


def test_tests_do_not_depend_on_the_order_of_rows_or_on_other_judges(
    answers, harm, tiny_scenes, few_composites
):
    table = refused(answers, harm, 0.2)
    whole = content_tests(table, tiny_scenes, few_composites, seed=1, draws=499)
    shuffled = table.sample(frac=1, random_state=1).reset_index(drop=True)
    again = content_tests(shuffled, tiny_scenes, few_composites, seed=1, draws=499)
    pd.testing.assert_frame_equal(whole, again)
    alone = table[table["judge"] == "judge-b"].reset_index(drop=True)
    one = content_tests(alone, tiny_scenes, few_composites, seed=1, draws=499)
    same = whole[whole["judge"] == "judge-b"].reset_index(drop=True)
    pd.testing.assert_frame_equal(one.drop(columns="p_adjusted"), same.drop(columns="p_adjusted"))


def test_holm_adjusts_for_the_number_of_tests():
    assert holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()[:2] == pytest.approx([0.03, 0.06])
    assert np.isnan(holm(np.array([np.nan]))).all()
    assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]
