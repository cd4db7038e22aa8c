"""Prior files: what they say, and how they fail."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytest
import yaml

from moralscale.errors import ConfigError
from moralscale.priors import DEFAULTS, PARAMETERS, REQUIRED, load_priors


@pytest.fixture(scope="module")
def default_file(project):
    return project / "config/priors/default.yaml"


@pytest.fixture
def changed(default_file, tmp_path):
    """Write the default priors with some keys changed or (None) left out; return the path."""

    def write(**changes):
        data = yaml.safe_load(default_file.read_text()) | changes
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({k: v for k, v in data.items() if v is not None}))
        return path

    return write


def test_every_parameter_has_the_prior_that_the_file_says(default_file):
    priors = load_priors(default_file)
    data = yaml.safe_load(default_file.read_text())
    assert priors.name == "default"
    assert tuple(priors) == PARAMETERS
    assert set(data) == set(REQUIRED)
    for name, prior in priors.items():
        said = DEFAULTS.get(name) or data[name]
        assert prior.distribution == said["dist"]
        assert prior.parameters == said["kwargs"]


@pytest.mark.parametrize("name", ["omega", "tie_log_sd"])
def test_a_file_may_change_the_default_priors_of_rules_and_options(name, changed):
    mine = {"dist": "Exponential", "kwargs": {"lam": 7.0}}
    assert load_priors(changed()).to_dict()[name] == DEFAULTS[name]
    assert load_priors(changed(**{name: mine})).to_dict()[name] == mine


def test_to_dict_round_trips_through_yaml(default_file, tmp_path):
    priors = load_priors(default_file)
    path = tmp_path / "again.yaml"
    path.write_text(yaml.safe_dump(priors.to_dict()))
    again = load_priors(path)
    assert again.name == "again"
    data = yaml.safe_load(default_file.read_text())
    assert again.to_dict() == priors.to_dict() == DEFAULTS | data


def test_a_prior_has_the_density_of_its_distribution(default_file):
    prior = load_priors(default_file)["scene_sd"]
    with pm.Model():
        logp = pm.logp(prior.create_variable("scene_sd"), np.array(0.3))
    # Gamma(2, 5): density 25 x exp(-5 x).
    assert logp.eval(mode="FAST_COMPILE") == pytest.approx(np.log(25 * 0.3) - 1.5, abs=1e-12)


@pytest.mark.parametrize("name", ["beta", "alpha_sd", "bridge_consistency"])
def test_a_missing_parameter_is_named(name, changed):
    path = changed(**{name: None})
    with pytest.raises(ConfigError) as error:
        load_priors(path)
    assert str(error.value) == f"{path}: no prior for '{name}'; add it"


def test_a_misspelt_parameter_gets_the_nearest_one(changed):
    path = changed(beta_ds={"dist": "Gamma", "kwargs": {"alpha": 2, "beta": 3}}, beta_sd=None)
    with pytest.raises(ConfigError) as error:
        load_priors(path)
    assert str(error.value) == f"{path}: unknown parameter 'beta_ds'; did you mean 'beta_sd'?"


def test_a_key_that_is_no_text_is_unknown(changed):
    path = changed()
    path.write_text(path.read_text() + "1: {dist: Normal, kwargs: {mu: 0, sigma: 1}}\n")
    with pytest.raises(ConfigError, match="unknown parameter '1'"):
        load_priors(path)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (
            {"dist": "Nrmal", "kwargs": {"mu": 0}},
            "unknown distribution 'Nrmal'; did you mean 'Normal'?",
        ),
        ({"dist": "draw", "kwargs": {"mu": 0}}, "unknown distribution 'draw'; use one of"),
        (
            {"dist": "Normal", "kwargs": {"mu": 0, "sgima": 1}},
            "Normal has no argument 'sgima'; did you mean 'sigma'?",
        ),
        (
            {"dist": "Normal", "kwargs": {"mean": 0, "sigma": 1}},
            "Normal has no argument 'mean'; use one of mu, sigma, tau",
        ),
        ({"dist": "Gamma", "kwargs": {"alpha": 2}}, "alpha"),
        ({"dist": "Normal", "kwargs": {"mu": 0, "sigma": -1}}, "sigma > 0"),
        ({"dist": "Normal", "kwargs": {"mu": 0, "sigma": 0}}, "sigma > 0"),
        ({"dist": "Normal", "kwargs": {"mu": "a", "sigma": 1}}, "kwargs.mu: 'a' is not a number"),
        ({"dist": "Normal", "kwargs": {"mu": True, "sigma": 1}}, "'True' is not a number"),
        ({"dist": "Normal", "kwargs": {"mu": float("nan"), "sigma": 1}}, "'nan' is not a number"),
        ({"dist": "Normal", "kwargs": {"mu": 10**400, "sigma": 1}}, "...' is not a number"),
        ({"dist": "Normal", "kwargs": {"mu": "1e-3", "sigma": 1}}, "write one such as 0.5 or 1.0e"),
        ({"dist": "CustomDist", "kwargs": {}}, "CustomDist"),
        ({"dist": "Poisson", "kwargs": {"mu": 3}}, "no density over the real numbers"),
        ({"dist": "PolyaGamma", "kwargs": {"h": 1, "z": 0}}, "polyagamma"),
        ({"dist": "Normal", "kwargs": [0, 1]}, "not a distribution; write"),
        ({"dist": ["Normal"], "kwargs": {"mu": 0}}, "not a distribution; write"),
        ({"dist": "Normal"}, "not a distribution; write"),
        (
            {"dist": "Normal", "kwargs": {"mu": 0, "sigma": 1}, "dims": "judge"},
            "not a distribution",
        ),
        (3, "not a distribution; write"),
    ],
)
def test_a_wrong_prior_is_one_line_with_file_and_key(prior, message, changed):
    path = changed(beta=prior)
    with pytest.raises(ConfigError) as error:
        load_priors(path)
    text = str(error.value)
    assert text.startswith(f"{path}, beta")
    assert message in text
    assert "\n" not in text


@pytest.mark.parametrize("name", ["beta_sd", "scene_sd", "composite_consistency"])
@pytest.mark.parametrize(
    "prior",
    [
        {"dist": "Normal", "kwargs": {"mu": 0, "sigma": 1}},
        {"dist": "Uniform", "kwargs": {"lower": -1, "upper": -0.5}},
        {"dist": "TruncatedNormal", "kwargs": {"mu": 1, "sigma": 1, "lower": -1.0e-7}},
    ],
)
def test_a_scale_that_could_be_negative_is_an_error(prior, name, changed):
    path = changed(**{name: prior})
    with pytest.raises(ConfigError, match=f"{name}: a scale cannot be negative; .*HalfNormal"):
        load_priors(path)


@pytest.mark.parametrize(
    "prior",
    [
        {"dist": "HalfNormal", "kwargs": {"sigma": 0.3}},
        {"dist": "Exponential", "kwargs": {"lam": 3.0}},
        {"dist": "Uniform", "kwargs": {"lower": 0, "upper": 2}},
    ],
)
def test_other_positive_scales_are_fine(prior, changed):
    assert load_priors(changed(beta_sd=prior)).to_dict()["beta_sd"] == prior


def test_a_missing_file_is_a_config_error(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: file not found"):
        load_priors(tmp_path / "none.yaml")
