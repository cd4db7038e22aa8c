"""Schedules and composites: balance, connection, stability, refusals."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moralscale.design import comparison_ids, make_composites, make_schedule
from moralscale.errors import DesignError
from moralscale.records import FOUNDATIONS, INTENSITIES

JUDGES = tuple(f"judge-{j}" for j in range(10))
STUDY = {"single": 17_134, "composite": 12_000, "bridge": 3_000}
COLUMNS = "comparison_id arena judge first second first_order second_order repeat prompt".split()


def corpus(
    per_cell: int = 9,
    anchors: int = 4,
    foundations: Iterable[str] = FOUNDATIONS,
    intensities: Iterable[int] = INTENSITIES,
) -> pd.DataFrame:
    """Scenes without texts: the design must not need them."""
    cells = [(f, i) for f in foundations for i in intensities]
    rows = [(f"{f}{i:+d}.{k}", f, i, False) for f, i in cells for k in range(per_cell)]
    rows += [(f"anchor.{k}", *cells[k], True) for k in range(anchors)]
    return pd.DataFrame(rows, columns=["id", "foundation", "intensity", "anchor"])


def schedule(arena: str, scenes: pd.DataFrame, composites: pd.DataFrame, **changes) -> pd.DataFrame:
    """A schedule at the study's size, but for `changes`."""
    settings = {"judges": JUDGES, "judgments": STUDY[arena], "repeats": 1, "prompts": ["trolley"]}
    settings |= {"seed": 7} | changes
    return make_schedule(arena, scenes, composites, settings.pop("judges"), **settings)


@pytest.fixture(scope="module")
def scenes() -> pd.DataFrame:
    return corpus()


@pytest.fixture(scope="module")
def composites(scenes: pd.DataFrame) -> pd.DataFrame:
    return make_composites(scenes, realisations=1, seed=7)


