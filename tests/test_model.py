"""The joint model against a plain numpy reading of docs/model.md, and its invariances."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pymc as pm
import pytensor
import pytest
from pymc.pytensorf import gradient
from scipy import stats
from scipy.linalg import null_space

from moralscale.arrays import make_arrays
from moralscale.composition import RULES, get_rule
from moralscale.config import Observation
from moralscale.errors import ModelError
from moralscale.estimands import zero_sum_basis
from moralscale.model import REPORTED, build_model
from moralscale.observation import Observed
from moralscale.priors import load_priors
from moralscale.records import FOUNDATIONS

# PyTensor's plainest mode: compiling to machine code takes longer than all of these tests.
MODE = pytensor.compile.Mode(linker="py", optimizer=None)
OPTIONS = [
    ("study", "compressed", 3),
    ("bridged", "compressed", 3),
    ("bridged", "additive", 2),
    ("study", "compressed", 1),
    ("bridged", "compressed", 1),
]
#: Every combination of options, each with some rule, some arenas and some number of judges.
COMBINATIONS = [
    (
        Observation(
            ties=ties, lapse=lapse, position_by_arena=by_arena, position_by_strength=by_strength
        ),
        sorted(RULES)[k % len(RULES)],
        ("study", "bridged")[k % 3 > 0],
        1 + k % 3,
    )
    for k, (ties, lapse, by_arena, by_strength) in enumerate(
        product(("left_out", "davidson"), *[(False, True)] * 3)
    )
]
SEVERAL = {
    *("intensity_slope", "intensity_slope_sd", "intensity_slope_z", "cell_sd", "cell_z"),
    *("scene_sd", "scene_level", "consistency_sd", "consistency_deviation", "judge_sd", "judge_z"),
    *("gamma_sd", "gamma_z", "gamma_judge_sd", "gamma_judge_z", "config_sd", "config_z"),
    *("profile_sd", "profile_z", "composite_sd", "composite_z"),
    *("position_bias", "position_bias_sd", "position_bias_judge"),
}
ONE = {
    *("intensity_slope", "intensity_slope_sd", "intensity_slope_z", "cell_sd", "cell_z"),
    *("scene_sd", "scene_level", "gamma_sd", "gamma_z", "config_sd", "config_z"),
    *("profile_sd", "profile_z", "position_bias"),
}


@pytest.fixture(scope="module")
def priors(project):
    return load_priors(project / "config/priors/default.yaml")


@pytest.fixture(scope="module")
def arrays(few_judgments, tiny_scenes, few_composites):
    def make(data="bridged", judges=3, judgments=None, ties=False):
        table = few_judgments if judgments is None else judgments
        if ties:
            table = table.assign(outcome=table["outcome"].mask(table.index % 5 == 0, "tie"))
        table = table[table["judge"].isin(sorted(table["judge"].unique())[:judges])]
        return make_arrays(table, tiny_scenes, few_composites, data=data, ties=ties)

    return make


def draw_values(model, seed=0):
    """Some value of every free variable, by name, on its own scale."""
    rng = np.random.default_rng(seed)
    values = {}
    shapes = pytensor.function([], [rv.shape for rv in model.free_RVs], mode=MODE)()
    for rv, shape in zip(model.free_RVs, shapes, strict=True):
        z = rng.normal(size=tuple(shape))
        if rv.name.endswith(("_sd", "composite_consistency", "bridge_consistency")):
            z = np.exp(0.4 * z - 0.7)
        values[rv.name] = z
    return values


def to_point(model, values):
    """Take values to the unbounded space that the sampler works in."""
    moved = []
    for rv in model.free_RVs:
        transform, value = model.rvs_to_transforms[rv], pm.math.constant(values[rv.name])
        moved.append(value if transform is None else transform.forward(value, *rv.owner.inputs))
    names = [model.rvs_to_values[rv].name for rv in model.free_RVs]
    results = pytensor.function([], moved, mode=MODE)()
    return {n: np.asarray(v, dtype=float) for n, v in zip(names, results, strict=True)}


def log_density(model):
    """Prior and likelihood as functions of values: two numbers."""
    # Added up here: the plain mode has no sum of more than 32 terms.
    n_prior, factors = len(model.free_RVs), model.logp(sum=False)
    compiled = model.compile_fn(factors, inputs=model.value_vars, mode=MODE)

    def at(values):
        terms = [float(np.sum(term)) for term in compiled(to_point(model, values))]
        return sum(terms[:n_prior]), sum(terms[n_prior:])

    return at


# The plain reading


def extremes(x, y):
    """The more extreme of two numbers and the other, going over into each other near |x| = |y|."""
    size = [np.sqrt(v**2 + 0.2**2) for v in (x, y)]
    share = 1 / (1 + np.exp(-(size[0] - size[1]) / 0.2))
    return share * x + (1 - share) * y, share * y + (1 - share) * x


def parts(x):
    """The positive and the negative part of a number, rounded off at 0."""
    size = np.sqrt(x**2 + 0.2**2) - 0.2
    return (x + size) / 2, (x - size) / 2


def plain_rule(rule, x, y, v):
    """Compose two numbers; `v` gives a judge's value of each parameter."""
    if rule in {"anchored", "dominant"}:
        extreme, other = extremes(x, y)
        if rule == "dominant":
            return v("beta") * extreme
        return v("beta") * ((1 + v("omega")) * extreme + (1 - v("omega")) * other)
    if rule == "valence":
        (x_plus, x_minus), (y_plus, y_minus) = parts(x), parts(y)
        return v("beta_plus") * (x_plus + y_plus) + v("beta_minus") * (x_minus + y_minus)
    if rule == "saturating":
        ceiling = np.exp(v("log_ceiling"))
        return ceiling * np.tanh(v("beta") * (x + y) / ceiling)
    return (v("beta") if rule == "compressed" else {"additive": 1.0, "averaging": 0.5}[rule]) * (
        x + y
    )


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
            scale = np.exp((zero_sum_basis(n_judges) @ v["consistency_deviation"])[j])
            theta[j] = scale * mu + own - own.mean()

    gamma = v["gamma_sd"] * (zero_sum_basis(5) @ v["gamma_z"])
    delta = estimands.config_basis() @ (v["config_sd"] * v["config_z"])
    phi = np.empty((n_judges, len(estimands.a_idx)))
    for j in range(n_judges):
        by_judge = gamma.copy()
        if several:
            by_judge += v["gamma_judge_sd"] * (zero_sum_basis(5) @ v["gamma_judge_z"][j])

        def own_value(name, j=j):
            return v[name] + (v[f"{name}_sd"] * v[f"{name}_z"][j] if several else 0.0)

        alpha = 0.0
        if arrays.bridged:
            alpha = v["alpha"] + (v["alpha_sd"] * v["alpha_z"][j] if several else 0.0)
        for c in range(phi.shape[1]):
            x, y = theta[j, estimands.a_idx[c]], theta[j, estimands.b_idx[c]]
            phi[j, c] = alpha + plain_rule(rule, x, y, own_value)
            phi[j, c] += v["profile_sd"] * v["profile_z"][c]
            phi[j, c] += sum(by_judge[f] for f in range(5) if estimands.foundation[c, f])
            phi[j, c] += sum(delta[g] for g in range(len(delta)) if estimands.config[c, g])
            if several:
                phi[j, c] += v["composite_sd"] * v["composite_z"][j, c]
    return theta, phi


