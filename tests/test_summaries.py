"""Draws into numbers, against numpy and known distributions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from moralscale.config import Reporting
from moralscale.estimands import Estimands
from moralscale.projections import DEFINITIONS, quantities
from moralscale.summaries import moments, summarise

COLUMNS = [
    *("quantity", "index", "unit", "mean", "median", "sd", "hdi_low", "hdi_high", "pd", "rope"),
    *("mcse", "ess_bulk", "ess_tail", "rhat", "definition"),
]


def dataset(**variables):
    """Quantities of (name -> draws or (dims, draws)), with the units of the project."""
    out = {}
    for name, given in variables.items():
        dims, values = given if isinstance(given, tuple) else ((), given)
        attrs = dict(zip(("unit", "definition"), DEFINITIONS[name], strict=True))
        out[name] = (("chain", "draw", *dims), values, attrs)
    return xr.Dataset(out)


@pytest.fixture(scope="module")
def normal():
    """Normal draws without autocorrelation: mean 0.9, sd 0.05."""
    return 0.9 + 0.05 * np.random.default_rng(0).normal(size=(4, 2000))


def test_moments_are_those_of_numpy(normal):
    table = summarise(dataset(beta=normal), Reporting())
    assert list(table.columns) == COLUMNS
    row = table.iloc[0]
    assert (row["quantity"], row["index"], row["unit"]) == ("beta", "", "ratio")
    assert row["mean"] == pytest.approx(normal.mean(), abs=1e-12)
    assert row["median"] == pytest.approx(np.median(normal), abs=1e-12)
    assert row["sd"] == pytest.approx(normal.std(ddof=1), abs=1e-12)
    assert row["definition"] == DEFINITIONS["beta"][1]


def test_moments_alone_are_those_of_a_summary(normal):
    constant = ("foundation", np.stack([normal, np.ones_like(normal)], axis=-1))
    data = dataset(beta=normal, alpha=normal, foundation_residual=(constant[:1], constant[1]))
    whole = summarise(data, Reporting())
    found = moments(data)
    assert found["mcse"].isna().sum() == 2  # what does not move, in log-odds and in Elo
    pd.testing.assert_frame_equal(found, whole[list(found.columns)])


def test_diagnostics_of_independent_draws(normal):
    row = summarise(dataset(beta=normal), Reporting()).iloc[0]
    assert row["rhat"] == pytest.approx(1, abs=2e-3)
    assert 7000 < row["ess_bulk"] < 9000
    assert 6500 < row["ess_tail"] < 9000
    assert row["mcse"] == pytest.approx(0.05 / np.sqrt(8000), rel=0.08)


def test_diagnostics_see_chains_that_disagree(normal):
    apart = normal + np.array([0, 0, 0, 0.3])[:, None]
    row = summarise(dataset(beta=apart), Reporting()).iloc[0]
    assert row["rhat"] > 1.5
    assert row["ess_bulk"] < 30


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_draw_that_is_no_number_has_not_converged(normal, value):
    draws = normal.copy()
    draws[1, 5] = value
    row = summarise(dataset(beta=draws), Reporting()).iloc[0]
    assert (row["ess_bulk"], row["ess_tail"], row["rhat"]) == (0, 0, np.inf)


def test_an_interval_of_a_normal_is_the_known_one(normal):
    z = stats.norm.ppf(0.97)
    for kind in ("hdi", "eti"):
        row = summarise(dataset(beta=normal), Reporting(ci_prob=0.94, ci_kind=kind)).iloc[0]
        assert row["hdi_low"] == pytest.approx(0.9 - 0.05 * z, abs=0.006)
        assert row["hdi_high"] == pytest.approx(0.9 + 0.05 * z, abs=0.006)
        inside = ((normal >= row["hdi_low"]) & (normal <= row["hdi_high"])).mean()
        assert inside == pytest.approx(0.94, abs=0.002)


def test_kind_and_probability_of_intervals_are_those_asked_for():
    skewed = np.random.default_rng(1).exponential(size=(4, 2500))
    data = dataset(scene_sd=skewed)
    hdi = summarise(data, Reporting(ci_kind="hdi", ci_prob=0.5)).iloc[0]
    eti = summarise(data, Reporting(ci_kind="eti", ci_prob=0.5)).iloc[0]
    # The densest half of an exponential is [0, ln 2], the middle half [ln 4/3, ln 4].
    assert hdi["hdi_low"] < 0.02
    assert hdi["hdi_high"] == pytest.approx(np.log(2), abs=0.04)
    np.testing.assert_allclose(
        [eti["hdi_low"], eti["hdi_high"]], np.quantile(skewed, [0.25, 0.75]), atol=2e-3
    )


def test_direction_and_region_of_a_ratio_are_about_one(normal):
    reporting = Reporting(rope_beta=(0.95, 1.05))
    row = summarise(dataset(beta=normal), reporting).iloc[0]
    below, inside = (normal < 1).mean(), ((normal >= 0.95) & (normal <= 1.05)).mean()
    assert row["pd"] == pytest.approx(below, abs=1e-12)
    assert row["pd"] == pytest.approx(stats.norm.cdf(2), abs=0.01)
    assert row["rope"] == pytest.approx(inside, abs=1e-12)
    wide = summarise(dataset(beta=normal), Reporting(rope_beta=(0.5, 1.5))).iloc[0]
    assert wide["rope"] == 1


def test_a_difference_is_told_in_log_odds_and_in_elo_alike():
    draws = 0.02 + 0.03 * np.random.default_rng(2).normal(size=(4, 500))
    table = summarise(dataset(anchoring=draws), Reporting(rope_elo=(-5.0, 5.0)))
    assert table["unit"].tolist() == ["log-odds", "elo"]
    logit, elo = table.iloc[0], table.iloc[1]
    factor = 400 / np.log(10)
    for column in ("mean", "median", "sd", "hdi_low", "hdi_high", "mcse"):
        assert elo[column] == pytest.approx(factor * logit[column], rel=1e-9)
    assert (elo["pd"], elo["rope"]) == pytest.approx((logit["pd"], logit["rope"]), abs=1e-12)
    for column in ("rhat", "ess_bulk", "ess_tail"):  # of ranks, which rounding may swap
        assert elo[column] == pytest.approx(logit[column], rel=1e-3)
    assert logit["pd"] == pytest.approx((draws > 0).mean(), abs=1e-12)
    assert logit["rope"] == pytest.approx((np.abs(factor * draws) <= 5).mean(), abs=1e-12)


def test_the_probability_of_direction_is_that_of_the_likelier_side():
    draws = np.random.default_rng(3).normal(size=(4, 500))
    for sign in (-1, 1):
        row = summarise(dataset(alpha=sign * (draws + 1)), Reporting()).iloc[0]
        assert row["pd"] == pytest.approx((draws > -1).mean(), abs=1e-12)


def test_a_strength_is_also_a_rating_and_has_no_direction():
    draws = np.random.default_rng(4).normal(size=(2, 200, 3))
    data = dataset(intensity_mean=(("intensity_sum",), draws))
    data = data.assign_coords(intensity_sum=[-1, 0, 2])
    table = summarise(data, Reporting())
    assert table["index"].tolist() == ["-1", "+0", "+2"] * 2
    assert table["unit"].tolist() == ["strength"] * 3 + ["elo"] * 3
    assert table.loc[3, "mean"] == pytest.approx(1000 + 400 / np.log(10) * draws[..., 0].mean())
    assert table[["pd", "rope"]].isna().all(axis=None)


def test_every_value_has_its_own_labels():
    draws = np.random.default_rng(5).normal(size=(2, 100, 2, 3))
    data = dataset(foundation_residual_judge=(("judge", "foundation"), draws))
    data = data.assign_coords(judge=["x", "y"], foundation=["care", "loyalty", "sanctity"])
    table = summarise(data, Reporting()).query("unit == 'log-odds'").set_index("index")
    assert table.loc["y, loyalty", "mean"] == pytest.approx(draws[:, :, 1, 1].mean())
    assert table.loc["x, sanctity", "sd"] == pytest.approx(draws[:, :, 0, 2].std(ddof=1))
    assert len(table) == 6


def test_order_of_dims_does_not_matter():
    draws = np.random.default_rng(6).normal(size=(2, 100, 3))
    data = dataset(gamma=(("foundation",), draws)).assign_coords(foundation=["a", "b", "c"])
    one = summarise(data, Reporting())
    other = summarise(data.transpose("foundation", "draw", "chain"), Reporting())
    assert one.equals(other)


def test_a_constant_has_no_diagnostics_but_what_moves_has_them():
    draws = np.random.default_rng(7).uniform(0.8, 0.9, size=(4, 300))
    matrix = np.ones((4, 300, 2, 2))
    matrix[..., 0, 1] = matrix[..., 1, 0] = draws
    data = dataset(correlation=(("judge", "other_judge"), matrix))
    data = data.assign_coords(judge=["x", "y"], other_judge=["x", "y"])
    table = summarise(data, Reporting()).set_index("index")
    diagonal = table.loc[["x, x", "y, y"]]
    assert (diagonal["mean"] == 1).all()
    assert diagonal[["mcse", "ess_bulk", "ess_tail", "rhat"]].isna().all(axis=None)
    assert (
        table.loc[["x, y", "y, x"], ["mcse", "ess_bulk", "ess_tail", "rhat"]].notna().all(axis=None)
    )


def test_what_a_design_cannot_tell_is_nothing_and_has_no_direction():
    table = summarise(dataset(anchoring=np.full((2, 50), np.nan)), Reporting())
    numbers = table.drop(columns=["quantity", "index", "unit", "definition"])
    assert numbers.isna().all(axis=None)


@pytest.mark.parametrize("spoil", ["not a number", "stuck chains"])
def test_what_moves_but_cannot_be_diagnosed_fails_every_gate(spoil, normal):
    draws = normal.copy()
    if spoil == "not a number":
        draws[1, 3] = np.nan
    else:
        draws[:] = np.arange(4.0)[:, None]
    row = summarise(dataset(beta=draws), Reporting()).iloc[0]
    assert not row["rhat"] <= 1.01
    assert not row["ess_bulk"] >= 400


def test_one_judge_is_summarised_without_warnings(few_truth, tiny_scenes, few_composites):
    estimands = Estimands.from_composites(tiny_scenes, few_composites)
    rng = np.random.default_rng(9)
    one = few_truth[["theta", "phi", "beta", "alpha"]].isel(judge=[0])
    draws = one.expand_dims(chain=2, draw=50).map(lambda v: v + 0.1 * rng.normal(size=v.shape))
    table = summarise(quantities(draws, estimands), Reporting())
    assert not table["quantity"].isin(["convergence", "correlation"]).any()
    names = set(table["quantity"])
    assert {"slope", "slope_judge", "foundation_residual", "anchoring"} <= names
    told = table[table["quantity"] == "slope"].iloc[0]
    same = table[table["quantity"] == "slope_judge"].iloc[0]
    assert told["mean"] == pytest.approx(same["mean"])
    assert np.isfinite(table["mean"]).all()
