"""Checks that gate a fit: each passes what is sound and stops what is not."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from moralscale.checks import check_fit, gate, to_table
from moralscale.checks.convergence import check_convergence
from moralscale.checks.predictive import check_predictive, strength_table
from moralscale.checks.sampling import check_sampling
from moralscale.config import Gates
from moralscale.errors import GateError

N_SCENES, N_COMPOSITES, N_JUDGES = 30, 20, 3


def make_fit(*, bridged=True, spread=1.0, sharper=1.0, seed=0, n=6000):
    """A posterior around a known truth, and judgments from that truth made `sharper`."""
    rng = np.random.default_rng(seed)
    theta = spread * rng.normal(size=(N_JUDGES, N_SCENES))
    phi = spread * rng.normal(size=(N_JUDGES, N_COMPOSITES))
    bias = np.array([0.4, 0.0, -0.3])
    shape = (2, 150)
    jitter = {
        name: 0.01 * rng.normal(size=(*shape, *v.shape))
        for name, v in {"theta": theta, "phi": phi, "bias": bias}.items()
    }
    sample = ("chain", "draw")
    posterior = xr.Dataset(
        {
            "theta": ((*sample, "judge", "scene"), theta + jitter["theta"]),
            "phi": ((*sample, "judge", "composite"), phi + jitter["phi"]),
            "position_bias_judge": ((*sample, "judge"), bias + jitter["bias"]),
        }
    )
    if bridged:
        posterior["composite_consistency"] = (sample, np.full(shape, 0.8))
        posterior["bridge_consistency"] = (sample, np.full(shape, 1.2))
    once = N_SCENES + N_COMPOSITES
    n_slots = 2 * once if bridged else once
    blocks = [(0, N_SCENES), (N_SCENES, once)] + ([(once, 2 * once)] if bridged else [])
    arena = rng.integers(len(blocks), size=n)
    judge = rng.integers(N_JUDGES, size=n)
    slots = np.array([rng.choice(np.arange(*blocks[a]), 2, replace=False) for a in arena])
    first, second = (judge[:, None] * n_slots + slots).T
    table = strength_table(posterior.mean(sample)).ravel()
    eta = sharper * (table[first] - table[second] + bias[judge])
    observed = {
        "first_won": rng.random(n) < 1 / (1 + np.exp(-eta)),
        "first_idx": first,
        "second_idx": second,
        "judge_idx": judge,
        "arena_idx": arena,
    }
    stats = xr.Dataset(
        {
            "diverging": (sample, np.zeros(shape, bool)),
            "energy": (sample, rng.normal(size=shape)),
        }
    )
    groups = {
        "posterior": posterior,
        "sample_stats": stats,
        "observed_data": xr.Dataset({k: (("judgment",), v) for k, v in observed.items()}),
    }
    return xr.DataTree.from_dict(groups)


def make_estimates(**worst):
    table = pd.DataFrame(
        {"quantity": ["beta", "phi"], "index": ["", "x"], "rhat": 1.0, "ess_bulk": 900.0}
    ).assign(ess_tail=900.0)
    for column, value in worst.items():
        table.loc[1, column] = value
    return table


def failed(result):
    return set(result.table.loc[~result.table["passed"], "quantity"])


@pytest.mark.parametrize(
    ("worst", "fails"),
    [
        ({}, set()),
        ({"rhat": 1.02}, {"rhat"}),
        ({"ess_bulk": 399.0}, {"ess_bulk"}),
        ({"ess_tail": 10.0}, {"ess_tail"}),
        ({"rhat": np.inf, "ess_bulk": 0.0}, {"rhat", "ess_bulk"}),
    ],
)
def test_convergence_names_the_worst_quantity(worst, fails):
    result = check_convergence(make_estimates(**worst), Gates())
    assert failed(result) == fails
    assert result.passed is not bool(fails)
    assert all("phi x" in text for text in result.table.loc[~result.table["passed"], "text"])


def test_one_divergence_fails_a_fit_and_a_bound_of_one_allows_it():
    fit = make_fit()
    assert check_sampling(fit, Gates()).passed
    fit["sample_stats"]["diverging"][1, 7] = True
    assert failed(check_sampling(fit, Gates())) == {"divergences"}
    assert check_sampling(fit, Gates(divergences=1)).passed


def test_an_energy_that_hardly_moves_fails_a_fit():
    fit = make_fit()
    walk = np.cumsum(np.random.default_rng(0).normal(size=(2, 150)), axis=1)
    fit["sample_stats"]["energy"].values[:] = walk
    assert failed(check_sampling(fit, Gates())) == {"ebfmi"}


@pytest.mark.parametrize("bridged", [True, False])
def test_judgments_of_the_fitted_model_pass_the_predictive_checks(bridged):
    result = check_predictive(make_fit(bridged=bridged), Gates(), seed=1)
    assert result.passed, result.text
    assert len(result.table) == 4


@pytest.mark.parametrize("sharper", [0.6, 1.6])
def test_judges_more_or_less_decided_than_the_fit_says_are_noticed(sharper):
    result = check_predictive(make_fit(sharper=sharper), Gates(), seed=1)
    assert "win rate by strength gap" in failed(result)
    assert "intransitive triples" in failed(result)


def test_a_missed_position_bias_is_noticed():
    fit = make_fit()
    flipped = -fit["posterior"]["position_bias_judge"]
    fit["posterior"]["position_bias_judge"] = flipped
    assert "win rate by judge and arena" in failed(check_predictive(fit, Gates(), seed=1))


def test_gate_passes_in_one_line_and_stops_with_what_failed():
    results = check_fit(make_fit(), make_estimates(), Gates(), seed=1)
    assert "all 9 checks passed" in gate(to_table(results), where="run, fit")
    results = check_fit(make_fit(), make_estimates(rhat=1.3), Gates(), seed=1)
    with pytest.raises(GateError, match=r"run, fit: largest rhat .* is 1\.3 \(phi x") as error:
        gate(to_table(results), where="run, fit")
    assert "ess" not in str(error.value).split(";")[0]
