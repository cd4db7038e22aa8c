"""The plain likelihood: what it says, against loops and in its invariances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from moralscale.arrays import make_arrays
from moralscale.config import Observation, Panel
from moralscale.likelihood import (
    blocks,
    log_odds,
    log_probability,
    outcome_probability,
    replicate,
)
from moralscale.simulate import simulate_panel

EVERYTHING = Observation(
    lapse=True, ties="davidson", position_by_arena=True, position_by_strength=True
)
OPTIONS = st.builds(
    Observation,
    lapse=st.booleans(),
    ties=st.sampled_from(["left_out", "davidson"]),
    position_by_arena=st.booleans(),
    position_by_strength=st.booleans(),
)
SEEDS = st.integers(0, 2**31)
BIASES = ("position_bias_judge", "position_bias_arena_judge", "position_bias_slope_judge")
PLANTED = dict(
    lapse=0.08,
    tie=0.5,
    position_bias=0.2,
    position_bias_arena={"composite": 0.3, "bridge": -0.2},
    position_bias_slope=0.15,
    composite_consistency=0.8,
    bridge_consistency=1.2,
)
few = settings(max_examples=20, deadline=None)


@pytest.fixture(scope="module")
def truth(tiny_scenes, few_composites):
    judges = ["judge-a", "judge-b", "judge-c"]
    return simulate_panel(Panel(judges=3, **PLANTED), tiny_scenes, few_composites, judges, seed=3)


@pytest.fixture(scope="module")
def table(few_judgments):
    """Judgments with ties among them."""
    return few_judgments.assign(
        outcome=few_judgments["outcome"].mask(few_judgments.index % 4 == 0, "tie")
    )


@pytest.fixture(scope="module")
def arrays(table, tiny_scenes, few_composites):
    return make_arrays(table, tiny_scenes, few_composites, data="bridged", ties=True)


@pytest.fixture(scope="module")
def draws(arrays):
    """Some draws, of any size: a function of a seed."""

    def make(seed, n=4):
        rng = np.random.default_rng(seed)
        c = arrays.coords
        n_judges = len(c["judge"])
        shapes = {
            "theta": ("judge", "scene"),
            "phi": ("judge", "composite"),
            "position_bias_judge": ("judge",),
            "position_bias_arena_judge": ("judge", "other_arena"),
            "position_bias_slope_judge": ("judge",),
        }
        values = {
            name: (("sample", *dims), rng.normal(size=(n, *(len(c[dim]) for dim in dims))))
            for name, dims in shapes.items()
        }
        values["lapse_judge"] = (("sample", "judge"), rng.uniform(0, 0.3, (n, n_judges)))
        values["tie_judge"] = (("sample", "judge"), rng.gamma(2.0, 1.0, (n, n_judges)))
        for arena in ("composite", "bridge"):
            values[f"{arena}_consistency"] = (("sample",), rng.gamma(5.0, 0.2, n))
        return xr.Dataset(values, {k: c[k] for k in ("judge", "scene", "composite")})

    return make


def usable(arrays, options):
    """The arrays, without ties where the options have no place for them."""
    if options.ties == "davidson":
        return arrays
    return replace(arrays, outcome=np.where(arrays.outcome == 2, 0, arrays.outcome))


def test_chances_are_those_of_a_reading_by_loops(truth, arrays, table, chances):
    chance = outcome_probability(truth, arrays, EVERYTHING)
    assert chance.shape == (1, len(table), 3)
    first, second = chances(truth, table)
    np.testing.assert_allclose(chance[0, :, 0], first, rtol=1e-12)
    np.testing.assert_allclose(chance[0, :, 1], second, rtol=1e-12)
    np.testing.assert_allclose(chance.sum(axis=-1), 1, rtol=1e-12)


@few
@given(seed=SEEDS, options=OPTIONS)
def test_swapping_first_and_second_changes_only_the_signs_of_position_biases(
    seed, options, arrays, draws
):
    tables, given_draws = usable(arrays, options), draws(seed)
    swapped = replace(
        tables,
        first_idx=tables.second_idx,
        second_idx=tables.first_idx,
        outcome=np.array([1, 0, 2])[tables.outcome],
    )
    mirrored = given_draws.assign({name: -given_draws[name] for name in BIASES})
    np.testing.assert_allclose(
        log_probability(mirrored, swapped, options),
        log_probability(given_draws, tables, options),
        rtol=1e-9,
        atol=1e-12,
    )


@few
@given(seed=SEEDS, options=OPTIONS)
def test_log_likelihood_adds_up_over_any_cut_and_order(seed, options, arrays, draws):
    tables, given_draws = usable(arrays, options), draws(seed)
    whole = log_probability(given_draws, tables, options)
    n = whole.shape[1]
    cut = seed % n
    halves = [
        log_probability(given_draws, tables, options, rows)
        for rows in (slice(0, cut), slice(cut, None))
    ]
    np.testing.assert_allclose(np.concatenate(halves, axis=1), whole, rtol=1e-12)
    order = np.random.default_rng(seed).permutation(n)
    fields = ("first_idx", "second_idx", "judge_idx", "arena_idx", "outcome")
    turned = replace(tables, **{name: getattr(tables, name)[order] for name in fields})
    np.testing.assert_allclose(
        log_probability(given_draws, turned, options), whole[:, order], rtol=1e-12
    )


@few
@given(seed=SEEDS, options=OPTIONS)
def test_names_of_judges_do_not_matter(
    seed, options, table, arrays, draws, tiny_scenes, few_composites
):
    new = {"judge-a": "zoe", "judge-b": "mia", "judge-c": "ann"}  # reverses their order
    renamed = table.assign(judge=table["judge"].map(new))
    others = make_arrays(renamed, tiny_scenes, few_composites, data="bridged", ties=True)
    given_draws = draws(seed)
    turned = given_draws.isel(judge=[2, 1, 0]).assign_coords(judge=["ann", "mia", "zoe"])
    np.testing.assert_allclose(
        log_probability(turned, usable(others, options), options),
        log_probability(given_draws, usable(arrays, options), options),
        rtol=1e-12,
    )


def test_strengths_may_shift_together_within_a_judge(arrays, draws):
    one = draws(1)
    one["bridge_consistency"] = one["composite_consistency"] = xr.ones_like(
        one["lapse_judge"][:, 0]
    )
    shift = xr.DataArray([0.5, -1.0, 2.0], dims="judge")
    other = one.assign(theta=one["theta"] + shift, phi=one["phi"] + shift)
    np.testing.assert_allclose(
        log_probability(other, arrays, EVERYTHING),
        log_probability(one, arrays, EVERYTHING),
        rtol=1e-9,
    )


def test_ties_without_odds_and_choices_without_lapses_are_the_plain_model(arrays, draws):
    one = draws(2)
    nothing = one.assign(
        tie_judge=0 * one["tie_judge"],
        lapse_judge=0 * one["lapse_judge"],
        position_bias_arena_judge=0 * one["position_bias_arena_judge"],
        position_bias_slope_judge=0 * one["position_bias_slope_judge"],
    )
    tables = usable(arrays, Observation())
    np.testing.assert_allclose(
        log_probability(nothing, tables, EVERYTHING),
        log_probability(nothing, tables, Observation()),
        rtol=1e-9,
        atol=1e-12,
    )


def test_a_tie_is_no_pair_of_half_wins_and_its_odds_are_the_parameter(arrays, draws):
    options = Observation(ties="davidson")
    one = draws(3)
    chance = outcome_probability(one, arrays, options)
    nu = one["tie_judge"].values[:, arrays.judge_idx]
    # Davidson (1970): P(tie)^2 = nu^2 P(first) P(second), at any strengths.
    np.testing.assert_allclose(chance[..., 2] ** 2, nu**2 * chance[..., 0] * chance[..., 1])
    # ... and wins keep the odds of the model without ties.
    np.testing.assert_allclose(
        np.log(chance[..., 0] / chance[..., 1]), log_odds(one, arrays, options), atol=1e-9
    )


def test_chain_and_draw_are_stacked_in_order(arrays, draws):
    flat = draws(4, n=6)
    index = pd.MultiIndex.from_product([[0, 1], [0, 1, 2]], names=["chain", "draw"])
    coords = xr.Coordinates.from_pandas_multiindex(index, "sample")
    chains = flat.assign_coords(coords).unstack("sample")
    np.testing.assert_array_equal(
        log_probability(chains, arrays, EVERYTHING), log_probability(flat, arrays, EVERYTHING)
    )


def test_extreme_strengths_have_a_finite_log_probability(arrays, draws):
    one = draws(5)
    extreme = one.assign(theta=500 * one["theta"], phi=500 * one["phi"])
    assert np.isfinite(log_probability(extreme, usable(arrays, Observation()))).all()


def test_blocks_cover_every_judgment_once(arrays):
    n = len(arrays.outcome)
    for n_samples in (1, 10**6, 10**9):
        places = [np.arange(n)[block] for block in blocks(arrays, n_samples)]
        np.testing.assert_array_equal(np.concatenate(places), np.arange(n))
    assert len(places) == n  # one judgment at a time, where there are that many draws


def test_replicates_come_as_often_as_their_chances_say(truth, arrays):
    many = truth[["theta", "phi", *BIASES, "lapse_judge", "tie_judge"]].assign(
        composite_consistency=truth["composite_consistency"],
        bridge_consistency=truth["bridge_consistency"],
    )
    chance = outcome_probability(many, arrays, EVERYTHING)[0]
    rng = np.random.default_rng(1)
    counts = np.zeros_like(chance)
    for _ in range(200):
        outcome = replicate(many, arrays, EVERYTHING, rng)[0]
        counts[np.arange(len(outcome)), outcome] += 1
    z = (counts - 200 * chance) / np.sqrt(200 * chance * (1 - chance))
    assert 0.8 < z.std() < 1.2
    assert np.abs(z.mean(axis=0)).max() < 0.25
