"""Learnt coordinates: the same posterior, by maps and derivatives that are what they say."""

from __future__ import annotations

import arviz as az
import numpy as np
import pymc as pm
import pytensor
import pytest

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Sampler
from moralscale.errors import ModelError
from moralscale.fit import compile as compile_model
from moralscale.priors import load_priors
from moralscale.warmup import learn
from moralscale.warmup.curvature import Layout, average, measure
from moralscale.warmup.density import Density
from moralscale.warmup.effects import Effects, survey, weakest
from moralscale.warmup.learning import NEAR, bytes_needed, distance

# PyTensor's plainest mode, for one call.
MODE = pytensor.compile.Mode(linker="py", optimizer=None)
PLAIN = Sampler(chains=2, tune=400, draws=400, thin=1, coordinates="plain")
LEARNT = Sampler(chains=2, tune=150, draws=400, thin=1, coordinates="learnt")


@pytest.fixture(scope="module")
def compiled(few_judgments, tiny_scenes, few_composites, project):
    """Two judges: everything that the model has, and the quickest to compile."""
    two = few_judgments[few_judgments["judge"] != "judge-c"]
    arrays = make_arrays(two, tiny_scenes, few_composites, data="bridged")
    priors = load_priors(project / "config/priors/default.yaml")
    return compile_model(arrays, rule=get_rule("compressed"), priors=priors)


@pytest.fixture(scope="module")
def learnt(compiled):
    return learn(compiled.machine, compiled.model, seed=3, cores=1)


@pytest.fixture(scope="module")
def density(compiled):
    return Density(compiled.machine)


@pytest.fixture(scope="module")
def layout(density, compiled):
    return survey(density, compiled.model)[0]


def somewhere(size, seed, scale=0.5):
    return scale * np.random.default_rng(seed).standard_normal(size)


def test_the_density_is_that_of_the_model(density, compiled):
    model = compiled.model
    # Added up here: the plain mode has no sum of more than 32 terms.
    factors = model.compile_fn(model.logp(sum=False), inputs=model.value_vars, mode=MODE)
    x = somewhere(density.size, 1)
    point = {name: x[place].reshape(density.shapes[name]) for name, place in density.places.items()}
    assert density(x)[0] == pytest.approx(sum(np.sum(f) for f in factors(point)), abs=1e-8)


def test_parameters_are_sorted_without_loss(layout, density):
    places = np.concatenate([layout.spreads, layout.shared, layout.local.ravel()])
    np.testing.assert_array_equal(np.sort(places), np.arange(density.size))
    assert layout.local.shape[0] == 2
    first = {tuple(density.places[name].indices(density.size)) for name in ("judge_z",)}
    assert (first.pop()[0] == layout.local[0]).any()