@pytest.fixture(scope="module")
def study(scenes: pd.DataFrame, composites: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {arena: schedule(arena, scenes, composites) for arena in STUDY}


def spread_of(values: pd.Series, members: Iterable[str]) -> int:
    """Largest less smallest count of `members`, absent ones counting 0."""
    counts = values.value_counts().reindex(list(members), fill_value=0)
    return int(counts.max() - counts.min())


def lead(table: pd.DataFrame) -> int:
    """Largest difference between times first and times second of a contestant."""
    shown = table["first"].value_counts().sub(table["second"].value_counts(), fill_value=0)
    return int(shown.abs().max())


def pieces(table: pd.DataFrame, members: Iterable[str]) -> int:
    """Connected components, by flooding: another algorithm than the one under test."""
    near: dict[str, set[str]] = {member: set() for member in members}
    for a, b in zip(table["first"], table["second"], strict=True):
        near[a].add(b)
        near[b].add(a)
    left, count = set(near), 0
    while left:
        count, edge = count + 1, [left.pop()]
        while edge:
            new = near[edge.pop()] & left
            left -= new
            edge += new
    return count


def pair_counts(table: pd.DataFrame) -> pd.Series:
    low = np.minimum(table["first"].to_numpy(object), table["second"].to_numpy(object))
    high = np.maximum(table["first"].to_numpy(object), table["second"].to_numpy(object))
    return pd.Series(list(zip(low, high, strict=True))).value_counts()


def sides(arena: str, scenes: pd.DataFrame, composites: pd.DataFrame) -> list[list[str]]:
    parts = {"single": [scenes["id"]], "composite": [composites["composite_id"]]}
    parts["bridge"] = parts["single"] + parts["composite"]
    return [part.tolist() for part in parts[arena]]


def act_lead(table: pd.DataFrame) -> tuple[int, int]:
    """Largest difference of ab and ba of a composite: in all its showings, and in one place."""
    shown = pd.concat(
        table[[place, f"{place}_order"]].set_axis(["who", "order"], axis=1).assign(place=place)
        for place in ("first", "second")
    )
    shown = shown[shown["order"] != "a"]
    sign = shown["order"].map({"ab": 1, "ba": -1})
    in_all = sign.groupby(shown["who"]).sum().abs().max()
    return int(in_all), int(sign.groupby([shown["who"], shown["place"]]).sum().abs().max())


# Composites


def test_composites_realise_the_160_profiles(scenes, composites):
    assert len(composites) == 160
    assert composites["profile"].is_unique
    assert composites["config"].nunique() == 10
    assert (composites["composite_id"] == composites["profile"] + ".r1").all()
    assert "care-2.fairness+1.r1" in set(composites["composite_id"])
    rank = {name: number for number, name in enumerate(FOUNDATIONS)}
    assert (composites["foundation_a"].map(rank) < composites["foundation_b"].map(rank)).all()
    by_id = scenes.set_index("id")
    for side in "ab":
        drawn = by_id.loc[composites[f"scene_{side}"]]
        assert drawn["foundation"].tolist() == composites[f"foundation_{side}"].tolist()
        assert drawn["intensity"].tolist() == composites[f"intensity_{side}"].tolist()
        assert not drawn["anchor"].any()


@pytest.mark.parametrize("realisations", [1, 2, 5])
def test_scenes_of_a_cell_are_used_equally_often(scenes, realisations):
    made = make_composites(scenes, realisations=realisations, seed=3)
    used = pd.concat([made["scene_a"], made["scene_b"]])
    for _, cell in scenes[~scenes["anchor"] & (scenes["intensity"] != 0)].groupby(
        ["foundation", "intensity"]
    ):
        assert spread_of(used[used.isin(cell["id"])], cell["id"]) <= 1


@pytest.mark.parametrize(("per_cell", "realisations"), [(9, 6), (2, 2), (2, 4), (3, 5), (1, 1)])
def test_no_profile_holds_a_composite_twice_while_scenes_last(per_cell, realisations):
    made = make_composites(corpus(per_cell, 0), realisations=realisations, seed=11)
    assert not made.duplicated(["profile", "scene_a", "scene_b"]).any()


def test_composites_repeat_only_where_scenes_run_out():
    made = make_composites(corpus(1, 0), realisations=3, seed=11)
    assert len(made) == 480
    assert made["composite_id"].is_unique


def test_composites_are_made_of_whatever_foundations_and_intensities_there_are():
    scenes = corpus(1, 1, ("purity", "care", "ubuntu", "equality"), (-3, 0, 1))
    made = make_composites(scenes, realisations=1, seed=1)
    assert len(made) == 6 * 2 * 2
    assert set(made["config"]) == {"+1/+1", "+1/-3", "-3/-3"}
    # Names of the theory in its order, then others.
    pairs = list(combinations(["care", "equality", "purity", "ubuntu"], 2))
    found = list(zip(made["foundation_a"], made["foundation_b"], strict=True))
    assert list(dict.fromkeys(found)) == pairs


def test_composites_depend_on_the_seed_alone(scenes, composites):
    shuffled = scenes.sample(frac=1, random_state=1)
    again = make_composites(shuffled, realisations=1, seed=7)
    pd.testing.assert_frame_equal(again, composites)
    other = make_composites(scenes, realisations=1, seed=8)
    assert (other["scene_a"] != composites["scene_a"]).mean() > 0.5


def test_a_reduced_corpus_gives_its_own_profiles():
    scenes = corpus(2, 1, ("loyalty", "care", "sanctity"), (2, 0, -1))
    made = make_composites(scenes, realisations=1, seed=1)
    assert len(made) == 3 * 4
    assert set(made["config"]) == {"+2/+2", "+2/-1", "-1/-1"}


def test_an_empty_cell_is_named():
    scenes = corpus(2, 0)
    hole = (scenes["foundation"] == "loyalty") & (scenes["intensity"] == -1)
    scenes.loc[hole, "anchor"] = True
    with pytest.raises(DesignError, match=r"no scene in cell loyalty -1"):
        make_composites(scenes, realisations=1, seed=1)


@pytest.mark.parametrize(
    ("scenes", "realisations", "message"),
    [
        (corpus(), 0, "realisations is 0"),
        (corpus(foundations=["care"]), 1, "1 foundations"),
        (corpus(intensities=[0], anchors=0), 1, "0 non-neutral intensities"),
    ],
)
def test_composites_refuse(scenes, realisations, message):
    with pytest.raises(DesignError, match=message):
        make_composites(scenes, realisations=realisations, seed=1)


# Schedules at the study's size


def test_sizes_are_shared_out_to_within_one(study):
    assert study["single"]["judge"].value_counts().value_counts().to_dict() == {1714: 4, 1713: 6}
    assert set(study["composite"]["judge"].value_counts()) == {1200}
    assert set(study["bridge"]["judge"].value_counts()) == {300}
    for arena, table in study.items():
        assert table.columns.tolist() == COLUMNS
        assert table["judge"].drop_duplicates().tolist() == list(JUDGES)
        assert set(table["arena"]) == {arena}
        assert set(table["repeat"]) == {1}
        assert table["comparison_id"].is_unique


@pytest.mark.parametrize("arena", STUDY)
def test_contestants_meet_equally_often(study, scenes, composites, arena):
    for table in [study[arena], *(part for _, part in study[arena].groupby("judge"))]:
        shown = pd.concat([table["first"], table["second"]])
        for side in sides(arena, scenes, composites):
            assert spread_of(shown[shown.isin(side)], side) <= 1
        assert set(shown) <= {name for side in sides(arena, scenes, composites) for name in side}


@pytest.mark.parametrize("arena", STUDY)
def test_first_and_second_balance(study, arena):
    for table in [study[arena], *(part for _, part in study[arena].groupby("judge"))]:
        assert lead(table) <= 1


@pytest.mark.parametrize("arena", STUDY)
def test_no_pair_recurs_or_shares_a_scene(study, composites, arena):
    acts = composites.set_index("composite_id")[["scene_a", "scene_b"]].T.to_dict("list")
    for _, table in study[arena].groupby("judge"):
        assert pair_counts(table).max() == 1
    for a, b in zip(study[arena]["first"], study[arena]["second"], strict=True):
        assert set(acts.get(a, [a])).isdisjoint(acts.get(b, [b]))
        assert arena != "bridge" or (a in acts) != (b in acts)


@pytest.mark.parametrize("arena", STUDY)
def test_graphs_are_connected(study, scenes, composites, arena):
    members = [name for side in sides(arena, scenes, composites) for name in side]
    assert pieces(study[arena], members) == 1
    for _, table in study[arena].groupby("judge"):
        assert pieces(table, members) == 1 or len(table) < len(members) - 1


@pytest.mark.parametrize("arena", ["composite", "bridge"])
def test_act_orders_balance_and_do_not_follow_the_place(study, arena):
    for _, table in study[arena].groupby("judge"):
        assert act_lead(table) == (1, 1)
    assert act_lead(study[arena])[0] <= 1
    table = study[arena]
    rates = [
        (table.loc[table[f"{p}_order"] != "a", f"{p}_order"] == "ab").mean()
        for p in ("first", "second")
    ]
    assert rates == pytest.approx([0.5, 0.5], abs=0.03)


def test_single_scenes_show_one_act(study):
    assert set(study["single"]["first_order"]) == set(study["single"]["second_order"]) == {"a"}


def test_judges_get_different_pairs(study):
    parts = [set(pair_counts(part).index) for _, part in study["single"].groupby("judge")]
    expected = 1713 * 1713 / (229 * 228 / 2)
    for one, other in combinations(parts, 2):
        assert len(one & other) < 2 * expected


def test_rows_come_in_random_order(study):
    part = study["single"][study["single"]["judge"] == JUDGES[0]]
    place = part["first"].rank(method="dense").to_numpy()
    assert abs(np.corrcoef(place, np.arange(len(part)))[0, 1]) < 0.1


def test_comparison_id_is_the_hash_of_the_other_columns(study):
    row = study["bridge"].iloc[17].to_dict()
    ident = row.pop("comparison_id")
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert ident == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert comparison_ids(study["bridge"].iloc[17:18]) == [ident]


# Repeats and prompts


def test_repeats_ask_the_same_again_after_all_was_asked(scenes, composites):
    once = schedule("composite", scenes, composites, judgments=2000)
    thrice = schedule("composite", scenes, composites, judgments=2000, repeats=3)
    pd.testing.assert_frame_equal(thrice[thrice["repeat"] == 1].reset_index(drop=True), once)
    question = ["judge", "first", "second", "first_order", "second_order", "prompt"]
    assert set(thrice.groupby(question)["repeat"].agg(tuple).map(sorted).map(tuple)) == {(1, 2, 3)}
    for _, part in thrice.groupby("judge"):
        assert part["repeat"].is_monotonic_increasing


@pytest.mark.parametrize("arena", STUDY)
def test_both_orders_show_each_comparison_again_with_the_options_exchanged(
    study, scenes, composites, arena
):
    both = schedule(arena, scenes, composites, orders="both")
    sides = ["judge", "first", "second", "first_order", "second_order", "prompt"]
    exchanged = ["judge", "second", "first", "second_order", "first_order", "prompt"]
    pairs = Counter(map(tuple, both[sides].to_numpy()))
    assert pairs == Counter(map(tuple, both[exchanged].to_numpy()))
    assert len(both) == 2 * len(study[arena])
    assert both["comparison_id"].is_unique
    # What is asked with one order is asked as before, and first.
    for judge, own in both.groupby("judge", sort=False):
        once = study[arena].loc[study[arena]["judge"] == judge, "comparison_id"].tolist()
        assert own["comparison_id"].tolist()[: len(once)] == once
        shown = own.groupby("first").size().sub(own.groupby("second").size(), fill_value=0)
        assert (shown == 0).all()


def test_prompts_rotate(scenes, composites):
    prompts = ["trolley", "lifeboat", "triage"]
    table = schedule("single", scenes, composites, prompts=prompts)
    assert spread_of(table["prompt"], prompts) <= 1
    for _, part in table.groupby("judge"):
        assert spread_of(part["prompt"], prompts) <= 1
    plain = schedule("single", scenes, composites)
    assert table["first"].tolist() == plain["first"].tolist()


# Stability


@pytest.mark.parametrize("arena", STUDY)
def test_same_seed_same_table(study, scenes, composites, arena):
    again = schedule(arena, scenes.iloc[::-1], composites.iloc[::-1])
    pd.testing.assert_frame_equal(again, study[arena])
    other = schedule(arena, scenes, composites, seed=8)
    assert not set(other["comparison_id"]) >= set(study[arena]["comparison_id"])


@pytest.mark.parametrize("arena", STUDY)
def test_a_judge_put_last_leaves_the_others_alone(study, scenes, composites, arena):
    per_judge = STUDY[arena] // len(JUDGES)
    more = schedule(
        arena, scenes, composites, judges=[*JUDGES, "new"], judgments=STUDY[arena] + per_judge
    )
    pd.testing.assert_frame_equal(more[more["judge"] != "new"], study[arena])


def test_a_schedule_stays_what_it_was():
    """Pinned: a change here makes every collected answer belong to another design."""
    scenes = corpus(2, 1)
    composites = make_composites(scenes, realisations=2, seed=5)
    text = composites.to_csv(index=False, lineterminator="\n")
    for arena, size in (("single", 181), ("composite", 700), ("bridge", 402)):
        table = schedule(
            arena, scenes, composites, judges=["x", "y"], judgments=size, repeats=2, seed=5
        )
        text += table.to_csv(index=False, lineterminator="\n")
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "8003411c3c2cc846"


# Any size

NO_COMPOSITES = pd.DataFrame(columns=["composite_id", "scene_a", "scene_b"])


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 12), judges=st.integers(1, 4), extra=st.integers(0, 60), seed=st.integers())
def test_single_schedules_of_any_size(n, judges, extra, seed):
    scenes = pd.DataFrame({"id": [f"s{k}" for k in range(n)]})
    table = schedule(
        "single",
        scenes,
        NO_COMPOSITES,
        judges=JUDGES[:judges],
        judgments=judges * (n - 1) + extra,
        seed=seed,
    )
    assert lead(table) <= 1
    assert spread_of(pd.concat([table["first"], table["second"]]), scenes["id"]) <= 1
    pairs = list(combinations(sorted(scenes["id"]), 2))
    for _, part in table.groupby("judge"):
        assert lead(part) <= 1
        assert spread_of(pd.concat([part["first"], part["second"]]), scenes["id"]) <= 1
        counts = pair_counts(part).reindex(pairs, fill_value=0)
        assert counts.sum() == len(part)
        assert counts.max() - counts.min() <= 1
        assert pieces(part, scenes["id"]) == 1
    assert table["comparison_id"].is_unique


