"""The joint model against a plain numpy reading of docs/model.md, and its invariances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
from pymc.pytensorf import gradient
from scipy import stats
from scipy.linalg import null_space

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.estimands import zero_sum_basis
from moralscale.model import REPORTED, build_model
from moralscale.priors import load_priors
from moralscale.records import FOUNDATIONS

# PyTensor's plain mode: compiling to machine code takes longer than all of these tests.
MODE = "FAST_COMPILE"
OPTIONS = [
    ("study", "compressed", 3),
    ("bridged", "compressed", 3),
    ("bridged", "additive", 2),
    ("study", "compressed", 1),
    ("bridged", "compressed", 1),
]
SEVERAL = {
    *("intensity_slope", "intensity_slope_sd", "slope_deviation", "cell_sd", "cell_deviation"),
    *("scene_sd", "scene_level", "consistency_sd", "consistency_z", "judge_sd", "judge_z"),
    *("gamma_sd", "gamma_z", "gamma_judge_sd", "gamma_judge_z", "config_sd", "config_z"),
    *("profile_sd", "profile_z", "composite_sd", "composite_z"),
    *("position_bias", "position_bias_sd", "position_bias_judge"),
}
ONE = {
    *("intensity_slope", "intensity_slope_sd", "slope_deviation", "cell_sd", "cell_deviation"),
    *("scene_sd", "scene_level", "gamma_sd", "gamma_z", "config_sd", "config_z"),
    *("profile_sd", "profile_z", "position_bias"),
}


@pytest.fixture(scope="module")
def priors(project):
    return load_priors(project / "config/priors/default.yaml")


@pytest.fixture(scope="module")
def arrays(few_judgments, tiny_scenes, few_composites):
    def make(data="bridged", judges=3, judgments=None):
        table = few_judgments if judgments is None else judgments
        table = table[table["judge"].isin(sorted(table["judge"].unique())[:judges])]
        return make_arrays(table, tiny_scenes, few_composites, data=data)

    return make


def draw_values(model, seed=0):
    """Some value of every free variable, by name, on its own scale."""
    rng = np.random.default_rng(seed)
    values = {}
    for rv in model.free_RVs:
        shape = tuple(rv.shape.eval(mode=MODE))
        z = rng.normal(size=shape)
        if rv.name.endswith(("_sd", "composite_consistency", "bridge_consistency")):
            z = np.exp(0.4 * z - 0.7)
        elif rv.name in {"slope_deviation", "slope_z", "consistency_z", "gamma_z"}:
            z = z - z.mean()
        values[rv.name] = z
    return values


def to_point(model, values):
    """Take values to the unbounded space that the sampler works in."""
    point = {}
    for rv in model.free_RVs:
        transform, value = model.rvs_to_transforms[rv], values[rv.name]
        if transform is not None:
            value = transform.forward(pm.math.constant(value), *rv.owner.inputs).eval(mode=MODE)
        point[model.rvs_to_values[rv].name] = np.asarray(value, dtype=float)
    return point


def log_density(model):
    """Prior and likelihood as functions of values: two numbers."""
    # Added up here: the plain mode has no sum of more than 32 terms.
    prior, data = (model.logp(vars=v, sum=False) for v in (model.free_RVs, model.observed_RVs))
    compiled = model.compile_fn(prior + data, inputs=model.value_vars, mode=MODE)

    def at(values):
        terms = [float(np.sum(term)) for term in compiled(to_point(model, values))]
        return sum(terms[: len(prior)]), sum(terms[len(prior) :])

    return at


# The plain reading


def plain_strengths(values, arrays, rule):
    """Theta and phi by loops over judges, scenes and composites."""
    v, estimands = values, arrays.estimands
    n_judges = len(arrays.coords["judge"])
    several = n_judges > 1
    mu = v["scene_level"] - v["scene_level"].mean()
    theta = np.tile(mu, (n_judges, 1))
    if several:
        for j in range(n_judges):
            own = v["judge_sd"] * v["judge_z"][j]
            scale = np.exp(v["consistency_sd"] * v["consistency_z"][j])
            theta[j] = scale * mu + own - own.mean()

    gamma = v["gamma_sd"] * v["gamma_z"]
    delta = estimands.config_basis() @ (v["config_sd"] * v["config_z"])
    phi = np.empty((n_judges, len(estimands.a_idx)))
    for j in range(n_judges):
        by_judge = gamma.copy()
        if several:
            by_judge += v["gamma_judge_sd"] * (zero_sum_basis(5) @ v["gamma_judge_z"][j])
        beta = 1.0
        if rule == "compressed":
            beta = v["beta"] + (v["beta_sd"] * v["beta_z"][j] if several else 0.0)
        alpha = 0.0
        if arrays.bridged:
            alpha = v["alpha"] + (v["alpha_sd"] * v["alpha_z"][j] if several else 0.0)
        for c in range(phi.shape[1]):
            pair = theta[j, estimands.a_idx[c]] + theta[j, estimands.b_idx[c]]
            phi[j, c] = alpha + beta * pair + v["profile_sd"] * v["profile_z"][c]
            phi[j, c] += sum(by_judge[f] for f in range(5) if estimands.foundation[c, f])
            phi[j, c] += sum(delta[g] for g in range(len(delta)) if estimands.config[c, g])
            if several:
                phi[j, c] += v["composite_sd"] * v["composite_z"][j, c]
    return theta, phi


def plain_log_odds(values, arrays, rule):
    """Log-odds that the first is chosen, judgment by judgment."""
    theta, phi = plain_strengths(values, arrays, rule)
    n_scenes, n_composites = theta.shape[1], phi.shape[1]
    log_odds = []
    for first, second, judge in zip(
        arrays.first_idx, arrays.second_idx, arrays.judge_idx, strict=True
    ):
        strength = []
        for slot in (first % arrays.n_slots, second % arrays.n_slots):
            once = n_scenes + n_composites
            bridge, place = slot >= once, slot % once
            scene = place < n_scenes
            value = theta[judge, place] if scene else phi[judge, place - n_scenes]
            if bridge:
                value *= values["bridge_consistency"]
            elif not scene and arrays.bridged:
                value *= values["composite_consistency"]
            strength.append(value)
        bias = values["position_bias"]
        if theta.shape[0] > 1:
            bias = values["position_bias_judge"][judge]
        log_odds.append(strength[0] - strength[1] + bias)
    return np.array(log_odds)


def plain_cell_means(v, arrays):
    """Mean strength of each scene's cell: a line in the intensity, and deviations across it."""
    # The choice of an orthonormal basis is free, so it is taken from the model's building block.
    off_line = null_space(np.array([[-2.0, -1.0, 0.0, 1.0, 2.0]]))
    slope = v["intensity_slope"] + v["slope_deviation"]
    means = []
    for f, i in zip(arrays.foundation_idx, arrays.intensity, strict=True):
        deviation = sum(off_line[i + 2, k] * v["cell_deviation"][f, k] for k in range(4))
        means.append(slope[f] * i + deviation)
    return np.array(means)


