"""Bradley-Terry by maximum likelihood: published estimates, other solvers, symmetries, faults."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from moralscale.bradley_terry import (
    Errors,
    count,
    covariance,
    estimate,
    maximum_likelihood,
    newton,
    quasi_variances,
)
from moralscale.errors import UnboundedError
from moralscale.rating import read_comparisons

# Coefficients and standard errors against the contestant named first, as the R package
# BradleyTerry2 prints them (Turner and Firth 2012, Journal of Statistical Software 48(9)).
CITATIONS = {"Biometrika": 0.0, "Comm Statist": -2.9491, "JASA": -0.4796, "JRSS-B": 0.2690}
BASEBALL = {
    "Baltimore": (0.0, 0.0),
    "Boston": (1.1077, 0.3339),
    "Cleveland": (0.6839, 0.3319),
    "Detroit": (1.4364, 0.3396),
    "Milwaukee": (1.5814, 0.3433),
    "New York": (1.2476, 0.3359),
    "Toronto": (1.2945, 0.3367),
}
# With home advantage, 0.3023 (0.1309): also Agresti (2002), Categorical Data Analysis, page 438.
BASEBALL_AT_HOME = {
    "Baltimore": (0.0, 0.0),
    "Boston": (1.1438, 0.3378),
    "Cleveland": (0.7047, 0.3350),
    "Detroit": (1.4754, 0.3446),
    "Milwaukee": (1.6196, 0.3474),
    "New York": (1.2813, 0.3404),
    "Toronto": (1.3271, 0.3403),
}


@pytest.fixture(scope="module")
def baseball(project):
    return read_comparisons(
        project / "tests/data/baseball.csv",
        columns={"first": "home", "second": "away", "outcome": "winner"},
        outcomes={"home": "first", "away": "second"},
    ).counts()


def simulated(size=8, rows=600, *, ties=True, seed=0):
    """Rows of a panel of `size` contestants: first, second, outcome."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=size)
    first = rng.integers(size, size=rows)
    second = (first + rng.integers(1, size, size=rows)) % size
    half = (strength[first] - strength[second] + 0.3) / 2
    weights = np.stack([np.exp(half), np.exp(-half), np.full(rows, 0.5 * ties)])
    chance = np.cumsum(weights / weights.sum(axis=0), axis=0)
    outcome = (rng.random(rows) > chance[:2]).sum(axis=0)
    return first, second, outcome


def names(size):
    return [f"m{i:02d}" for i in range(size)]


def fit(first, second, outcome, *, size=8, n=None, weight=None, **options):
    counts = count(names(size), first, second, outcome, n=n, weight=weight)
    return maximum_likelihood(counts, **options)


def test_citations_give_the_published_estimates(project):
    counts = read_comparisons(project / "tests/data/citations.csv").counts()
    found = maximum_likelihood(counts, position_bias=False)
    published = [CITATIONS[name] for name in counts.contestants]
    np.testing.assert_allclose(found.strength - found.strength[0], published, atol=5.1e-5)


@pytest.mark.parametrize(("table", "position_bias"), [(BASEBALL, False), (BASEBALL_AT_HOME, True)])
def test_baseball_gives_the_published_estimates_and_errors(baseball, table, position_bias):
    found = maximum_likelihood(baseball, position_bias=position_bias)
    published, errors = np.transpose([table[name] for name in baseball.contestants])
    v = found.covariance
    np.testing.assert_allclose(found.strength - found.strength[0], published, atol=5.1e-5)
    against_first = np.sqrt(np.diag(v) + v[0, 0] - 2 * v[0])
    np.testing.assert_allclose(against_first, errors, atol=5.1e-5)
    if position_bias:
        assert found.position_bias == pytest.approx(0.3023, abs=5.1e-5)
        assert found.position_bias_se == pytest.approx(0.1309, abs=5.1e-5)


def test_newton_agrees_with_choix():
    first, second, outcome = simulated(ties=False)
    wins = np.zeros((8, 8))
    np.add.at(wins, (np.where(outcome, second, first), np.where(outcome, first, second)), 1)
    theirs = choix.ilsr_pairwise_dense(wins, alpha=0, tol=1e-12)
    ours = fit(first, second, outcome, position_bias=False).strength
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-6)


def plain_loss(x, first, second, outcome, size):
    """Minus log-likelihood of rows, written as plainly as can be: strengths, bias, log nu."""
    eta = x[first] - x[second] + x[size]
    scores = np.stack([eta / 2, -eta / 2, np.full(len(eta), x[size + 1])])
    norm = np.log(np.exp(scores).sum(axis=0))
    # The level is pinned by a penalty that is zero at its minimum.
    return (norm - scores[outcome, np.arange(len(eta))]).sum() + x[:size].sum() ** 2


