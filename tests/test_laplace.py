"""The Laplace approximation: the same model, its derivatives, and recovery of what is planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytensor.tensor as pt
import pytest

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.errors import ModelError
from moralscale.laplace import Expansion, Problem, solve, strengths
from moralscale.laplace.response import _believed
from moralscale.model import build_model
from moralscale.priors import Priors, load_priors
from moralscale.projections import quantities

RULE = get_rule("compressed")


@pytest.fixture(scope="module")
def priors(project):
    return load_priors(project / "config/priors/default.yaml")


@pytest.fixture(scope="module", params=["study", "bridged"])
def arrays(request, few_judgments, tiny_scenes, few_composites):
    return make_arrays(few_judgments, tiny_scenes, few_composites, data=request.param)


@pytest.fixture(scope="module")
def problem(arrays, priors):
    return Problem(arrays, priors, RULE)


def somewhere(problem, seed):
    return problem.start() + 0.3 * np.random.default_rng(seed).standard_normal(problem.layout.size)


def test_log_odds_are_those_of_the_model(problem, arrays):
    x = somewhere(problem, 1)
    named = strengths(problem, x[None], np.zeros((1, len(problem.spreads)))).isel(chain=0, draw=0)
    theta, phi = named["theta"].values, named["phi"].values
    parts = [theta, phi]
    if problem.bridged:
        composite, bridge = (
            float(named[f"{name}_consistency"]) for name in ("composite", "bridge")
        )
        parts = [theta, composite * phi, bridge * theta, bridge * phi]
    table = np.concatenate(parts, axis=1).ravel()
    eta = table[arrays.first_idx] - table[arrays.second_idx]
    eta += named["position_bias_judge"].values[arrays.judge_idx]
    for judge in range(3):
        mine = arrays.judge_idx == judge
        seen = problem.judged[judge].observe(x[problem.layout.own(judge)], problem.ratios(x))
        np.testing.assert_allclose(seen.eta, eta[mine], atol=1e-10)


def test_density_differs_from_the_model_by_a_constant(problem, arrays, priors):
    """Centred strengths and standardised ones have the same density where the map between them,
    of unit volume but for the spreads, is counted."""
    model = build_model(arrays, priors, RULE, centred=False)
    density = model.compile_logp(vars=model.free_RVs + model.observed_RVs, jacobian=False)
    transformed = {rv.name: model.rvs_to_values[rv].name for rv in model.free_RVs}
    log_sd = np.full(len(problem.spreads), np.log(0.4))
    weights = np.exp(-2 * log_sd)
    gaps = []
    for seed in (2, 3):
        x = somewhere(problem, seed)
        values = in_the_model(problem, arrays, x, 0.4)
        point = {}
        for rv in model.free_RVs:
            transform, value = model.rvs_to_transforms[rv], values[rv.name]
            if transform is not None:
                value = transform.forward(pt.as_tensor(value), *rv.owner.inputs).eval()
            point[transformed[rv.name]] = value
        # A log-normal density is one over the ratio, the problem's over its logarithm.
        ratios = [x[problem.layout.of(k)[0]] for k in problem.tops if k.endswith("_consistency")]
        gaps.append(float(density(point)) + sum(ratios) + problem.objective(x, weights))
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-6)


def in_the_model(problem, arrays, x, sd):
    """Values of the model's free variables, from parameters of the problem; all spreads are sd."""
    at = problem.layout
    residual = [r / sd for r in problem.residuals(x)]
    n = at.n_judges
    names = dict(zip(problem.spreads, residual, strict=True))
    values = {name: np.asarray(sd) for name in problem.spreads}
    values |= {
        "intensity_slope_z": names["intensity_slope_sd"],
        "cell_z": names["cell_sd"].reshape(5, 4),
        "scene_z": names["scene_sd"],
        "consistency_z": names["consistency_sd"],
        "judge_z": names["judge_sd"].reshape(n, -1),
        "gamma_z": names["gamma_sd"],
        "gamma_judge_z": names["gamma_judge_sd"].reshape(n, -1),
        "config_z": names["config_sd"],
        "profile_z": names["profile_sd"],
        "beta_z": names["beta_sd"],
        "position_bias_judge": x[at.every("bias")[:, 0]],
    }
    t, beta = x[at.every("t")], x[at.every("beta")[:, 0]]
    shift = 2 * beta * t.mean(axis=1)
    # Composites are uncentred in the problem, by what the judge's mean strength is worth.
    own = names["composite_sd"].reshape(n, -1)
    values["composite_z"] = own
    assert shift.shape == (n,)
    for name in problem.tops:
        value = x[at.of(name)[0]]
        values[name] = np.exp(value) if name.endswith("_consistency") else value
    if problem.bridged:
        values["alpha_z"] = names["alpha_sd"]
    return values


def test_gradient_is_that_of_the_objective(problem):
    x = somewhere(problem, 4)
    log_sd = np.log(np.linspace(0.2, 0.5, len(problem.spreads)))
    gradient = Expansion(problem, x, log_sd).gradient
    rng = np.random.default_rng(5)
    for _ in range(5):
        way = rng.standard_normal(len(x))
        step = 1e-6
        change = problem.objective(x + step * way, np.exp(-2 * log_sd))
        change -= problem.objective(x - step * way, np.exp(-2 * log_sd))
        assert gradient @ way == pytest.approx(change / (2 * step), rel=1e-4, abs=1e-4)