def plain_log_prior(values, arrays):
    """Densities on the scale of the sampler: a log-transformed value carries its Jacobian."""
    gamma = {
        **dict(intensity_slope_sd=6, cell_sd=8, scene_sd=5, judge_sd=6, consistency_sd=10),
        **dict(beta_sd=20, gamma_sd=15, gamma_judge_sd=30, profile_sd=15),
        **dict(composite_sd=20, alpha_sd=10, position_bias_sd=6),
    }
    normal = {
        "intensity_slope": (0, 1),
        "beta": (1, 0.5),
        "alpha": (0, 1),
        "position_bias": (0, 1),
    }
    total = 0.0
    for name, x in values.items():
        if name == "config_sd":
            total += stats.gamma.logpdf(x, 4, scale=1 / 20) + np.log(x)
        elif name in gamma:
            total += stats.gamma.logpdf(x, 2, scale=1 / gamma[name]) + np.log(x)
        elif name.endswith("_consistency"):
            total += stats.lognorm.logpdf(x, 0.4) + np.log(x)
        elif name in normal:
            total += stats.norm.logpdf(x, *normal[name])
        elif name == "position_bias_judge":
            total += stats.norm.logpdf(x, values["position_bias"], values["position_bias_sd"]).sum()
        elif name in {"slope_deviation", "consistency_z", "gamma_z"}:
            # Normal on the (n - 1)-dimensional plane of vectors that sum to zero.
            sd = values["intensity_slope_sd"] if name == "slope_deviation" else 1.0
            total += -0.5 * ((x / sd) ** 2).sum() - (len(x) - 1) * np.log(np.sqrt(2 * np.pi) * sd)
        elif name == "cell_deviation":
            total += stats.norm.logpdf(x, 0, values["cell_sd"]).sum()
        elif name == "scene_level":
            cells = plain_cell_means(values, arrays)
            total += stats.norm.logpdf(x, cells, values["scene_sd"]).sum()
        else:
            total += stats.norm.logpdf(x).sum()
    return total