def plain_log_odds(values, arrays, rule, options=None):
    """Log-odds that the first is chosen over the second, judgment by judgment."""
    options = options or Observation()
    theta, phi = plain_strengths(values, arrays, rule)
    n_judges, n_scenes = theta.shape
    once = n_scenes + phi.shape[1]
    rho = {"single": 1.0, "composite": 1.0}
    if arrays.bridged:
        rho |= {a: values[f"{a}_consistency"] for a in ("composite", "bridge")}

    def own(name, judge):
        value = values[name]
        return value + values[f"{name}_sd"] * values[f"{name}_z"][judge] if n_judges > 1 else value

    def level(judge, arena):
        both = np.concatenate([theta[judge], phi[judge]])
        shown = {"single": theta[judge], "composite": phi[judge], "bridge": both}
        return rho[arena] * shown[arena].mean()

    log_odds = []
    for first, second, judge, arena_idx in zip(
        arrays.first_idx, arrays.second_idx, arrays.judge_idx, arrays.arena_idx, strict=True
    ):
        arena = arrays.coords["arena"][arena_idx]
        shown = []
        for slot in (first % arrays.n_slots, second % arrays.n_slots):
            place = slot % once
            value = theta[judge, place] if place < n_scenes else phi[judge, place - n_scenes]
            shown.append(rho[arena] * value)
        bias = values["position_bias"]
        if n_judges > 1:
            bias = values["position_bias_judge"][judge]
        if options.position_by_arena and arena != "single":
            k = arrays.coords["other_arena"].index(arena)
            bias = bias + values["position_bias_arena_sd"] * values["position_bias_arena_z"][k]
            if n_judges > 1:
                z = values["position_bias_arena_judge_z"][judge, k]
                bias = bias + values["position_bias_arena_judge_sd"] * z
        if options.position_by_strength:
            growth = own("position_bias_slope", judge)
            bias = bias + growth * (sum(shown) / 2 - level(judge, arena))
        log_odds.append(shown[0] - shown[1] + bias)
    return np.array(log_odds)


