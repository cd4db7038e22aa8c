"""Lapses, ties and position biases by arena and strength: planted together, fitted, recovered.

One small panel with a strong signal, fitted once with every option on, and once with none.
"""

from __future__ import annotations

import numpy as np
import pytest

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation, Panel, Sampler
from moralscale.estimands import Estimands
from moralscale.fit import fit
from moralscale.likelihood import log_probability
from moralscale.priors import load_priors
from moralscale.projections import quantities
from moralscale.records import Arena
from moralscale.simulate import simulate_panel

pytestmark = pytest.mark.xdist_group("recovery-options")

OPTIONS = Observation(
    ties="davidson", lapse=True, position_by_arena=True, position_by_strength=True
)
PANEL = Panel(
    judges=3,
    lapse=0.08,
    tie=0.6,
    position_bias=0.1,
    position_bias_arena={"composite": 0.5, "bridge": -0.4},
    position_bias_slope=0.3,
    convergence=0.93,
)
JUDGES = ("judge-a", "judge-b", "judge-c")
COUNTS = {Arena.SINGLE: 3600, Arena.COMPOSITE: 3000, Arena.BRIDGE: 3000}
SAMPLER = Sampler(backend="nutpie", chains=2, tune=300, draws=200, thin=1, target_accept=0.9)


@pytest.fixture(scope="module")
def truth(tiny_scenes, few_composites):
    return simulate_panel(PANEL, tiny_scenes, few_composites, JUDGES, seed=31)


@pytest.fixture(scope="module")
def arrays(truth, tiny_scenes, few_composites, answered):
    judgments = answered(truth, tiny_scenes, few_composites, COUNTS, seed=32)
    return make_arrays(judgments, tiny_scenes, few_composites, data="bridged", ties=True)


@pytest.fixture(scope="module")
def fitted(arrays, project):
    tree = fit(
        arrays,
        rule=get_rule("compressed"),
        priors=load_priors(project / "config/priors/default.yaml"),
        options=OPTIONS,
        sampler=SAMPLER,
        seed=33,
        cores=2,
    )
    assert float(tree["sample_stats"]["diverging"].mean()) < 0.02
    return tree["posterior"].to_dataset()


def off(draws, value):
    """Largest distance of a truth from its posterior mean, in posterior standard deviations."""
    sample = ("chain", "draw")
    return float((abs(draws.mean(sample) - value) / draws.std(sample)).max())


@pytest.mark.parametrize(
    ("name", "widest"),
    [
        ("lapse", 0.04),
        ("tie", 0.25),
        ("position_bias_arena", 0.25),
        ("position_bias_slope", 0.1),
        ("position_bias", 0.3),
    ],
)
def test_an_option_is_recovered_and_tightly(name, widest, fitted, truth):
    assert off(fitted[name], truth[name]) < 4
    assert float(fitted[name].std(("chain", "draw")).max()) < widest


@pytest.mark.parametrize(
    "name",
    ["lapse_judge", "tie_judge", "position_bias_arena_judge", "position_bias_slope_judge"],
)
def test_so_is_every_judge(name, fitted, truth):
    assert off(fitted[name], truth[name]) < 4.5


def test_what_the_study_asks_for_is_recovered_beside_them(
    fitted, truth, tiny_scenes, few_composites
):
    estimands = Estimands.from_composites(tiny_scenes, few_composites)
    found, planted = quantities(fitted, estimands), quantities(truth, estimands)
    for name in ("beta", "alpha", "composite_consistency", "bridge_consistency", "convergence"):
        assert off(found[name], planted[name]) < 4, name


def test_each_option_is_told_by_the_judgments(fitted, arrays, truth):
    """Taking any one of them away from the truth costs log-likelihood."""
    full = log_probability(truth, arrays, OPTIONS).sum()
    without = {
        "lapse": truth.assign(lapse_judge=0 * truth["lapse_judge"]),
        "arena": truth.assign(position_bias_arena_judge=0 * truth["position_bias_arena_judge"]),
        "strength": truth.assign(position_bias_slope_judge=0 * truth["position_bias_slope_judge"]),
        "ties": truth.assign(tie_judge=0.3 * truth["tie_judge"]),
    }
    for name, other in without.items():
        assert full - log_probability(other, arrays, OPTIONS).sum() > 10, name
    # The posterior of the whole model is at least as good as the truth.
    mean = log_probability(fitted.isel(draw=slice(0, 200, 20)), arrays, OPTIONS).sum(axis=1)
    assert np.median(mean) > full - 50