@pytest.mark.parametrize(("data", "rule", "judges"), OPTIONS)
def test_log_density_is_that_of_the_plain_reading(data, rule, judges, arrays, priors):
    tables = arrays(data, judges)
    model = build_model(tables, priors, get_rule(rule), centred=True)
    density = log_density(model)
    for seed in (0, 1):
        values = draw_values(model, seed)
        log_odds = plain_log_odds(values, tables, rule)
        likelihood = -np.logaddexp(0, np.where(tables.first_won, -log_odds, log_odds)).sum()
        prior, data_part = density(values)
        assert data_part == pytest.approx(likelihood, abs=1e-8)
        assert prior == pytest.approx(plain_log_prior(values, tables), abs=1e-8)


def test_strengths_are_those_of_the_plain_reading_and_sum_to_zero(arrays, priors):
    tables = arrays("bridged", 3)
    model = build_model(tables, priors, get_rule("compressed"), centred=True)
    outputs = model.replace_rvs_by_values([model["theta"], model["phi"]])
    values = draw_values(model, 5)
    compiled = model.compile_fn(
        outputs, inputs=model.value_vars, mode=MODE, on_unused_input="ignore"
    )
    theta, phi = compiled(to_point(model, values))
    want = plain_strengths(values, tables, "compressed")
    np.testing.assert_allclose(theta, want[0], atol=1e-10)
    np.testing.assert_allclose(phi, want[1], atol=1e-10)
    np.testing.assert_allclose(theta.sum(axis=1), 0, atol=1e-10)


def test_gradient_is_that_of_finite_differences(arrays, priors):
    model = build_model(arrays("bridged", 2), priors, get_rule("compressed"), centred=True)
    factors = model.logp(sum=False)
    cost = sum(f.sum() for f in factors)
    slope_at = model.compile_fn(
        gradient(cost, model.value_vars), inputs=model.value_vars, mode=MODE
    )
    factors_at = model.compile_fn(factors, inputs=model.value_vars, mode=MODE)
    point = to_point(model, draw_values(model, 2))
    slope = slope_at(point)
    rng, step, place = np.random.default_rng(0), 1e-5, 0
    for variable in model.value_vars:  # along one random direction in each variable
        at = point[variable.name]
        direction = rng.normal(size=at.shape)
        high, low = (
            sum(np.sum(f) for f in factors_at(point | {variable.name: at + side * direction}))
            for side in (step, -step)
        )
        part = slope[place : place + at.size]
        place += at.size
        numeric = (high - low) / (2 * step)
        assert part @ direction.ravel() == pytest.approx(numeric, rel=1e-5, abs=1e-5), variable.name
    assert place == slope.size


# Invariances