def plain_chances(values, arrays, rule, options):
    """Chances of first, second and tie, judgment by judgment: (judgment, 3)."""
    log_odds = plain_log_odds(values, arrays, rule, options)
    n_judges = len(arrays.coords["judge"])

    def own(name, judge):
        value = values[name]
        return value + values[f"{name}_sd"] * values[f"{name}_z"][judge] if n_judges > 1 else value

    chances = []
    for eta, judge in zip(log_odds, arrays.judge_idx, strict=True):
        nu = np.exp(own("tie_log", judge)) if options.ties == "davidson" else 0.0
        odds = np.array([np.exp(eta / 2), np.exp(-eta / 2), nu])
        chance = odds / odds.sum()
        if options.lapse:
            lapse = 1 / (1 + np.exp(-own("lapse_logit", judge)))
            chance = (1 - lapse) * chance + lapse * np.array([0.5, 0.5, 0.0])
        chances.append(chance)
    return np.array(chances)


def plain_cell_means(v, arrays):
    """Mean strength of each scene's cell: a line in the intensity, and deviations across it."""
    # The choice of an orthonormal basis is free, so it is taken from the model's building block.
    off_line = null_space(np.array([[-2.0, -1.0, 0.0, 1.0, 2.0]]))
    tilt = zero_sum_basis(5) @ v["intensity_slope_z"]
    slope = v["intensity_slope"] + v["intensity_slope_sd"] * tilt
    means = []
    for f, i in zip(arrays.foundation_idx, arrays.intensity, strict=True):
        deviation = sum(off_line[i + 2, k] * v["cell_sd"] * v["cell_z"][f, k] for k in range(4))
        means.append(slope[f] * i + deviation)
    return np.array(means)