@settings(max_examples=30, deadline=None)
@given(
    per_cell=st.integers(1, 3),
    realisations=st.integers(1, 2),
    judges=st.integers(1, 3),
    extra=st.integers(0, 40),
    seed=st.integers(0, 2**40),
)
def test_bridges_of_any_size(per_cell, realisations, judges, extra, seed):
    scenes = corpus(per_cell, 1, FOUNDATIONS[:2], (-2, 0, 1))
    composites = make_composites(scenes, realisations=realisations, seed=seed)
    scene_side, composite_side = sides("bridge", scenes, composites)
    per_judge = len(scenes) + len(composites) - 1
    table = schedule(
        "bridge",
        scenes,
        composites,
        judges=JUDGES[:judges],
        judgments=judges * per_judge + extra,
        seed=seed,
    )
    assert lead(table) <= 2
    acts = composites.set_index("composite_id")[["scene_a", "scene_b"]].T.to_dict("list")
    for a, b in zip(table["first"], table["second"], strict=True):
        assert (a in acts) != (b in acts)
        assert set(acts.get(a, [a])).isdisjoint(acts.get(b, [b]))
    for _, part in table.groupby("judge"):
        assert lead(part) <= 1
        assert act_lead(part)[0] <= 1
        assert pieces(part, scene_side + composite_side) == 1
        shown = pd.concat([part["first"], part["second"]])
        for side in (scene_side, composite_side):
            assert spread_of(shown[shown.isin(side)], side) <= 1


