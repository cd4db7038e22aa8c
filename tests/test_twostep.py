"""The study's estimators: what they are, what they recover, and what they cannot."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import linregress

from moralscale.arrays import make_arrays
from moralscale.bradley_terry import count, maximum_likelihood
from moralscale.config import Panel, TwoStep
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.simulate import simulate_panel
from moralscale.twostep import (
    ESTIMATORS,
    Strengths,
    StudyArenas,
    bootstrap,
    elo_over_orders,
    lines,
    study_arenas,
    together,
)
from moralscale.twostep.battles import make_battles
from moralscale.twostep.likelihood import penalised_strengths

SETTINGS = TwoStep()


def fresh(seed=0):
    return np.random.default_rng(seed)


def fought(rng, strength, battles_each, bias=0.2):
    """Random battles of contestants of known strength (judge, contestant)."""
    n_judges, n = strength.shape
    size = n_judges * n * battles_each // 2
    judge = rng.integers(0, n_judges, size)
    first = rng.integers(0, n, size)
    second = (first + rng.integers(1, n, size)) % n
    eta = strength[judge, first] - strength[judge, second] + bias
    won = rng.random(size) < 1 / (1 + np.exp(-eta))
    return make_battles(first, second, won, judge, n_judges=n_judges, n_contestants=n)


def arenas_of(truth, estimands, battles_each, seed):
    rng = fresh(seed)
    theta, phi = truth["theta"].values, truth["phi"].values
    return StudyArenas(fought(rng, theta, battles_each), fought(rng, phi, battles_each), estimands)


def slope(arenas, name, settings=SETTINGS, seed=0):
    return lines(ESTIMATORS[name](arenas, settings, fresh(seed)), arenas.estimands).slope


@pytest.fixture(scope="module")
def estimands(tiny_scenes, few_composites):
    return Estimands.from_composites(tiny_scenes, few_composites)


@pytest.fixture(scope="module")
def small(few_truth, estimands):
    """Fifteen battles each, as in the study."""
    return arenas_of(few_truth, estimands, 15, seed=1)


@pytest.fixture(scope="module")
def large(few_truth, estimands):
    """A thousand battles each."""
    return arenas_of(few_truth, estimands, 1000, seed=2)


# The line


def test_the_line_is_that_of_a_textbook_on_ratings(small, estimands):
    strengths = ESTIMATORS["mle"](small, SETTINGS, fresh())
    found = lines(strengths, estimands)
    elo = 400 / np.log(10)
    for judge in range(3):
        rating = 1000 + elo * strengths.theta[judge]
        sums = rating[estimands.a_idx] + rating[estimands.b_idx]
        text = linregress(sums, 1000 + elo * strengths.phi[judge])
        assert found.slope[judge] == pytest.approx(text.slope)
        assert found.slope_se[judge] == pytest.approx(text.stderr)
        assert found.intercept[judge] == pytest.approx(text.intercept)
        assert found.intercept_se[judge] == pytest.approx(text.intercept_stderr)
        assert found.r_squared[judge] == pytest.approx(text.rvalue**2)


def test_a_line_through_three_composites_by_hand(estimands):
    three = replace(estimands, a_idx=np.array([0, 0, 1]), b_idx=np.array([1, 2, 2]))
    # Sums 1, 0, -1 and strengths 2, 0, -2 with 0.5 on top in the middle: slope 2, residuals
    # -1/6, 1/3, -1/6 about the mean, and 1 degree of freedom.
    strengths = Strengths(np.array([[1.0, 0.0, -1.0]]), np.array([[2.0, 0.5, -2.0]]))
    found = lines(strengths, three)
    assert found.slope[0] == pytest.approx(2)
    assert found.slope_se[0] == pytest.approx(np.sqrt((1 / 36 + 1 / 9 + 1 / 36) / 2))
    assert found.r_squared[0] == pytest.approx(1 - (1 / 6) / (8 + 1 / 6))
    assert found.intercept[0] == pytest.approx(1000 * (1 - 4) + 400 / np.log(10) / 6)


# What is recovered


def test_likelihood_recovers_slope_and_strengths_from_many_battles(large, few_truth):
    planted = few_truth["beta_judge"].values
    assert np.abs(slope(large, "mle") - planted).max() < 0.06
    assert np.abs(slope(large, "mle_split_half") - planted).max() < 0.06
    found = ESTIMATORS["mle"](large, SETTINGS, fresh()).theta
    assert np.sqrt(np.mean((found - few_truth["theta"].values) ** 2)) < 0.15


def test_the_noise_of_elo_does_not_vanish_with_many_battles(large, few_truth):
    orders = elo_over_orders(large, TwoStep(orders=8), fresh()).theta
    assert orders.std(axis=0, ddof=1).mean() > 0.2  # 35 Elo, after a thousand battles each
    assert np.sqrt(np.mean((orders[0] - few_truth["theta"].values) ** 2)) > 0.2


def test_at_the_size_of_the_study_elo_hardly_follows_the_truth(tiny_scenes, tiny_composites):
    estimands = Estimands.from_composites(tiny_scenes, tiny_composites)
    found = {name: [] for name in ESTIMATORS}
    for planted in (0.6, 1.1):
        panel = Panel(judges=10, slope=planted)
        truth = simulate_panel(panel, tiny_scenes, tiny_composites, list("abcdefghij"), seed=3)
        data = arenas_of(truth, estimands, 15, seed=1)
        for name, slopes in found.items():
            slopes.append(slope(data, name).mean())
    sensitivity = {name: (high - low) / 0.5 for name, (low, high) in found.items()}
    assert sensitivity["elo"] < 0.5
    assert sensitivity["elo_averaged"] < 0.5
    assert sensitivity["elo"] < sensitivity["mle"] < sensitivity["mle_split_half"]
    assert sensitivity["mle_split_half"] > 0.65
    assert found["mle"][1] < 1.1 - 0.1  # noise in component sums pulls the slope towards 0


def test_the_slope_is_divided_by_the_reliability_and_residuals_stay(small, estimands):
    plain, corrected = (
        ESTIMATORS[name](small, SETTINGS, fresh()) for name in ("mle", "mle_split_half")
    )
    ratio = lines(plain, estimands).slope / lines(corrected, estimands).slope
    assert ((ratio > 0.3) & (ratio < 1)).all()
    np.testing.assert_allclose(corrected.theta, ratio[:, None] * plain.theta)
    residuals = (
        estimands.line(estimands.component_sum(each.theta), each.phi)[2]
        for each in (plain, corrected)
    )
    np.testing.assert_allclose(*residuals, atol=1e-9)


def test_halves_that_do_not_agree_correct_nothing(estimands):
    rng = fresh(3)
    noise = StudyArenas(
        fought(rng, np.zeros((40, 51)), 4), fought(rng, np.zeros((40, 50)), 4), estimands
    )
    found = slope(noise, "mle_split_half")
    assert 0 < np.isnan(found).sum() < 40


# Likelihood


def test_penalised_strengths_maximise_the_penalised_likelihood():
    battles = fought(fresh(4), fresh(5).normal(0, 1.5, (2, 9)), 12)
    strength, bias = penalised_strengths(battles, 0.3)
    for judge in range(2):
        mine = battles.judge_idx == judge
        first, second = battles.first_idx[mine], battles.second_idx[mine]
        sign = np.where(battles.first_won[mine], 1, -1)

        def loss(x, first=first, second=second, sign=sign):
            eta = sign * (x[first] - x[second] + x[9])
            return np.logaddexp(0, -eta).sum() + 0.15 * (x**2).sum()

        best = minimize(loss, np.zeros(10), tol=1e-10).x
        np.testing.assert_allclose(np.append(strength[judge], bias[judge]), best, atol=1e-4)
        assert strength[judge].sum() == pytest.approx(0, abs=1e-5)


def test_without_a_penalty_it_is_the_maximum_likelihood_of_rate():
    """Two solvers, one model: where contestants are connected and nobody always wins."""
    battles = fought(fresh(6), fresh(7).normal(0, 0.7, (2, 9)), 60)
    strength, bias = penalised_strengths(battles, 1e-8)
    for judge in range(2):
        mine = battles.judge_idx == judge
        lost = np.where(battles.first_won[mine], 0, 1)
        counts = count(list("abcdefghi"), battles.first_idx[mine], battles.second_idx[mine], lost)
        other = maximum_likelihood(counts)
        np.testing.assert_allclose(strength[judge], other.strength, atol=1e-5)
        assert bias[judge] == pytest.approx(other.position_bias, abs=1e-5)


def test_winners_and_losers_of_every_battle_stay_finite_and_apart():
    first, second = np.array([0, 0, 1, 2, 0, 3]), np.array([1, 2, 2, 3, 3, 1])
    won = np.array([True, True, True, True, True, False])
    battles = make_battles(first, second, won, np.zeros(6, int), n_judges=1, n_contestants=5)
    strength = penalised_strengths(battles, 0.1)[0][0]
    assert np.isfinite(strength).all()
    assert strength[0] > strength[1] > strength[2] > strength[3]
    assert strength[4] == pytest.approx(0, abs=1e-6)  # met nobody


def test_swapping_the_sides_turns_the_position_bias_alone(small):
    battles = small.single
    swapped = replace(
        battles,
        first_idx=battles.second_idx,
        second_idx=battles.first_idx,
        first_won=~battles.first_won,
    )
    (strength, bias), (other, turned) = (
        penalised_strengths(each, 0.1) for each in (battles, swapped)
    )
    np.testing.assert_allclose(other, strength, atol=1e-5)
    np.testing.assert_allclose(turned, -bias, atol=1e-5)


# Invariances


@pytest.mark.parametrize("name", ["mle", "elo_averaged"])
def test_judges_are_rated_apart(small, name, few_truth, estimands):
    other = arenas_of(few_truth, estimands, 15, seed=6)
    settings = TwoStep(orders=200)
    both = slope(together([small, other]), name, settings)
    alone = np.concatenate([slope(each, name, settings) for each in (small, other)])
    np.testing.assert_allclose(both, alone, atol=1e-5 if name == "mle" else 0.02)


def test_likelihood_does_not_depend_on_the_order_of_rows(small):
    rng = fresh(7)
    shuffled = replace(
        small,
        single=small.single.take(rng.permutation(len(small.single.judge_idx))),
        composite=small.composite.take(rng.permutation(len(small.composite.judge_idx))),
    )
    np.testing.assert_allclose(slope(shuffled, "mle"), slope(small, "mle"), atol=1e-5)


@pytest.mark.parametrize("name", ["mle", "elo"])
def test_renaming_contestants_renames_strengths(small, name):
    new = fresh(8).permutation(51)
    single = replace(
        small.single,
        first_idx=new[small.single.first_idx],
        second_idx=new[small.single.second_idx],
    )
    found = ESTIMATORS[name](small, SETTINGS, fresh()).theta
    renamed = ESTIMATORS[name](replace(small, single=single), SETTINGS, fresh()).theta
    np.testing.assert_allclose(renamed[:, new], found, atol=1e-5)


def test_elo_depends_on_the_order_and_the_average_less(small):
    orders = elo_over_orders(small, TwoStep(orders=60), fresh()).theta
    spread = orders.std(axis=0).mean()
    averaged = orders.reshape(6, 10, *orders.shape[1:]).mean(axis=1).std(axis=0).mean()
    assert spread > 0.01
    assert averaged < spread / 2


def test_the_seed_decides_the_order(small):
    one, again, other = (
        ESTIMATORS["elo"](small, SETTINGS, fresh(seed)).theta for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0


# Resamples


def test_halves_share_no_battle_and_differ_by_one_at_most(small):
    drawn, _ = small.single.resampled(fresh(), 3)
    for battles in (small.single, drawn):
        one, other = battles.halves(fresh())
        assert len(one.judge_idx) + len(other.judge_idx) == len(battles.judge_idx)
        for judge in range(battles.n_judges):
            parts = [set(half.source[half.judge_idx == judge]) for half in (one, other)]
            assert not parts[0] & parts[1]
            assert abs(len(parts[0]) - len(parts[1])) <= 1


def test_a_resample_draws_each_judges_own_battles(small):
    drawn, returned = small.single.resampled(fresh(), 4)
    assert drawn.n_judges == 12
    np.testing.assert_array_equal(small.single.judge_idx[drawn.source], drawn.judge_idx % 3)
    np.testing.assert_array_equal(small.single.first_idx[drawn.source], drawn.first_idx)
    np.testing.assert_array_equal(small.single.first_won[drawn.source], drawn.first_won)
    assert drawn.count.sum() == 4 * small.single.count.sum() + returned
    assert 0.5 < len(np.unique(drawn.source[drawn.judge_idx == 0])) / small.single.count[0] < 0.75


def test_no_round_loses_a_contestant(few_truth, estimands):
    sparse = arenas_of(few_truth, estimands, 3, seed=9).single
    drawn, returned = sparse.resampled(fresh(), 10)
    assert returned > 0
    assert ((drawn.met() > 0) == np.tile(sparse.met() > 0, (10, 1))).all()


def test_bootstrap_spread_is_that_of_new_data(few_truth, estimands):
    data = [arenas_of(few_truth, estimands, 15, seed) for seed in range(100, 130)]
    new = slope(together(data), "mle").reshape(30, 3).mean(axis=1)
    covered = []
    for arenas, found in zip(data[:15], new, strict=False):
        drawn = bootstrap("mle", arenas, TwoStep(rounds=20), fresh())
        sd = lines(drawn, estimands).slope.mean(axis=1).std(ddof=1)
        assert new.std() / 3 < sd < 3 * new.std()
        covered.append(abs(found - new.mean()) < 1.88 * sd)
    assert sum(covered) >= 10


# Reading judgments


def test_arenas_of_judgments(few_judgments, tiny_scenes, few_composites, caplog):
    arrays = make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")
    arenas, judges = study_arenas(arrays)
    assert judges == ["judge-a", "judge-b", "judge-c"]
    for battles, arena, ids in (
        (arenas.single, "single", tiny_scenes["id"].to_numpy()),
        (arenas.composite, "composite", few_composites["composite_id"].to_numpy()),
    ):
        rows = few_judgments[few_judgments["arena"] == arena]
        rows = rows.sort_values("judge", kind="stable")
        np.testing.assert_array_equal(ids[battles.first_idx], rows["first"])
        np.testing.assert_array_equal(ids[battles.second_idx], rows["second"])
        np.testing.assert_array_equal(battles.first_won, rows["outcome"] == "first")
    assert not caplog.text


def test_a_scene_that_met_nobody_is_named_by_count_and_stays_at_the_mean(
    few_judgments, tiny_scenes, few_composites, caplog
):
    single = few_judgments["arena"] == "single"
    gone = single & few_judgments[["first", "second"]].isin(["care+2-0"]).any(axis=1)
    arrays = make_arrays(few_judgments[~gone], tiny_scenes, few_composites, data="study")
    arenas, _ = study_arenas(arrays)
    assert "met nobody and are rated at the mean" in caplog.text
    place = tiny_scenes["id"].to_list().index("care+2-0")
    for name in ("elo", "mle"):
        theta = ESTIMATORS[name](arenas, SETTINGS, fresh()).theta
        np.testing.assert_allclose(theta[:, place], 0, atol=1e-6)


def test_a_judge_of_one_arena_is_left_out(few_judgments, tiny_scenes, few_composites, caplog):
    gone = (few_judgments["judge"] == "judge-b") & (few_judgments["arena"] == "composite")
    arrays = make_arrays(few_judgments[~gone], tiny_scenes, few_composites, data="study")
    arenas, judges = study_arenas(arrays)
    assert judges == ["judge-a", "judge-c"]
    assert arenas.single.n_judges == arenas.composite.n_judges == 2
    assert "judge-b decided nothing in one arena" in caplog.text


def test_without_a_judge_of_both_arenas_there_is_nothing_to_do(
    few_judgments, tiny_scenes, few_composites
):
    first = few_judgments["judge"] == "judge-a"
    kept = np.where(first, few_judgments["arena"] == "single", few_judgments["arena"] != "single")
    arrays = make_arrays(few_judgments[kept], tiny_scenes, few_composites, data="study")
    with pytest.raises(ModelError, match="no judge has decided judgments in both"):
        study_arenas(arrays)
