"""Rules side by side: what was planted comes first, and nothing is compared that cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit

from moralscale.arrays import make_arrays
from moralscale.compare.kfold import assign_folds, combine, foretell, held_out
from moralscale.compare.loo import evenness, pareto_shapes, psis_loo
from moralscale.compare.ranking import compare_posteriors, rank
from moralscale.composition import get_rule
from moralscale.config import Panel, Sampler
from moralscale.errors import ModelError
from moralscale.figures import TABLED
from moralscale.fit import compile
from moralscale.priors import load_priors
from moralscale.records import Arena, Origin
from moralscale.simulate import simulate_panel

RULES = ("additive", "averaging")
SAMPLER = Sampler(chains=2, tune=150, draws=100, thin=1)


@pytest.fixture(scope="module")
def arrays(few_judgments, tiny_scenes, few_composites):
    return make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")


@pytest.fixture(scope="module")
def compiled(tiny_scenes, few_composites, answered, project):
    """Judgments of one judge that averages, ready to be fitted by two rules."""
    # The slope 1/2 is what `averaging` says; effects that could stand for a slope are left out.
    plain = {"judges": 1, "slope": 0.5, "anchoring": 0.0, "intercept": 0.0}
    truth = simulate_panel(Panel(**plain), tiny_scenes, few_composites, ["judge-a"], seed=5)
    counts = {Arena.SINGLE: 800, Arena.COMPOSITE: 800}
    judgments = answered(truth, tiny_scenes, few_composites, counts, seed=6)
    arrays = make_arrays(judgments, tiny_scenes, few_composites, data="study")
    priors = load_priors(project / "config/priors/default.yaml")
    return {name: compile(arrays, rule=get_rule(name), priors=priors) for name in RULES}


@pytest.mark.xdist_group("recovery")
def test_the_planted_rule_comes_first_by_both_methods(compiled, few_composites):
    posteriors, folds = {}, {}
    fold = assign_folds(few_composites, folds=2, seed=1)
    for name, model in compiled.items():
        posteriors[name] = model.sample(sampler=SAMPLER, seed=2, cores=1)
        parts = []
        for number in range(2):
            out = held_out(model.arrays, fold, number)
            found = foretell(model, out, sampler=SAMPLER, seed=3, cores=1)
            parts.append(found.assign(fold=number))
        table = pd.concat(parts, ignore_index=True)
        assert table["weight"].sum() == pytest.approx((model.arrays.arena_idx == 1).sum())
        assert (table["elpd"] < 0).all()
        folds[name] = combine(
            table.assign(profile=few_composites["profile"].to_numpy()[table["composite"]])
        )
    by_loo = compare_posteriors(posteriors, draws=200)
    by_kfold = rank(folds, method="kfold")
    for table in (by_loo, by_kfold):
        assert list(table["rule"]) == ["averaging", "additive"]
        assert table["weight"][0] > 0.5
        assert table["elpd_diff"][1] < 0
    # Composites that were judged say themselves how strong they are: a fit makes up for its rule.
    # Composites that were not, do not.
    assert by_kfold["elpd_diff"][1] < by_loo["elpd_diff"][1]
    assert by_loo["config_p"].between(0, 1).all()
    assert TABLED["comparison"].draw(pd.concat([by_loo, by_kfold]), Origin.SIMULATED).axes


def test_folds_hold_each_configuration_evenly_and_profiles_whole(tiny_composites):
    twice = pd.concat([tiny_composites, tiny_composites], ignore_index=True)
    fold = assign_folds(twice, folds=5, seed=1)
    table = twice.assign(fold=fold)
    assert (table.groupby("profile")["fold"].nunique() == 1).all()
    counts = table.groupby(["config", "fold"]).size().unstack()
    assert (counts.max(axis=1) - counts.min(axis=1) <= 2).all()
    assert not np.array_equal(fold, assign_folds(twice, folds=5, seed=2))


def test_every_judgment_of_a_composite_is_foretold_once_in_all(arrays, few_composites):
    fold = assign_folds(few_composites, folds=4, seed=1)
    parts = [held_out(arrays, fold, number) for number in range(4)]
    weight = pd.concat(parts).groupby("judgment")["weight"].sum()
    assert np.allclose(weight, 1)
    assert set(weight.index) == set(np.flatnonzero(arrays.arena_idx > 0))
    for number, part in enumerate(parts):
        assert (fold[part["composite"]] == number).all()


def coin(p, n=400, draws=200, seed=0):
    """A posterior of judgments between two scenes that says p for each, and the judgments."""
    rng = np.random.default_rng(seed)
    sample = ("chain", "draw")
    eta = np.log(p / (1 - p)) + 0.02 * rng.standard_normal((1, draws))
    theta = np.stack([eta / 2, -eta / 2], axis=-1)[:, :, None, :]
    posterior = xr.Dataset(
        {
            "theta": ((*sample, "judge", "scene"), theta),
            "phi": ((*sample, "judge", "composite"), np.zeros((1, draws, 1, 1))),
            "position_bias_judge": ((*sample, "judge"), np.zeros((1, draws, 1))),
        },
        {"judge": ["j"], "scene": ["a", "b"], "composite": ["c"]},
    )
    zeros = np.zeros(n, int)
    observed = {
        "outcome": (np.random.default_rng(9).random(n) > 0.8).astype(int),  # the first wins 80%
        "first_idx": zeros,
        "second_idx": zeros + 1,
        "judge_idx": zeros,
        "arena_idx": zeros,
    }
    constant = xr.Dataset(
        {
            "a_idx": ("composite", [0]),
            "b_idx": ("composite", [1]),
            "foundation_member": (("composite", "foundation"), np.ones((1, 5), int)),
            "config_member": (("composite", "config"), [[1]]),
            "composite_intensity": ("composite", [0]),
            "foundation_idx": ("scene", [0, 1]),
            "intensity": ("scene", [1, -1]),
        },
        {"config": ["+1/-1"], "foundation": list("abcde")},
    )
    return xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "sample_stats": xr.Dataset(),
            "observed_data": xr.Dataset({k: ("judgment", v) for k, v in observed.items()}),
            "constant_data": constant,
        }
    )


def test_leaving_one_out_agrees_with_the_probability_of_each_judgment():
    tree = coin(0.8)
    won = tree["observed_data"]["outcome"].values == 0
    found = psis_loo(tree, draws=200)
    expected = np.where(won, np.log(0.8), np.log(0.2))
    assert np.abs(found.elpd_i.values - expected).max() < 0.05
    assert found.elpd == pytest.approx(found.elpd_i.values.sum())
    assert expit(0) > found.pareto_k.values.max()
    some = psis_loo(tree, draws=200, judgments=np.array([7, 2]))
    np.testing.assert_array_equal(some.pareto_k, found.pareto_k[[7, 2]])
    alone = pareto_shapes(tree, draws=200, judgments=np.array([7, 2]))
    np.testing.assert_allclose(alone, some.pareto_k)


def test_weights_are_even_where_all_draws_agree_and_count_one_where_one_is_alone():
    tree = coin(0.8)
    assert evenness(tree).min() > 0.99
    # What all draws but one take for certain.
    won = tree["observed_data"]["outcome"].values[0] == 0
    theta = tree["posterior"]["theta"].values
    theta[..., 0] = 40.0 if won else -40.0
    theta[0, 0, :, 0] *= -1
    assert evenness(tree, draws=theta.shape[1])[0] == pytest.approx(1 / theta.shape[1])


def test_weights_that_are_no_numbers_are_the_least_even():
    tree = coin(0.8)
    won = tree["observed_data"]["outcome"].values == 0
    # Impossible, to one draw, for those that the first won.
    tree["posterior"]["theta"].values[0, 0, :, 0] = -1e6
    with np.errstate(over="ignore"):
        even = evenness(tree)
    assert even[won].max() < 0.01 < even[~won].min()


def test_a_tail_of_fewer_than_five_draws_has_no_shape():
    for find in (pareto_shapes, psis_loo):
        with pytest.raises(ModelError, match=r"24 draws, where .* needs 25; sample more"):
            find(coin(0.8, draws=24))
        find(coin(0.8, draws=25))


def test_a_wrong_probability_comes_last():
    table = compare_posteriors({"right": coin(0.8), "wrong": coin(0.5)}, draws=200)
    assert list(table["rule"]) == ["right", "wrong"]
    assert table["weight"][0] > 0.9
    assert table["elpd_diff"][1] < -2 * table["dse"][1]


def test_fits_of_different_judgments_are_refused():
    other = coin(0.8)
    other["observed_data"]["outcome"].values[0] ^= 1
    with pytest.raises(ModelError, match="one, two: these posteriors are of different judgments"):
        compare_posteriors({"one": coin(0.8), "two": other})


def test_the_same_places_of_other_scenes_are_other_judgments():
    renamed = coin(0.5)
    posterior = renamed["posterior"].to_dataset().assign_coords(scene=["a", "z"])
    renamed["posterior"] = xr.DataTree(posterior)
    with pytest.raises(ModelError, match="different judgments"):
        compare_posteriors({"one": coin(0.8), "two": renamed})


def test_one_posterior_is_no_comparison():
    with pytest.raises(ModelError, match="a comparison needs two posteriors"):
        compare_posteriors({"one": coin(0.8)})