@pytest.mark.parametrize("total", [300, 458, 600])
def test_many_judges_connect_what_one_cannot(scenes, composites, total):
    table = schedule("single", scenes, composites, judgments=total)
    assert pieces(table, scenes["id"]) == 1
    assert lead(table) <= 1


def test_too_few_for_many_judges_are_refused_with_a_number_that_serves():
    scenes = pd.DataFrame({"id": [f"s{k}" for k in range(10)]})
    with pytest.raises(DesignError, match="90 are enough for certain"):
        schedule("single", scenes, NO_COMPOSITES, judgments=10)
    assert pieces(schedule("single", scenes, NO_COMPOSITES, judgments=90), scenes["id"]) == 1


@pytest.mark.parametrize("total", [60, 389])
def test_a_small_bridge_may_be_left_in_pieces(scenes, composites, total):
    table = schedule("bridge", scenes, composites, judgments=total)
    assert len(table) == total
    assert pair_counts(table).max() == 1


@pytest.mark.parametrize("intensity", [-2, -1, 1, 2])
def test_pairs_that_share_a_scene_never_meet_even_where_few_others_are(intensity):
    scenes = corpus(1, 0, FOUNDATIONS, (intensity,))
    composites = make_composites(scenes, realisations=1, seed=2)
    table = schedule("composite", scenes, composites, judges=["x"], judgments=60, seed=2)
    counts = pair_counts(table)
    assert set(counts) == {4}
    assert len(counts) == 15