def test_judges_are_independent_given_what_they_share(density, layout):
    """The curvature in blocks is all of it."""
    x = somewhere(density.size, 2)
    (curvature,) = measure(density.gradient, [x], layout, threads=1)
    way = somewhere(density.size, 3)
    way[layout.spreads] = 0
    change = (density.gradient(x - 1e-5 * way) - density.gradient(x + 1e-5 * way)) / 2e-5
    own, all_ = way[layout.local], way[layout.shared]
    local = np.einsum("jkl,jl->jk", curvature.local, own) + curvature.across @ all_
    shared = np.einsum("jls,jl->s", curvature.across, own) + curvature.shared @ all_
    np.testing.assert_allclose(change[layout.local], local, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(change[layout.shared], shared, rtol=1e-4, atol=1e-4)


def test_a_curvature_is_inverted(density, layout, learnt):
    # Draws of the posterior, nearly: elsewhere the density need not be concave.
    points = [learnt.parameters(somewhere(density.size, seed)) for seed in (4, 5)]
    curvature = average(measure(density.gradient, points, layout, threads=2))
    at = layout
    places = np.concatenate([at.shared, at.local.ravel()])
    dense = np.zeros((at.size, at.size))
    dense[np.ix_(at.shared, at.shared)] = curvature.shared
    for own, block, across in zip(at.local, curvature.local, curvature.across, strict=True):
        dense[np.ix_(own, own)] = block
        dense[np.ix_(own, at.shared)] = across
        dense[np.ix_(at.shared, own)] = across.T
    inverse = np.linalg.inv(dense[np.ix_(places, places)])
    solver = curvature.solver()
    np.testing.assert_allclose(solver.variances()[places], np.diag(inverse), rtol=1e-6)
    rows = somewhere((3, at.size), 5)
    solved = solver(rows)
    np.testing.assert_allclose(solved[:, places], rows[:, places] @ inverse, rtol=1e-6, atol=1e-8)
    assert (solved[:, at.spreads] == 0).all()


def test_what_would_exhaust_memory_is_refused(compiled):
    settings = PLAIN.model_copy(update={"coordinates": "learnt", "memory": 1e-4})
    with pytest.raises(ModelError, match=r"2 judges .* more than 0\.0001.*coordinates: plain"):
        compiled.sample(sampler=settings, seed=2, cores=1)


def test_the_memory_of_a_large_panel_is_reckoned_before_it_is_taken():
    """A hundred judges of a thousand scenes and 160 composites: 1,160 effects each."""
    own = np.broadcast_to(np.arange(1), (100, 1170))
    large = Layout(120_000, np.arange(20), np.arange(1200), own)
    assert 10e9 < bytes_needed(large) < 20e9
    study = Layout(4413, np.arange(20), np.arange(410), own[:10, :396])
    assert bytes_needed(study) < 0.5e9


def test_gradient_over_coordinates_is_that_of_finite_differences(learnt):
    assert len(learnt.coordinates.weak) > 0
    assert len(learnt.coordinates.lead) > 0
    for seed in (1, 2):
        u = somewhere(learnt.density.size, seed)
        slope = learnt(u)[1]
        for k in range(8):
            way = somewhere(learnt.density.size, 10 + k, 1.0)
            high, low = (learnt(u + side * 1e-5 * way)[0] for side in (1, -1))
            assert slope @ way == pytest.approx((high - low) / 2e-5, rel=1e-5, abs=1e-4)


def test_density_over_coordinates_counts_the_volume_of_the_map(learnt):
    def log_volume(u):
        step, size = 1e-6, learnt.density.size
        columns = [
            (learnt.parameters(u + step * e) - learnt.parameters(u - step * e)) / (2 * step)
            for e in np.eye(size)
        ]
        return np.linalg.slogdet(np.array(columns))[1]

    us = [somewhere(learnt.density.size, seed, 0.8) for seed in (4, 5)]
    counted = [learnt(u)[0] - learnt.density(learnt.parameters(u))[0] for u in us]
    assert abs(counted[0] - counted[1]) > 0.1
    volumes = [log_volume(u) for u in us]
    assert counted[0] - counted[1] == pytest.approx(volumes[0] - volumes[1], abs=1e-4)


def test_what_is_sampled_is_the_density_over_coordinates(learnt, compiled):
    machine = learnt.machine(compiled.names)
    sampled, size = Density(machine), learnt.density.size
    for seed in (6, 7):
        u = somewhere(size, seed, 1.0)
        value, slope = learnt(u)
        found, gradient = sampled(u)
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-10)
        kept = sampled.expand(u, compiled.names)
        given = learnt.density.expand(learnt.parameters(u), compiled.names)
        for name in compiled.names:
            np.testing.assert_array_equal(kept[name], given[name])
    assert np.isnan(sampled(np.full(size, np.inf))[0])


def test_leading_effects_are_turned_to_where_data_tell_each_by_itself(learnt):
    turn = learnt.coordinates.turn
    np.testing.assert_allclose(turn @ turn.T, np.eye(len(turn)), atol=1e-10)


def test_spreads_have_a_tail_towards_zero(learnt):
    """Far below, the logarithm of a spread falls with the square of its coordinate."""
    c = learnt.coordinates
    for sign, power in ((-1, 2), (1, 1)):
        u = np.zeros(learnt.density.size)
        reached = []
        for far in (1e3, 2e3):
            u[c.spread] = sign * far
            reached.append(learnt.mapping.to_parameters(u).v[c.spread] - c.centre[c.spread])
        np.testing.assert_allclose(reached[1] / reached[0], 2**power, rtol=0.01)


