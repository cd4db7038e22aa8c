"""The benchmarks compare like with like: same density, right floors, agreement before figures."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pandas as pd
import pytensor
import pytest

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.likelihood import log_probability, strength_table
from moralscale.model import build_model
from moralscale.priors import load_priors

# PyTensor's plainest mode, for a few calls.
MODE = pytensor.compile.Mode(linker="py", optimizer=None)


@pytest.fixture(scope="module")
def load(project):
    """Import a module of benchmarks/, whose scripts find each other by their folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(project / "benchmarks")
        yield importlib.import_module


@pytest.fixture(scope="module")
def arrays(few_judgments, tiny_scenes, few_composites):
    return make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")


def test_plain_pymc_has_the_density_of_the_project(load, arrays, project):
    priors = load_priors(project / "config/priors/default.yaml")
    plain = load("peers.plain").build(arrays, priors)
    ours = build_model(arrays, priors, get_rule("compressed"), centred=True, counted=False)
    start = plain.initial_point()
    assert set(start) == set(ours.initial_point())
    rng = np.random.default_rng(1)
    points = [
        {name: value + 0.3 * rng.standard_normal(value.shape) for name, value in start.items()}
        for _ in range(2)
    ]
    found = []
    for model in (plain, ours):
        factors = model.compile_fn(model.logp(sum=False), inputs=model.value_vars, mode=MODE)
        found.append([sum(float(np.sum(f)) for f in factors(point)) for point in points])
    assert found[0] == pytest.approx(found[1], abs=1e-8)


def test_floors_compute_the_likelihood_and_its_gradient(load, arrays, few_truth):
    floor = load("floor")
    table = strength_table(few_truth, arrays)[0]
    bias = few_truth["position_bias_judge"].values
    data = (arrays.first_idx, arrays.second_idx, arrays.first_won)
    value = float(log_probability(few_truth, arrays).sum())
    rng = np.random.default_rng(1)
    ways = rng.standard_normal(table.shape), rng.standard_normal(bias.shape)
    for function in (floor.by_log_odds, floor.by_worths):
        total, slope, by_bias = function(table, bias, *data)
        assert total == pytest.approx(value, abs=1e-8)
        high, low = (
            function(table + step * ways[0], bias + step * ways[1], *data)[0]
            for step in (1e-5, -1e-5)
        )
        along = np.sum(slope * ways[0]) + by_bias @ ways[1]
        assert along == pytest.approx((high - low) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.fixture
def runs(tmp_path):
    """Two runs, of this project and of a peer whose mean of beta is off by some errors."""

    def write(errors):
        for peer, seconds, shift in (("ours", 10, 0.0), ("nutpie", 20, errors)):
            values = {"mean": [0.86 + shift * 0.01 * 2**0.5, 0.1], "mcse": [0.01, 0.01]}
            frame = pd.DataFrame(values, index=["beta", "alpha"])
            frame.to_csv(tmp_path / f"{peer}-0.csv")
            about = {"compile_s": 1, "sample_s": seconds, "cpu_s": 2 * seconds, "memory_mb": 1}
            about |= {"ess_smallest": 100, "ess_beta": 200, "rhat": 1, "load": 0, "draws": 400}
            about |= {"peer": peer, "run": 0, "length": "2 x (1 + 1)", "versions": {}}
            (tmp_path / f"{peer}-0.json").write_text(json.dumps(about))
        return tmp_path

    return write


def test_rates_are_held_against_ours(load, runs, capsys):
    table = load("fit_table").print_table(runs(3.9))
    assert table.loc["nutpie", "times_ess_s"] == pytest.approx(2)
    assert table.loc["nutpie", "gap"] == pytest.approx(3.9)
    assert "plain PyMC through nutpie" in capsys.readouterr().out


def test_posteriors_that_differ_give_no_table(load, runs, capsys):
    with pytest.raises(SystemExit, match=r"nutpie.*4\.1 errors"):
        load("fit_table").print_table(runs(4.1))
    assert not capsys.readouterr().out