# Refusals


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judgments": 227}, "227 judgments cannot connect 229 contestants; use at least 228"),
        ({"judgments": 9}, "9 judgments for 10 judges; use at least 10"),
        ({"judgments": 0}, "0 judgments for 10 judges"),
        ({"judgments": -1}, "judgments is -1"),
        ({"repeats": 0}, "repeats is 0"),
        ({"judges": []}, "no judges"),
        ({"judges": ["x", "y", "x"]}, "judge 'x' is named twice"),
        ({"prompts": []}, "no prompts"),
        ({"prompts": ["p", "p"]}, "prompt 'p' is named twice"),
    ],
)
def test_schedules_refuse(scenes, composites, changes, message):
    with pytest.raises(DesignError, match=message):
        schedule("single", scenes, composites, **changes)


def test_schedules_refuse_an_unknown_arena(scenes, composites):
    with pytest.raises(DesignError, match="unknown arena 'triple'; use one of single, composite"):
        make_schedule(
            "triple", scenes, composites, JUDGES, judgments=99, repeats=1, prompts=["p"], seed=1
        )


@pytest.mark.parametrize("arena", STUDY)
def test_schedules_refuse_an_empty_field(scenes, arena):
    with pytest.raises(DesignError, match="contestants may meet"):
        schedule(arena, scenes.iloc[:0], NO_COMPOSITES)


def test_schedules_refuse_a_field_that_cannot_be_connected():
    scenes = corpus(1, 0, FOUNDATIONS[:2], (1, 2))
    composites = make_composites(scenes, realisations=1, seed=1)
    with pytest.raises(DesignError, match="falls into 2 pieces"):
        schedule("composite", scenes, composites, judges=["x"], judgments=40)