def test_curvature_is_that_of_residuals_and_expected_outcomes(problem):
    """Gauss and Newton's matrix from numerical derivatives of residuals and log-odds, along a
    random direction; and the Jacobians that it is made of."""
    x, way = somewhere(problem, 6), np.random.default_rng(8).standard_normal(problem.layout.size)
    log_sd = np.log(np.linspace(0.2, 0.5, len(problem.spreads)))
    at, step = Expansion(problem, x, log_sd), 1e-6

    def log_odds(x):
        judges = enumerate(problem.judged)
        seen = [m.observe(x[problem.layout.own(j)], problem.ratios(x)).eta for j, m in judges]
        return np.concatenate(seen)

    there, back = problem.residuals(x + step * way), problem.residuals(x - step * way)
    bent = sum((way[problem.top_at] / problem.top_sd) ** 2)
    for k, (one, other) in enumerate(zip(there, back, strict=True)):
        slope = (one - other).ravel() / (2 * step)
        np.testing.assert_allclose(at.apply(k, way[:, None])[:, 0], slope, rtol=1e-5, atol=1e-5)
        assert at.pull(k, slope[:, None])[:, 0] @ way == pytest.approx(slope @ slope, rel=1e-5)
        bent += at.weights[k] * (slope @ slope)
    slope = (log_odds(x + step * way) - log_odds(x - step * way)) / (2 * step)
    weight = np.concatenate([each[1] for each in at.chances])
    bent += weight @ slope**2
    inverse = at.arrow.solve(np.eye(problem.layout.size))
    assert way @ np.linalg.solve(inverse, way) == pytest.approx(bent, rel=1e-4)


def test_arrow_inverts_the_curvature(problem):
    x = somewhere(problem, 6)
    arrow = Expansion(problem, x, np.full(len(problem.spreads), np.log(0.5))).arrow
    inverse = arrow.solve(np.eye(problem.layout.size))
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-8)
    found = arrow.covariance()
    n, mine = problem.layout.n_shared, problem.layout.own(0)
    np.testing.assert_allclose(found.shared, inverse[:n, :n], atol=1e-8)
    np.testing.assert_allclose(found.own[0], inverse[mine, mine], atol=1e-5)
    np.testing.assert_allclose(found.across[0], inverse[mine, :n], atol=1e-5)
    draws = arrow.draw(np.random.default_rng(7), 4000)
    spread = draws[n:].std(axis=1) / np.sqrt(np.diagonal(inverse)[n:])
    assert 0.97 < spread.mean() < 1.03


def test_expected_chances_are_averages_over_log_odds(problem):
    seen = problem.judged[0].observe(
        somewhere(problem, 9)[problem.layout.own(0)], problem.ratios(problem.start())
    )
    sd, draws = 0.8, np.random.default_rng(10).standard_normal(20_000)
    chance, slope = seen.chances(np.full(len(seen.eta), sd**2))
    drawn = 1 / (1 + np.exp(-seen.eta[:20, None] - sd * draws))
    np.testing.assert_allclose(chance[:20], drawn.mean(axis=1), atol=0.01)
    np.testing.assert_allclose(slope[:20], (drawn * (1 - drawn)).mean(axis=1), atol=0.005)


def test_a_response_is_believed_within_bounds():
    assumed = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(_believed(assumed, 1.2 * assumed), 1.2 * assumed)
    np.testing.assert_allclose(_believed(assumed, -assumed), 0.7 * assumed)
    np.testing.assert_allclose(_believed(assumed, 9 * assumed), 2.5 * assumed)


@pytest.fixture(scope="module")
def answers(few_truth, tiny_scenes, few_composites, answered):
    counts = {"single": 1500, "composite": 1500, "bridge": 900}
    return answered(few_truth, tiny_scenes, few_composites, counts, seed=2)


@pytest.mark.parametrize("data", ["study", "bridged"])
def test_draws_have_what_a_posterior_has(data, answers, priors, tiny_scenes, few_composites):
    arrays = make_arrays(answers, tiny_scenes, few_composites, data=data)
    problem = Problem(arrays, priors, RULE)
    found = solve(problem)
    draws = found.draws(200, seed=1)
    assert np.abs(draws["theta"].mean("scene")).max() < 1e-10
    made = quantities(draws, arrays.estimands)
    assert np.isfinite(made["slope"]).all()
    assert ("intercept" in made) is arrays.bridged
    assert 0.01 < float(made["slope"].std()) < 0.4
    again = solve(problem).draws(200, seed=1)
    assert np.array_equal(draws["phi"], again["phi"])


def test_what_cannot_be_approximated_is_refused(arrays, priors):
    with pytest.raises(ModelError, match="rule 'additive'"):
        Problem(arrays, priors, get_rule("additive"))
    one = replace(arrays, coords=arrays.coords | {"judge": ["judge-a"]})
    with pytest.raises(ModelError, match="single judge"):
        Problem(one, priors, RULE)
    said = priors.to_dict()
    wrong = Priors(said | {"scene_sd": said["beta"]}, name="wrong")
    with pytest.raises(ModelError, match="prior Normal"):
        Problem(arrays, wrong, RULE)
