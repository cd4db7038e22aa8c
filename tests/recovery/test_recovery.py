"""A panel that adds but chooses less consistently between composites: planted, fitted, recovered.

The two arenas of the study show such a panel as one that compresses; the bridge arena tells the
truth. One small panel with a strong signal serves all tests.
"""

from __future__ import annotations

import numpy as np
import pytest

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Panel, Reporting, Sampler
from moralscale.estimands import Estimands
from moralscale.fit import fit
from moralscale.priors import load_priors
from moralscale.projections import quantities
from moralscale.records import Arena
from moralscale.simulate import simulate_panel
from moralscale.summaries import summarise

# Both fits on one worker, so that machine code compiled for the first serves the second.
pytestmark = pytest.mark.xdist_group("recovery")

BETA, CONSISTENCY, INTERCEPT = 1.0, 0.7, 0.3
JUDGES = ("judge-a", "judge-b", "judge-c", "judge-d")
COUNTS = {Arena.SINGLE: 5000, Arena.COMPOSITE: 5000, Arena.BRIDGE: 4000}
SAMPLER = Sampler(backend="nutpie", chains=2, tune=500, draws=400, target_accept=0.95)


@pytest.fixture(scope="module")
def truth(tiny_scenes, few_composites):
    panel = Panel(
        judges=len(JUDGES),
        slope=BETA * CONSISTENCY,
        composite_consistency=CONSISTENCY,
        intercept=INTERCEPT,
        convergence=0.93,
    )
    return simulate_panel(panel, tiny_scenes, few_composites, JUDGES, seed=21)


@pytest.fixture(scope="module")
def estimands(tiny_scenes, few_composites):
    return Estimands.from_composites(tiny_scenes, few_composites)


@pytest.fixture(scope="module")
def fitted(truth, estimands, tiny_scenes, few_composites, answered, project):
    """Fit the same judgments without and with the bridge arena."""
    judgments = answered(truth, tiny_scenes, few_composites, COUNTS, seed=22)

    def draws(data):
        tree = fit(
            make_arrays(judgments, tiny_scenes, few_composites, data=data),
            rule=get_rule("compressed"),
            priors=load_priors(project / "config/priors/default.yaml"),
            sampler=SAMPLER,
            seed=23,
            cores=2,
        )
        # Short chains: a few divergences do not move what is asserted here, many would.
        assert float(tree["sample_stats"]["diverging"].mean()) < 0.01
        return quantities(tree["posterior"].to_dataset(), estimands)

    return {data: draws(data) for data in ("study", "bridged")}


def off(draws, name, value):
    """Distance of `value` from the posterior mean, in posterior standard deviations."""
    return float(abs(draws[name].mean() - value) / draws[name].std())


def interval(draws, name):
    row = summarise(draws[[name]], Reporting(ci_prob=0.94)).iloc[0]
    return row["hdi_low"], row["hdi_high"]


def test_the_bridge_recovers_slope_consistency_and_intercept(fitted, truth):
    bridged = fitted["bridged"]
    for name, value in (
        ("beta", BETA),
        ("composite_consistency", CONSISTENCY),
        ("alpha", INTERCEPT),
        ("bridge_consistency", 1.0),
        ("position_bias", float(truth["position_bias"])),
    ):
        assert off(bridged, name, value) < 4, name
    # ... and tightly enough to mean something.
    assert float(bridged["beta"].std()) < 0.12
    assert float(bridged["composite_consistency"].std()) < 0.08
    assert float(bridged["alpha"].std()) < 0.15


def test_the_bridge_rules_out_what_the_study_would_say(fitted):
    assert interval(fitted["bridged"], "beta")[0] > BETA * CONSISTENCY
    assert interval(fitted["bridged"], "composite_consistency")[1] < 1.0


def test_without_the_bridge_noise_looks_like_compression(fitted):
    study = fitted["study"]
    assert interval(study, "beta")[1] < BETA  # the truth is outside ...
    assert off(study, "beta", BETA * CONSISTENCY) < 4  # ... and the product is what is found
    assert not {"alpha", "composite_consistency", "intercept"} & set(study.data_vars)


def test_projections_are_recovered(fitted, truth, estimands):
    planted = quantities(truth, estimands)
    bridged = fitted["bridged"]
    for name in ("slope", "anchoring_adjusted", "convergence", "intercept"):
        assert off(bridged, name, float(planted[name])) < 4, name
    for foundation in ("care", "loyalty"):
        draws = bridged[["foundation_residual"]].sel(foundation=foundation)
        value = float(planted["foundation_residual"].sel(foundation=foundation))
        assert off(draws, "foundation_residual", value) < 4, foundation


@pytest.mark.parametrize("data", ["study", "bridged"])
def test_strengths_are_recovered(data, fitted, truth, estimands):
    planted = quantities(truth, estimands)
    draws = fitted[data]
    mean, sd = (getattr(draws["scene_strength"], how)(("chain", "draw")) for how in ("mean", "std"))
    error = ((mean - planted["scene_strength"]) / sd).values
    # About standard normal over scenes: neither biased, nor sure of too much or too little.
    assert abs(error.mean()) < 0.6
    assert 0.6 < np.sqrt((error**2).mean()) < 1.5
    assert np.corrcoef(mean, planted["scene_strength"])[0, 1] > 0.97
    shared = draws["composite_strength"].mean(("chain", "draw"))
    assert np.corrcoef(shared, planted["composite_strength"])[0, 1] > 0.97