def test_newton_and_its_errors_agree_with_scipy():
    first, second, outcome = simulated()
    rows = first, second, outcome, 8
    theirs = minimize(plain_loss, np.zeros(10), rows, method="BFGS", options={"gtol": 1e-6}).x
    ours = fit(first, second, outcome)
    assert ours.position_bias is not None
    found = [*ours.strength, ours.position_bias, ours.tie]
    np.testing.assert_allclose(found, theirs, atol=1e-6)
    h = 1e-3
    steps = h * np.eye(10)
    curvature = [
        [
            sum(
                a * b * plain_loss(np.array(found) + a * i + b * j, *rows)
                for a in (-1, 1)
                for b in (-1, 1)
            )
            / (4 * h * h)
            for i in steps
        ]
        for j in steps
    ]
    curvature = np.array(curvature)
    curvature[:8, :8] -= 2  # the penalty's
    errors = np.sqrt(np.diag(np.linalg.pinv(curvature, rcond=1e-6)))
    expected = [*ours.strength_se, ours.position_bias_se, ours.tie_se]
    np.testing.assert_allclose(expected, errors, rtol=1e-4)


def test_sandwich_agrees_with_scores_row_by_row():
    first, second, outcome = simulated(rows=300)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=300)
    ours = fit(first, second, outcome, weight=weight, errors=Errors.SANDWICH)
    x = np.array([*ours.strength, ours.position_bias, ours.tie])
    jacobian = np.zeros((300, 10))
    eta = x[first] - x[second] + x[8]
    p = np.exp([eta / 2, -eta / 2, np.full(300, x[9])])
    p /= p.sum(axis=0)
    by_eta = np.array([0.5, -0.5, 0.0])[outcome] - (p[0] - p[1]) / 2
    at = np.arange(300)
    jacobian[at, first] += by_eta
    jacobian[at, second] -= by_eta
    jacobian[:, 8], jacobian[:, 9] = by_eta, (outcome == 2) - p[2]
    np.testing.assert_allclose(weight @ jacobian, 0, atol=1e-6)
    meat = (jacobian * weight[:, None] ** 2).T @ jacobian
    bread = np.zeros((10, 10))
    for k in range(300):
        d = np.zeros(10)
        d[first[k]], d[second[k]], d[8] = 1, -1, 1
        ties = np.eye(10)[9]
        spread = p[0, k] + p[1, k] - (p[0, k] - p[1, k]) ** 2
        cross = -p[2, k] * (p[0, k] - p[1, k]) / 2
        bread += weight[k] * (
            spread / 4 * np.outer(d, d)
            + cross * (np.outer(d, ties) + np.outer(ties, d))
            + p[2, k] * (1 - p[2, k]) * np.outer(ties, ties)
        )
    inverse = np.linalg.pinv(bread, rcond=1e-10)
    errors = np.sqrt(np.diag(inverse @ meat @ inverse))
    found = [*ours.strength_se, ours.position_bias_se, ours.tie_se]
    np.testing.assert_allclose(found, errors, rtol=1e-8)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("errors", list(Errors))
def test_large_problems_are_solved_as_small_ones(monkeypatch, ties, errors):
    first, second, outcome = simulated(size=40, rows=4000, ties=ties)
    small = fit(first, second, outcome, size=40, errors=errors)
    for module in (newton, estimate):
        monkeypatch.setattr(module, "DENSE", 0)
    monkeypatch.setattr(covariance, "BLOCK", 7)
    large = fit(first, second, outcome, size=40, errors=errors)
    np.testing.assert_allclose(large.strength, small.strength, atol=1e-8)
    np.testing.assert_allclose(large.strength_se, small.strength_se, rtol=1e-4)
    assert large.position_bias_se == pytest.approx(small.position_bias_se, rel=1e-4)
    assert large.covariance is None


def test_counting_many_contestants_gives_the_same(monkeypatch):
    first, second, outcome = simulated()
    filled = count(names(8), first, second, outcome)
    monkeypatch.setattr("moralscale.bradley_terry.counts.FILLED", 0)
    sorted_for = count(names(8), first, second, outcome)
    for field in ("first_idx", "second_idx", "outcomes", "squares"):
        np.testing.assert_array_equal(getattr(filled, field), getattr(sorted_for, field))


@pytest.mark.parametrize("errors", list(Errors))
def test_every_row_doubled_shrinks_errors_by_the_square_root_of_two(errors):
    rows = simulated()
    once = fit(*rows, errors=errors)
    twice = fit(*(np.repeat(column, 2) for column in rows), errors=errors)
    counted = fit(*rows, n=np.full(600, 2), errors=errors)
    np.testing.assert_allclose(twice.strength, once.strength, atol=1e-9)
    np.testing.assert_allclose(twice.strength_se * 2**0.5, once.strength_se, rtol=1e-6)
    np.testing.assert_allclose(counted.strength_se, twice.strength_se, rtol=1e-9)


def test_swapping_first_and_second_turns_only_the_position_bias():
    first, second, outcome = simulated()
    one = fit(first, second, outcome)
    other = fit(second, first, np.array([1, 0, 2])[outcome])
    np.testing.assert_allclose(other.strength, one.strength, atol=1e-9)
    np.testing.assert_allclose(other.strength_se, one.strength_se, atol=1e-9)
    assert other.position_bias == pytest.approx(-one.position_bias, abs=1e-9)
    assert other.tie == pytest.approx(one.tie, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(8)), st.integers(0, 1000))
