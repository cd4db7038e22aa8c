"""The Elo scale and Elo's online rule."""

import numpy as np
import pytest

from moralscale.elo import ELO_MEAN, ELO_PER_LOGIT, online_elo, rating


def battles(rng, n_battles, n_contestants):
    first = rng.integers(0, n_contestants, n_battles)
    second = (first + rng.integers(1, n_contestants, n_battles)) % n_contestants
    return first, second, rng.integers(0, 2, n_battles).astype(float)


def test_a_rating_is_an_elo_equivalent_with_mean_1000():
    found = rating(np.array([[0.0, np.log(10)], [3.0, 3.0]]))
    np.testing.assert_allclose(found, [[800, 1200], [1000, 1000]])


def test_three_battles_by_hand():
    # 1000 : 1000 expects 1/2: the winner gains 16. At 1016 : 1000 the favourite expects
    # 1 / (1 + 10^-0.04) = 0.5230096 and loses 16.736307. At 984 : 1016.736307 a draw, of which
    # 1 / (1 + 10^0.0818408) = 0.453028 was expected, moves 1.503117.
    found = online_elo([0, 0, 1], [1, 2, 2], [1, 0, 0.5], 4)
    np.testing.assert_allclose(found, [999.263693, 985.503117, 1015.233190, 1000], atol=1e-5)


def test_battles_move_points_and_make_none():
    first, second, score = battles(np.random.default_rng(1), 5_000, 40)
    assert online_elo(first, second, score, 40).mean() == pytest.approx(ELO_MEAN)
    assert online_elo(first, second, score, 40, start=0.0).sum() == pytest.approx(0, abs=1e-6)


def test_a_contestant_that_wins_every_battle_stays_finite():
    found = online_elo([0] * 500, [1] * 500, [1] * 500, 2)
    assert 300 < found[0] - found[1] < 1500


def test_several_orders_are_each_played_from_the_start():
    rng = np.random.default_rng(6)
    first, second, score = battles(rng, 60, 7)
    orders = np.stack([rng.permutation(60)[:40] for _ in range(3)])
    found = online_elo(first, second, score, 7, order=orders, k=20.0, start=1500.0)
    for order, ratings in zip(orders, found, strict=True):
        rating = [1500.0] * 7
        for n in order:
            one, other = first[n], second[n]
            expected = 1 / (1 + 10 ** ((rating[other] - rating[one]) / 400))
            rating[one] += 20 * (score[n] - expected)
            rating[other] -= 20 * (score[n] - expected)
        np.testing.assert_allclose(ratings, rating, rtol=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "score", "order"),
    [
        ([0, 2], [1, 1], [1, 1], None),
        ([0, -1], [1, 1], [1, 1], None),
        ([0], [1, 1], [1, 1], None),
        ([0, 0], [1, 1], [1], None),
        ([0, 0], [1, 1], [1, 1], [0, 2]),
    ],
)
def test_places_that_are_none_are_an_error(first, second, score, order):
    with pytest.raises(IndexError, match=r"places from|sides and scores"):
        online_elo(first, second, score, 2, order=order)


def test_the_order_of_battles_matters():
    rng = np.random.default_rng(2)
    first, second, score = battles(rng, 400, 20)
    turned = online_elo(first[::-1], second[::-1], score[::-1], 20)
    assert np.abs(turned - online_elo(first, second, score, 20)).max() > 1


def test_renaming_contestants_renames_ratings():
    rng = np.random.default_rng(3)
    first, second, score = battles(rng, 400, 20)
    name = rng.permutation(20)
    np.testing.assert_allclose(
        online_elo(name[first], name[second], score, 20)[name], online_elo(first, second, score, 20)
    )


def test_turning_a_battle_round_changes_nothing():
    first, second, score = battles(np.random.default_rng(4), 400, 20)
    np.testing.assert_allclose(
        online_elo(second, first, 1 - score, 20), online_elo(first, second, score, 20)
    )


def test_an_expected_score_is_the_logistic_of_the_gap():
    # One battle after which the rating of a newcomer tells what was expected of them.
    first = online_elo([0, 0], [1, 2], [1, 0], 3)
    expected = 1 / (1 + np.exp(-16 / ELO_PER_LOGIT))
    assert first[2] - 1000 == pytest.approx(32 * expected)