@pytest.mark.parametrize(("data", "judges"), [("bridged", 3), ("study", 1)])
def test_swapping_first_and_second_changes_nothing_but_the_sign_of_position_bias(
    data, judges, arrays, priors
):
    tables = arrays(data, judges)
    swapped = replace(
        tables,
        first_idx=tables.second_idx,
        second_idx=tables.first_idx,
        first_won=~tables.first_won,
    )
    models = [
        build_model(a, priors, get_rule("compressed"), centred=True) for a in (tables, swapped)
    ]
    values = draw_values(models[0], 3)
    bias = "position_bias_judge" if judges > 1 else "position_bias"
    mirrored = values | {bias: -values[bias]}
    one, other = log_density(models[0])(values)[1], log_density(models[1])
    assert other(mirrored)[1] == pytest.approx(one, abs=1e-9)
    assert abs(other(values)[1] - one) > 1e-3  # a bias that is not mirrored does not fit


def test_names_of_judges_and_order_of_rows_do_not_matter(
    arrays, priors, few_judgments, tiny_scenes, few_composites
):
    new = {"judge-a": "zoe", "judge-b": "mia", "judge-c": "ann"}  # reverses their order
    order = np.random.default_rng(4).permutation(len(few_judgments))
    renamed = few_judgments.assign(judge=few_judgments["judge"].map(new)).iloc[order]
    tables, others = arrays("bridged"), arrays("bridged", judgments=renamed)
    assert others.coords["judge"] == ["ann", "mia", "zoe"]
    models = [
        build_model(a, priors, get_rule("compressed"), centred=True) for a in (tables, others)
    ]
    values = draw_values(models[0], 6)
    by_judge = {"consistency_z", "judge_z", "beta_z", "gamma_judge_z", "composite_z", "alpha_z"}
    by_judge |= {"position_bias_judge"}
    turned = {k: v[::-1] if k in by_judge else v for k, v in values.items()}
    one, other = log_density(models[0])(values), log_density(models[1])(turned)
    assert other == pytest.approx(one, abs=1e-9)


def test_order_and_names_of_scenes_do_not_matter(
    arrays, priors, few_judgments, tiny_scenes, few_composites
):
    order = np.random.default_rng(8).permutation(len(tiny_scenes))
    names = {old: f"x{k}" for k, old in enumerate(tiny_scenes["id"])}
    scenes = tiny_scenes.assign(id=tiny_scenes["id"].map(names)).iloc[order]
    composites = few_composites.assign(
        scene_a=few_composites["scene_a"].map(names), scene_b=few_composites["scene_b"].map(names)
    )
    sides = {s: few_judgments[s].map(lambda n: names.get(n, n)) for s in ("first", "second")}
    others = make_arrays(few_judgments.assign(**sides), scenes, composites, data="bridged")
    models = [
        build_model(a, priors, get_rule("compressed"), centred=True)
        for a in (arrays("bridged"), others)
    ]
    values = draw_values(models[0], 7)
    levels, own = values["scene_level"][order], values["judge_z"][:, order]
    turned = values | {"scene_level": levels, "judge_z": own}
    one, other = log_density(models[0])(values), log_density(models[1])(turned)
    assert other == pytest.approx(one, abs=1e-9)


# Structure


@pytest.mark.parametrize(
    ("data", "rule", "judges", "names"),
    [
        ("study", "compressed", 3, SEVERAL | {"beta", "beta_sd", "beta_z"}),
        ("study", "additive", 3, SEVERAL),
        (
            "bridged",
            "compressed",
            2,
            SEVERAL
            | {"beta", "beta_sd", "beta_z", "alpha", "alpha_sd", "alpha_z"}
            | {"composite_consistency", "bridge_consistency"},
        ),
        ("study", "compressed", 1, ONE | {"beta"}),
        (
            "bridged",
            "compressed",
            1,
            ONE | {"beta", "alpha", "composite_consistency", "bridge_consistency"},
        ),
    ],
)
def test_the_levels_that_the_data_can_tell_are_there_and_no_others(
    data, rule, judges, names, arrays, priors
):
    model = build_model(arrays(data, judges), priors, get_rule(rule), centred=True)
    assert {rv.name for rv in model.free_RVs} == names
    assert [rv.name for rv in model.observed_RVs] == ["first_won"]
    assert ("alpha" in model.named_vars) == (data == "bridged")
    assert {d.name for d in model.deterministics} <= set(REPORTED)


