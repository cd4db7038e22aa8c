"""Sampling and storage, on a fit that is small but real."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
import xarray as xr

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation, Sampler
from moralscale.errors import ModelError
from moralscale.fit import compile as compile_model
from moralscale.fused import teach_jax
from moralscale.model import REPORTED
from moralscale.posterior_file import load, save
from moralscale.priors import load_priors
from moralscale.records import BetaMeaning
from moralscale.warmup.density import Density

SAMPLER = Sampler(backend="nutpie", chains=2, tune=150, draws=60, target_accept=0.85)
RAW = ("_z", "log__")


@pytest.fixture(scope="module")
def arrays(few_judgments, tiny_scenes, few_composites):
    """One judge: the smallest model, and the quickest to compile."""
    one = few_judgments[few_judgments["judge"] == "judge-a"]
    return make_arrays(one, tiny_scenes, few_composites, data="bridged")


@pytest.fixture(scope="module")
def compiled(arrays, project):
    priors = load_priors(project / "config/priors/default.yaml")
    return compile_model(arrays, rule=get_rule("compressed"), priors=priors)


@pytest.fixture(scope="module")
def tree(compiled):
    attrs = {"data": "bridged", "origin": "simulated"}
    return compiled.sample(sampler=SAMPLER, seed=11, cores=1, attrs=attrs)


@pytest.fixture(scope="module")
def path(tree, tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "posterior.nc"
    save(tree, path)
    return path


def test_a_fit_keeps_the_reported_quantities_and_no_raw_ones(tree, arrays):
    posterior = tree["posterior"].dataset
    assert set(posterior.data_vars) <= set(REPORTED)
    assert not [name for name in posterior.data_vars if str(name).endswith(RAW)]
    expected = {"beta", "alpha", "composite_consistency", "bridge_consistency", "theta", "phi"}
    assert expected | {"mu", "gamma", "delta_config", "position_bias"} <= set(posterior.data_vars)
    assert dict(posterior.sizes) == {
        "chain": 2,
        "draw": 60,
        "judge": 1,
        "scene": 51,
        "composite": 50,
        "foundation": 5,
        "config": 5,
    }
    for name, variable in posterior.data_vars.items():
        assert variable.dims[:2] == ("chain", "draw"), name
        assert np.isfinite(variable.values).all(), name
    for dim in ("judge", "scene", "composite", "foundation", "config"):
        assert [str(v) for v in posterior[dim].values] == list(arrays.coords[dim])
    np.testing.assert_allclose(posterior["theta"].sum("scene"), 0, atol=1e-9)


def test_jax_reads_the_same_density(compiled):
    """What `backend: numpyro` samples; sampling itself is tested on a smaller model."""
    pytest.importorskip("numpyro", reason="the extra `jax` is not installed")
    from pymc.sampling.jax import get_jaxified_logp

    model = compiled.model
    teach_jax()
    density, by_jax = Density(compiled.machine), get_jaxified_logp(model)
    for seed in (1, 2):
        x = 0.3 * np.random.default_rng(seed).standard_normal(density.size)
        parts = [
            x[density.places[value.name]].reshape(density.shapes[value.name])
            for value in model.value_vars
        ]
        assert float(by_jax(parts)) == pytest.approx(density(x)[0], abs=1e-6)


def test_a_fit_keeps_statistics_and_the_judgments(tree, arrays):
    stats = tree["sample_stats"].dataset
    assert {"energy", "diverging"} <= set(stats.data_vars)
    assert stats["diverging"].shape == (2, 60 * SAMPLER.thin)
    observed = tree["observed_data"].dataset
    for name in ("outcome", "first_won", "first_idx", "second_idx", "judge_idx", "arena_idx"):
        np.testing.assert_array_equal(observed[name], getattr(arrays, name))


def test_a_fit_says_where_it_comes_from(tree):
    assert tree.attrs["rule"] == "compressed"
    assert tree.attrs["prior"] == "default"
    assert json.loads(tree.attrs["model"]) == Observation().model_dump()
    assert tree.attrs["beta_meaning"] == BetaMeaning.IDENTIFIED
    assert tree.attrs["seed"] == 11
    assert tree.attrs["data"] == "bridged"
    assert tree.attrs["origin"] == "simulated"
    assert json.loads(tree.attrs["sampler"]) == SAMPLER.model_dump()
    assert "pymc 6." in tree.attrs["versions"]


def test_chains_differ_and_move(tree):
    beta = tree["posterior"]["beta"].values
    assert (beta.std(axis=1) > 1e-3).all()
    assert not np.allclose(beta[0], beta[1])


def test_what_is_saved_is_what_is_loaded(tree, path):
    again = load(path)
    assert again.attrs == tree.attrs
    for group in ("posterior", "sample_stats", "observed_data"):
        one, other = tree[group].dataset, again[group].dataset
        assert set(one.data_vars) == set(other.data_vars)
        assert one.sizes == other.sizes
        for name in one.data_vars:
            assert one[name].dims == other[name].dims
            np.testing.assert_allclose(
                other[name].values.astype(float), one[name].values.astype(float), rtol=1e-6
            )
        for dim in one.coords:
            assert one[dim].values.tolist() == other[dim].values.tolist()


def test_draws_on_disk_are_compressed_single_precision(path):
    with h5py.File(path) as file:
        for name in ("theta", "phi", "beta"):
            assert file["posterior"][name].dtype == np.float32
            assert file["posterior"][name].compression == "gzip"
        assert file["observed_data"]["first_idx"].dtype == np.int32


def test_a_loaded_posterior_does_not_hold_its_file_open(path):
    again = load(path)
    with h5py.File(path, "r+"):  # HDF5 refuses to write what is open for reading
        assert again["posterior"]["beta"].shape == (2, 60)


def test_a_file_without_a_posterior_is_a_typed_error(tmp_path):
    path = tmp_path / "posterior.nc"
    with pytest.raises(ModelError, match=r"posterior\.nc: no such file"):
        load(path)
    path.write_bytes(b"no posterior")
    with pytest.raises(ModelError, match=r"posterior\.nc: no posterior in this file"):
        load(path)


def test_a_compiled_model_takes_other_outcomes(compiled, tree, arrays):
    mirrored = 1 - arrays.outcome  # whoever won now loses
    other = compiled.sample(sampler=SAMPLER, seed=11, cores=1, outcomes=mirrored)
    np.testing.assert_array_equal(other["observed_data"]["outcome"], mirrored)
    mean, mirror = (
        t["posterior"]["theta"].mean(("chain", "draw")).values.ravel() for t in (tree, other)
    )
    assert np.corrcoef(mean, mirror)[0, 1] < -0.5
    # ... and its own are not lost: the same seed gives the same draws.
    again = compiled.sample(sampler=SAMPLER, seed=11, cores=1)
    for name in ("beta", "theta", "phi"):
        np.testing.assert_array_equal(again["posterior"][name], tree["posterior"][name])


def test_a_posterior_that_was_cut_short_is_a_typed_error(path, tmp_path):
    short = tmp_path / "posterior.nc"
    short.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ModelError, match=r"posterior\.nc: cannot be read: .*cut short"):
        load(short)


def test_a_file_of_another_program_is_a_typed_error(tmp_path):
    other = tmp_path / "posterior.nc"
    xr.DataTree.from_dict({"posterior": xr.Dataset({"mu": ("x", [1.0])})}).to_netcdf(
        other, engine="h5netcdf"
    )
    with pytest.raises(ModelError, match=r"no variable 'theta' in group 'posterior'; give the"):
        load(other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda draws: draws.rename(judge="model"), "no variable 'judge' in group 'posterior'"),
        (lambda draws: draws.isel(chain=0), "has the dims draw, not chain, draw"),
        (lambda draws: draws.isel(draw=slice(0)), "no draws of 'theta'"),
        (lambda draws: draws.transpose("draw", "chain", ...), "not chain, draw"),
        (lambda draws: draws.where(draws["draw"] > 0), "a draw of '"),
    ],
)
def test_draws_along_other_dims_or_none_are_one_line(change, message, path, tmp_path, refused):
    changed = load(path)
    changed["posterior"] = change(changed["posterior"].to_dataset())
    save(changed, tmp_path / "posterior.nc")
    assert message in refused("summary", tmp_path / "posterior.nc")


@pytest.mark.parametrize(
    ("group", "change", "message"),
    [
        ("observed_data", lambda data: data.isel(judgment=slice(0)), "no judgments"),
        ("observed_data", lambda data: data.assign(judge_idx=data["judge_idx"] + 9), "'judge_idx'"),
        ("observed_data", lambda data: data.assign(outcome=data["outcome"] + 3), "'outcome' leads"),
        ("constant_data", lambda data: data.isel(composite=slice(1)), "1 along 'composite' in"),
        ("constant_data", lambda data: data.assign(a_idx=data["a_idx"] + 999), "'a_idx' leads"),
        ("sample_stats", lambda stats: stats.drop_vars("energy"), "no variable 'energy'"),
    ],
)
def test_groups_that_do_not_go_together_are_one_line(
    group, change, message, path, tmp_path, refused
):
    changed = load(path)
    changed[group] = change(changed[group].to_dataset())
    save(changed, tmp_path / "posterior.nc")
    assert message in refused("check", tmp_path / "posterior.nc")


@pytest.mark.parametrize("command", ["check", "compare", "summary"])
def test_a_posterior_of_an_older_version_is_one_line(command, path, tmp_path, refused):
    older = tmp_path / "older.nc"
    tree = load(path)
    del tree["constant_data"]
    save(tree, older)
    shown = refused(command, older, *[path] * (command == "compare"))
    assert "no group 'constant_data'; give" in shown
    assert command == "compare" or shown.startswith(f"error: {tmp_path}")


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        (lambda outcome: outcome[1:], "one of each judgment"),
        (lambda outcome: np.where(np.arange(len(outcome)) == 3, 2, outcome), "outcome 2 has no"),
        (lambda outcome: np.where(np.arange(len(outcome)) == 3, -2, outcome), "judgment 3: out"),
    ],
)
def test_outcomes_that_do_not_fit_the_model_are_an_error(outcomes, message, compiled, arrays):
    with pytest.raises(ModelError, match=message):
        compiled.values(outcomes(arrays.outcome))


def test_other_numbers_in_the_priors_need_no_other_model(compiled, arrays, project):
    priors = load_priors(project / "config/priors/skeptical.yaml")
    draws = compiled.under(priors).sample(sampler=SAMPLER, seed=12, cores=1)["posterior"]
    alone = compile_model(arrays, rule=get_rule("compressed"), priors=priors)
    want = alone.sample(sampler=SAMPLER, seed=12, cores=1)["posterior"]
    # Beta is 1 with a prior sd of 0.05 there, and what little one judge tells moves it hardly.
    for posterior in (draws, want):
        assert float(posterior["beta"].std()) < 0.08
    assert compiled.sample(sampler=SAMPLER, seed=12, cores=1)["posterior"]["beta"].std() > 0.1
    with pytest.raises(ModelError, match="heavy-tailed has other distributions than default"):
        compiled.under(load_priors(project / "config/priors/heavy-tailed.yaml"))