def plain_log_prior(values, arrays):
    """Densities on the scale of the sampler: a log-transformed value carries its Jacobian."""
    gamma = {
        **dict(intensity_slope_sd=6, cell_sd=8, scene_sd=5, judge_sd=6, consistency_sd=10),
        **dict(beta_sd=20, gamma_sd=15, gamma_judge_sd=30, profile_sd=15),
        **dict(composite_sd=20, alpha_sd=10, position_bias_sd=6),
        **dict(omega_sd=15, beta_plus_sd=20, beta_minus_sd=20, log_ceiling_sd=15),
        **dict(position_bias_arena_sd=8, position_bias_arena_judge_sd=10),
        **dict(position_bias_slope_sd=15, lapse_logit_sd=4, tie_log_sd=4),
    }
    normal = {
        "intensity_slope": (0, 1),
        "beta": (1, 0.5),
        "alpha": (0, 1),
        "position_bias": (0, 1),
        "omega": (0, 0.5),
        "beta_plus": (1, 0.5),
        "beta_minus": (1, 0.5),
        "log_ceiling": (1.5, 0.7),
        "position_bias_slope": (0, 0.3),
        "lapse_logit": (-4, 1),
        "tie_log": (-1, 1),
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
        elif name == "consistency_deviation":
            total += stats.norm.logpdf(x, 0, values["consistency_sd"]).sum()
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


@pytest.mark.parametrize(("options", "rule", "data", "judges"), COMBINATIONS)
def test_log_density_with_every_option_is_that_of_the_plain_reading(
    options, rule, data, judges, arrays, priors
):
    tables = arrays(data, judges, ties=options.ties == "davidson")
    model = build_model(tables, priors, get_rule(rule), options, centred=True)
    values = draw_values(model, judges)
    chances = plain_chances(values, tables, rule, options)
    likelihood = np.log(chances[np.arange(len(chances)), tables.outcome]).sum()
    prior, data_part = log_density(model)(values)
    assert data_part == pytest.approx(likelihood, abs=1e-8)
    assert prior == pytest.approx(plain_log_prior(values, tables), abs=1e-8)


def test_every_rule_and_option_was_tried():
    assert {rule for _, rule, _, _ in COMBINATIONS} == set(RULES)
    assert len({options.model_dump_json() for options, *_ in COMBINATIONS}) == 16


@pytest.mark.parametrize("options", [Observation(), Observation(ties="davidson", lapse=True)])
def test_what_is_left_out_adds_nothing_and_pulls_nowhere(options, arrays, priors):
    tables = arrays("bridged", 2, ties=options.ties == "davidson")
    kept = np.where(np.arange(len(tables.outcome)) % 3 == 0, -1, tables.outcome)
    without = {
        name: getattr(tables, name)[kept >= 0]
        for name in ("first_idx", "second_idx", "judge_idx", "arena_idx", "outcome")
    }
    rule = get_rule("compressed")
    found = []
    for one, outcome in ((tables, kept), (replace(tables, **without), kept[kept >= 0])):
        model = build_model(one, priors, rule, options, centred=True, counted=False)
        model.set_data("observed", Observed.of(one, options, counted=False).values(outcome))
        values = draw_values(model, 6)
        cost = sum(factor.sum() for factor in model.logp(sum=False))
        slope = model.compile_fn(
            gradient(cost, model.value_vars), inputs=model.value_vars, mode=MODE
        )
        found.append((log_density(model)(values)[1], slope(to_point(model, values))))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-8)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-8)


@pytest.mark.parametrize("options", [Observation(), Observation(ties="davidson", lapse=True)])
def test_repeats_are_counted_without_loss(options, arrays, priors):
    once = arrays("bridged", 2, ties=options.ties == "davidson")
    rng = np.random.default_rng(3)
    again = rng.integers(0, len(once.outcome), 3 * len(once.outcome))
    several = replace(
        once,
        **{
            name: getattr(once, name)[again]
            for name in ("first_idx", "second_idx", "judge_idx", "arena_idx")
        },
        outcome=rng.integers(0, 3 if options.lapse else 2, len(again)).astype(np.int8),
    )
    observed = Observed.of(several, options)
    assert observed.name == "counts"
    assert len(observed.row) < len(once.outcome)
    assert observed.values(several.outcome).sum() == len(again)
    model = build_model(several, priors, get_rule("compressed"), options, centred=True)
    values = draw_values(model, 4)
    chances = plain_chances(values, several, "compressed", options)
    want = np.log(chances[np.arange(len(again)), several.outcome]).sum()
    assert log_density(model)(values)[1] == pytest.approx(want, abs=1e-8)
    # ... and what is left out adds nothing.
    kept = np.where(np.arange(len(again)) % 3 == 0, -1, several.outcome)
    model.set_data("observed", observed.values(kept))
    want = np.log(chances[np.arange(len(again)), several.outcome])[kept >= 0].sum()
    assert log_density(model)(values)[1] == pytest.approx(want, abs=1e-8)


