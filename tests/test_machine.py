"""Machine code of a model: what nutpie would compile, kept from process to process."""

from __future__ import annotations

import numpy as np
import nutpie
import pymc as pm
import pytensor
import pytest

from moralscale.machine import compile_model
from moralscale.sampling import by_nutpie
from moralscale.warmup.density import Density


@pytest.fixture(scope="module")
def model():
    with pm.Model(coords={"place": ["a", "b", "c"]}) as model:
        scale = pm.HalfNormal("scale")
        level = pm.Normal("level", dims="place")
        pm.Deterministic("twice", 2 * level, dims="place")
        seen = pm.Data("seen", np.array([0.5, 1.0, 2.0]))
        pm.Normal("y", scale * level, 0.5, observed=seen, dims="place")
    return model


@pytest.fixture(scope="module")
def machine(model):
    return compile_model(model, ["scale", "level", "twice"])


def test_density_and_draws_are_those_that_nutpie_compiles(model, machine):
    ours = Density(machine)
    theirs = Density(nutpie.compile_pymc_model(model, var_names=["scale", "level", "twice"]))
    assert ours.shapes == theirs.shapes
    assert dict(ours.places) == dict(theirs.places)
    x = np.array([0.3, -1.0, 0.2, 0.9])
    (value, slope), (given, gradient) = ours(x), theirs(x)
    assert value == pytest.approx(given, rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-12)
    for name, draw in theirs.expand(x, ["scale", "level", "twice"]).items():
        np.testing.assert_allclose(ours.expand(x, [name])[name], draw)
    assert np.isnan(ours(np.full(4, np.inf))[0])


def test_data_are_exchanged_without_compiling(model, machine):
    other = machine.with_data(seen=[-1.0, 0, 1])
    assert other.compiled_logp_func is machine.compiled_logp_func
    x = np.array([0.3, -1.0, 0.2, 0.9])
    with model:
        pm.set_data({"seen": np.array([-1.0, 0, 1])})
        expected = Density(nutpie.compile_pymc_model(model))(x)[0]
        pm.set_data({"seen": np.array([0.5, 1.0, 2.0])})
    assert Density(other)(x)[0] == pytest.approx(expected, rel=1e-12)
    assert Density(other)(x)[0] != pytest.approx(Density(machine)(x)[0])
    with pytest.raises(KeyError, match="sene"):
        machine.with_data(sene=[1.0])
    with pytest.raises(ValueError, match="reshape"):
        machine.with_data(seen=[1.0, 2.0])


def test_the_same_model_again_is_read_from_disk(model, machine):
    again = compile_model(model, ["scale", "level", "twice"])
    for function in (again.logp_func, again.expand_func):
        assert sum(function.vm.jit_fn.stats.cache_hits.values()) == 1


def test_where_pytensor_keeps_nothing_the_density_is_the_same(model, machine):
    with pytensor.config.change_flags(numba__cache=False):
        fresh = compile_model(model, ["scale", "level", "twice"])
    x = np.array([0.3, -1.0, 0.2, 0.9])
    assert not fresh.logp_func.vm.jit_fn.stats.cache_hits
    assert Density(fresh)(x)[0] == pytest.approx(Density(machine)(x)[0], rel=1e-12)
    np.testing.assert_array_equal(Density(fresh).expand(x, ["twice"])["twice"], 2 * x[1:])


def test_what_was_compiled_is_sampled_by_many_chains(machine):
    tree = by_nutpie(
        machine,
        draws=200,
        tune=200,
        chains=4,
        cores=2,
        seed=1,
        save_warmup=False,
        progress_bar=False,
    )
    posterior = tree["posterior"]
    assert list(posterior["level"].dims) == ["chain", "draw", "place"]
    assert list(posterior["level"].coords["place"].values) == ["a", "b", "c"]
    np.testing.assert_allclose(posterior["twice"], 2 * posterior["level"])
    assert posterior["level"].sel(place="c").mean() > posterior["level"].sel(place="a").mean()