def test_prior_draws_are_finite_and_outcomes_follow_their_chances(arrays, priors):
    tables = arrays("bridged", 3)
    model = build_model(tables, priors, get_rule("compressed"), centred=True)
    with model:
        draws = pm.sample_prior_predictive(draws=60, random_seed=1, compile_kwargs={"mode": MODE})
    prior = draws["prior"].dataset.isel(chain=0)
    for name in prior.data_vars:
        assert np.isfinite(prior[name].values).all(), name
    for name in prior.data_vars:
        if name.endswith(("_sd", "_consistency")) or name == "consistency":
            assert (prior[name].values > 0).all(), name
    won = draws["prior_predictive"]["first_won"].values[0]
    assert won.shape == (60, len(tables.first_won))
    assert set(np.unique(won)) == {0, 1}
    free = [rv.name for rv in model.free_RVs]
    score, variance = 0.0, 0.0
    for draw in range(60):
        values = {name: prior[name].values[draw] for name in free}
        chance = 1 / (1 + np.exp(-plain_log_odds(values, tables, "compressed")))
        score += (won[draw] - chance).sum()
        variance += (chance * (1 - chance)).sum()
        gap = np.abs(won[draw] - chance)
        assert gap.mean() < 0.6
    assert abs(score) < 4 * np.sqrt(variance)
    # Each judgment is a draw of its own: those of two judgments are not the same all over.
    assert 0.1 < np.mean(won[:, 0] != won[:, 1]) < 0.9


def test_coordinates_name_every_dim(arrays, priors):
    model = build_model(arrays("bridged", 3), priors, get_rule("compressed"), centred=True)
    dims = {name: model.named_vars_to_dims[name] for name in ("theta", "phi", "gamma_judge")}
    assert dims == {
        "theta": ("judge", "scene"),
        "phi": ("judge", "composite"),
        "gamma_judge": ("judge", "foundation"),
    }
    assert model.coords["foundation"] == FOUNDATIONS
    assert model.coords["judge"] == ("judge-a", "judge-b", "judge-c")


def test_standardised_scenes_are_the_same_model(arrays, priors):
    tables = arrays("bridged", 3)
    centred, standard = (
        build_model(tables, priors, get_rule("compressed"), centred=choice)
        for choice in (True, False)
    )
    v = draw_values(standard, 9)
    sd = {name: v[name] for name in ("intensity_slope_sd", "cell_sd", "scene_sd")}
    moved = {k: x for k, x in v.items() if k not in {"slope_z", "cell_z", "scene_z"}}
    moved["slope_deviation"] = sd["intensity_slope_sd"] * v["slope_z"]
    moved["cell_deviation"] = sd["cell_sd"] * v["cell_z"]
    moved["scene_level"] = plain_cell_means(moved, tables) + sd["scene_sd"] * v["scene_z"]
    jacobian = 4 * np.log(sd["intensity_slope_sd"]) + 20 * np.log(sd["cell_sd"])
    jacobian += len(tables.intensity) * np.log(sd["scene_sd"])
    one, other = log_density(standard)(v), log_density(centred)(moved)
    assert one[1] == pytest.approx(other[1], abs=1e-8)
    assert one[0] == pytest.approx(other[0] + jacobian, abs=1e-8)


@pytest.mark.parametrize(("n_single", "centred"), [(100, False), (6000, True)])
def test_scenes_are_centred_where_the_data_tell_them(n_single, centred, arrays, priors):
    tables = arrays("study", 3)
    many = replace(
        tables,
        first_idx=np.repeat(tables.first_idx[:1], n_single),
        second_idx=np.repeat(tables.second_idx[:1], n_single),
        first_won=np.ones(n_single, bool),
        judge_idx=np.zeros(n_single, int),
        arena_idx=np.zeros(n_single, int),
    )
    model = build_model(many, priors, get_rule("compressed"))
    assert ("scene_level" in model.named_vars) is centred
