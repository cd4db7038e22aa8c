"""Parameters of every composition rule, from choices between composites.

The mean composite follows a rule exactly here and scene strengths are known, so that the rule's own
parameters are all that is searched for: whether choices can tell them at all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import minimize

from moralscale.arrays import make_arrays
from moralscale.composition import RULES, get_rule
from moralscale.likelihood import log_probability, replicate
from moralscale.records import Arena

PLANTED = {
    "beta": 0.8,
    "omega": 0.35,
    "beta_plus": 0.6,
    "beta_minus": 1.1,
    "log_ceiling": np.log(2.5),
}


@pytest.fixture(scope="module")
def arrays(tiny_truth, tiny_scenes, tiny_composites, answered):
    counts = {Arena.SINGLE: 60, Arena.COMPOSITE: 12_000}
    judgments = answered(tiny_truth, tiny_scenes, tiny_composites, counts, seed=41)
    return make_arrays(judgments, tiny_scenes, tiny_composites, data="study")


def strengths(truth, arrays, rule, values):
    """A panel whose composites follow `rule` with these values for every judge."""
    theta, estimands = 1.5 * truth["theta"], arrays.estimands
    parameters = {name: np.full((theta.sizes["judge"], 1), v) for name, v in values.items()}
    a, b = (theta.values[:, k] for k in (estimands.a_idx, estimands.b_idx))
    phi = xr.DataArray(rule.compose(a, b, parameters), dims=("judge", "composite"))
    bias = xr.zeros_like(truth["position_bias_judge"])
    return xr.Dataset({"theta": theta, "phi": phi, "position_bias_judge": bias})


def answers(truth, arrays, rule):
    """The arrays, with outcomes of a panel that follows `rule`."""
    values = {name: PLANTED[name] for name in rule.parameters}
    panel = strengths(truth, arrays, rule, values)
    outcome = replicate(panel, arrays, None, np.random.default_rng(42))[0]
    return replace(arrays, outcome=outcome)


def fit_rule(truth, arrays, rule):
    """Maximum likelihood: values by name, their standard errors, and the log-likelihood."""
    names = list(rule.parameters)

    def loss(x):
        panel = strengths(truth, arrays, rule, dict(zip(names, x, strict=True)))
        return -log_probability(panel, arrays).sum()

    if not names:
        return {}, {}, -loss([])
    found = minimize(loss, np.full(len(names), 0.5), method="BFGS", options={"gtol": 1e-2})
    errors = np.sqrt(np.diag(found.hess_inv))
    return (*(dict(zip(names, part, strict=True)) for part in (found.x, errors)), -found.fun)


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_is_recovered_from_choices_between_composites(name, arrays, tiny_truth):
    rule = get_rule(name)
    judged = answers(tiny_truth, arrays, rule)
    values, errors, best = fit_rule(tiny_truth, judged, rule)
    for parameter, value in values.items():
        # BFGS's errors are rough; a planted value is missed by far where choices do not tell it.
        assert abs(value - PLANTED[parameter]) < max(5 * errors[parameter], 0.02), parameter
        assert abs(value - PLANTED[parameter]) < 0.25, parameter
    other = "additive" if name != "additive" else "averaging"
    assert best - fit_rule(tiny_truth, judged, get_rule(other))[2] > 10