def test_the_numbers_of_priors_are_data(arrays, priors, project):
    wide = load_priors(project / "config/priors/wide.yaml")
    tables, rule = arrays("bridged", 2), get_rule("compressed")
    models = [build_model(tables, one, rule, centred=True) for one in (priors, wide)]
    values = draw_values(models[0], 8)
    before, want = (log_density(model)(values) for model in models)
    assert abs(before[0] - want[0]) > 0.1
    models[0].set_data("prior_numbers", models[1]["prior_numbers"].get_value())
    assert log_density(models[0])(values) == pytest.approx(want, abs=1e-10)


def test_ties_without_a_place_in_the_model_are_an_error(arrays, priors):
    with pytest.raises(ModelError, match="use `ties: davidson`, or leave ties out"):
        build_model(arrays(ties=True), priors, get_rule("compressed"))


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
    options = COMBINATIONS[-1][0]  # all of them
    tables = arrays("bridged", 2, ties=True)
    model = build_model(tables, priors, get_rule("anchored"), options, centred=True)
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
    tables = arrays(data, judges, ties=True)
    swapped = replace(
        tables,
        first_idx=tables.second_idx,
        second_idx=tables.first_idx,
        outcome=np.array([1, 0, 2], dtype=np.int8)[tables.outcome],
    )
    options = Observation(
        lapse=True, ties="davidson", position_by_arena=True, position_by_strength=True
    )
    models = [
        build_model(a, priors, get_rule("compressed"), options, centred=True)
        for a in (tables, swapped)
    ]
    values = draw_values(models[0], 3)
    biases = ["position_bias_arena_z"]
    if judges > 1:
        biases += ["position_bias_judge", "position_bias_arena_judge_z"]
        biases += ["position_bias_slope", "position_bias_slope_z"]
    else:
        biases += ["position_bias", "position_bias_slope"]
    mirrored = values | {bias: -values[bias] for bias in biases}
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
    by_judge = {"judge_z", "beta_z", "gamma_judge_z", "composite_z", "alpha_z"}
    by_judge |= {"position_bias_judge"}
    turned = {k: v[::-1] if k in by_judge else v for k, v in values.items()}
    basis = zero_sum_basis(3)
    turned["consistency_deviation"] = basis.T @ (basis @ values["consistency_deviation"])[::-1]
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
    assert [rv.name for rv in model.observed_RVs] == ["outcome"]
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
    won = draws["prior_predictive"]["outcome"].values[0] == 0
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
    moved = {k: x for k, x in v.items() if k not in {"scene_z", "consistency_z"}}
    moved["scene_level"] = plain_cell_means(moved, tables) + v["scene_sd"] * v["scene_z"]
    moved["consistency_deviation"] = v["consistency_sd"] * v["consistency_z"]
    jacobian = 2 * np.log(v["consistency_sd"]) + len(tables.intensity) * np.log(v["scene_sd"])
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
        outcome=np.zeros(n_single, np.int8),
        judge_idx=np.zeros(n_single, int),
        arena_idx=np.zeros(n_single, int),
    )
    model = build_model(many, priors, get_rule("compressed"))
    assert ("scene_level" in model.named_vars) is centred