def test_names_and_the_order_of_rows_do_not_matter(places, seed):
    first, second, outcome = simulated(seed=7)
    places = np.array(places)
    shuffled = np.random.default_rng(seed).permutation(600)
    one = fit(first, second, outcome)
    other = fit(places[first[shuffled]], places[second[shuffled]], outcome[shuffled])
    np.testing.assert_allclose(other.strength[places], one.strength, atol=1e-9)
    np.testing.assert_allclose(other.strength_se[places], one.strength_se, atol=1e-9)


def test_intervals_cover_what_was_planted():
    covered = []
    strength = np.random.default_rng(0).normal(size=8)
    for seed in range(150):
        rng = np.random.default_rng(seed + 1)
        first = rng.integers(8, size=500)
        second = (first + rng.integers(1, 8, size=500)) % 8
        eta = strength[first] - strength[second] + 0.3
        found = fit(first, second, (rng.random(500) > 1 / (1 + np.exp(-eta))).astype(int))
        off = np.abs(found.strength - strength + strength.mean()) / found.strength_se
        covered += [*(off < 1.96), abs(found.position_bias - 0.3) < 1.96 * found.position_bias_se]
    assert 0.92 < np.mean(covered) < 0.98


def test_strengths_far_apart_are_found():
    found = fit([0, 0], [1, 1], [0, 1], size=2, n=[10**9, 1], position_bias=False)
    assert found.strength[0] - found.strength[1] == pytest.approx(np.log(1e9), rel=1e-7)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 1, 0), (1, 0, 0), (2, 3, 0), (3, 2, 0)], "2 groups that never meet: 'm00', 'm01' |"),
        ([(0, 1, 0), (1, 0, 0), (2, 0, 0), (1, 2, 1)], "contestant 'm02' wins every judgment"),
        ([(0, 1, 0), (1, 0, 0), (2, 0, 1), (1, 2, 0)], "contestant 'm02' loses every judgment"),
        ([(0, 1, 0), (1, 0, 0), (2, 3, 0), (3, 2, 0), (0, 2, 0)], "'m00', 'm01' never lose"),
        ([(0, 1, 2), (1, 0, 2)], "every judgment is a tie"),
    ],
)
@pytest.mark.parametrize("position_bias", [False, True])
def test_what_cannot_be_estimated_is_named(rows, message, position_bias):
    with pytest.raises(UnboundedError) as raised:
        fit(
            *np.transpose(rows),
            size=1 + np.max(np.transpose(rows)[:2]),
            position_bias=position_bias,
        )
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        # Whoever is first wins.
        ([(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0)], "bias toward the first position"),
        ([(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)], "bias toward the second position"),
        # A chain in one order: each link's bias is a difference of strengths too.
        ([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], "cannot be told from strengths"),
    ],
)
def test_a_position_bias_without_an_estimate_is_named(rows, message):
    with pytest.raises(UnboundedError, match=message):
        fit(*np.transpose(rows), size=3)
    assert np.isfinite(fit(*np.transpose(rows), size=3, position_bias=False).strength).all()


def test_ties_can_hide_a_separation():
    # The first wins or ties, never loses: Davidson's likelihood rises for ever.
    rows = np.transpose([(0, 1, 0), (0, 1, 2)])
    with pytest.raises(UnboundedError, match="'m00' can be put above the others without end"):
        fit(*rows, size=2, position_bias=False)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([2, 3]))
def test_a_fit_is_finite_or_refused(data, position_bias, outcomes):
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    row = st.tuples(st.sampled_from(pairs), st.integers(0, outcomes - 1))
    rows = data.draw(st.lists(row, min_size=3, max_size=30))
    first, second = np.transpose([pair for pair, _ in rows])
    refused = ""
    try:
        found = fit(first, second, [o for _, o in rows], size=4, position_bias=position_bias)
    except UnboundedError as error:
        refused = str(error)
    # Never by running into the bound that is there for problems too large to check.
    assert "the data are separated" not in refused
    if not refused:
        assert np.abs(found.strength).max() < 20
        assert (found.strength_se < 50).all()


def test_quasi_variances_are_exact_where_they_can_be():
    variances = np.array([0.1, 0.2, 0.4, 0.3])
    np.testing.assert_allclose(quasi_variances(np.diag(variances) + 0.7), variances, rtol=1e-8)


def test_quasi_variances_give_the_errors_of_differences(baseball):
    v = maximum_likelihood(baseball).covariance
    q = quasi_variances(v)
    upper = np.triu_indices(len(v), 1)
    true = np.sqrt(np.diag(v)[:, None] + np.diag(v) - 2 * v)[upper]
    np.testing.assert_allclose(np.sqrt(q[:, None] + q)[upper], true, rtol=0.03)
    assert np.isnan(quasi_variances(v[:2, :2])).all()