def test_the_posterior_is_that_of_plain_coordinates(compiled):
    trees = [compiled.sample(sampler=sampler, seed=2, cores=1) for sampler in (PLAIN, LEARNT)]
    for name in ("beta", "theta", "phi", "judge_sd", "position_bias_judge", "gamma"):
        draws = [tree["posterior"][name] for tree in trees]
        means = [d.mean(("chain", "draw")).values for d in draws]
        errors = [az.mcse(d).values for d in draws]
        gap = np.abs(means[0] - means[1]) / np.hypot(*errors)
        assert gap.max() < 7, name  # of up to 102 values, with errors that are estimates
    assert set(trees[0]["posterior"].data_vars) == set(trees[1]["posterior"].data_vars)
    for name, variable in trees[0]["posterior"].data_vars.items():
        assert variable.dims == trees[1]["posterior"][name].dims


def test_coordinates_of_nearly_the_same_data_serve_a_refit(compiled):
    how = {"seed": 2, "cores": 1}
    assert compiled.first_run(sampler=PLAIN, **how) is None
    near = compiled.first_run(sampler=LEARNT, **how)
    assert near.shape[1] == compiled.machine.n_dim
    fifth = np.arange(len(compiled.arrays.outcome)) % 5 == 0
    outcomes = np.where(fifth, -1, compiled.arrays.outcome)
    plain = compiled.sample(sampler=PLAIN, outcomes=outcomes, **how)
    learnt = compiled.sample(sampler=LEARNT, outcomes=outcomes, near=near, **how)
    for name in ("beta", "theta", "phi", "judge_sd", "gamma"):
        draws = [tree["posterior"][name] for tree in (plain, learnt)]
        means = [d.mean(("chain", "draw")).values for d in draws]
        errors = [az.mcse(d).values for d in draws]
        assert (np.abs(means[0] - means[1]) / np.hypot(*errors)).max() < 7, name


def test_draws_of_another_posterior_are_told_apart(compiled, density, layout, project):
    near = compiled.first_run(sampler=LEARNT, seed=2, cores=1)
    assert distance(density, near, layout) < 1
    # Judges whose spreads are known to be large, whatever the data say.
    numbers = load_priors(project / "config/priors/no-pooling.yaml").numbers()
    apart = compiled.machine.with_data(prior_numbers=numbers)
    assert distance(Density(apart), near, layout) > 10 * NEAR


def test_what_data_say_of_an_effect_is_read_off_its_posterior():
    # One effect z ~ N(0, 1) with a spread of 2, seen as y = 2 z + noise of sd 0.5: y = 3.
    information, sd, y = 4.0, 2.0, 3.0
    variance = 1 / (1 + information * sd**2)
    mean = np.array([np.log(sd), variance * information * sd * y])
    effects = Effects(np.array([1]), np.array([0]), np.zeros(1), np.zeros(1))
    told = effects.told(mean, np.array([1.0, variance]))
    assert told.information[0] == pytest.approx(information)
    assert told.score[0] == pytest.approx(information * y)
    assert told.scale(mean)[1] == pytest.approx(np.sqrt(variance))


def test_bounded_spreads_have_no_logarithm(project):
    with pm.Model(coords={"judge": ["a", "b"]}) as model:
        bounded, free = pm.Uniform("one_sd", 0, 1), pm.HalfNormal("other_sd")
        effects = [pm.Normal(f"{k}_z", dims="judge") for k in ("one", "other")]
        pm.Normal("y", bounded * effects[0] + free * effects[1], 1, observed=[0.5, -0.5])
    import nutpie

    density = Density(nutpie.compile_pymc_model(model))
    at, found = survey(density, model)
    assert len(at.spreads) == 2
    np.testing.assert_array_equal(at.local.shape, (2, 2))
    place = density.places["other_z"]
    np.testing.assert_array_equal(found.place, np.arange(place.start, place.stop))
    assert not weakest(at, found, np.zeros(at.size)).all()
