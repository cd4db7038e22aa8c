"""Composition rules."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytensor.tensor as pt
import pytest

from moralscale.composition import RULES, SMOOTHING, get_rule
from moralscale.errors import ConfigError
from moralscale.priors import PARAMETERS

X = np.array([[-1.0, 0.5, 2.0], [0.0, -0.3, 1.0]])  # (judge, composite)
Y = np.array([[0.4, -2.0, 1.0], [0.0, 0.7, -1.0]])
BETA = np.array([[0.5], [2.0]])
FAR_X, FAR_Y = np.array([[30.0, -30.0, 20.0]]), np.array([[10.0, 20.0, -50.0]])


def of_one(name, **parameters):
    """Compose components that are far from 0 and from being equally extreme."""
    values = {key: np.array([[value]]) for key, value in parameters.items()}
    return get_rule(name).compose(FAR_X, FAR_Y, values)


def test_the_seven_rules_of_the_documentation_are_there():
    assert set(RULES) >= {
        *("additive", "compressed", "averaging", "anchored", "valence", "dominant", "saturating"),
    }


def test_additive_adds():
    np.testing.assert_allclose(
        get_rule("additive").compose(X, Y, {}), [[-0.6, -1.5, 3.0], [0.0, 0.4, 0.0]]
    )
    assert not get_rule("additive").parameters


def test_averaging_halves():
    np.testing.assert_allclose(get_rule("averaging").compose(X, Y, {}), (X + Y) / 2)


def test_compressed_takes_each_judges_own_share_of_the_sum():
    np.testing.assert_allclose(
        get_rule("compressed").compose(X, Y, {"beta": BETA}), [[-0.3, -0.75, 1.5], [0.0, 0.8, 0.0]]
    )


def test_anchored_weighs_the_more_extreme_component_more():
    want = 0.5 * (1.2 * np.array([[30, -30, -50]]) + 0.8 * np.array([[10, 20, 20]]))
    np.testing.assert_allclose(of_one("anchored", beta=0.5, omega=0.2), want)
    np.testing.assert_allclose(of_one("anchored", beta=0.5, omega=0.0), 0.5 * (FAR_X + FAR_Y))


def test_dominant_counts_the_more_extreme_component_alone():
    np.testing.assert_allclose(of_one("dominant", beta=0.5), [[15, -15, -25]])


def test_valence_weighs_by_sign():
    want = [[2 * 40, 0.5 * -30 + 2 * 20, 2 * 20 + 0.5 * -50]]
    got = of_one("valence", beta_plus=2.0, beta_minus=0.5)
    # Signs are told apart within SMOOTHING of 0, at a cost of at most that much a component.
    np.testing.assert_allclose(got, want, atol=2 * SMOOTHING)
    np.testing.assert_allclose(
        of_one("valence", beta_plus=0.7, beta_minus=0.7), 0.7 * (FAR_X + FAR_Y)
    )


def test_saturating_adds_near_zero_and_never_passes_its_ceiling():
    parameters = {"beta": np.array([[0.8]]), "log_ceiling": np.array([[np.log(2.0)]])}
    rule = get_rule("saturating")
    np.testing.assert_allclose(rule.compose(1e-4 * X, 1e-4 * Y, parameters), 0.8e-4 * (X + Y))
    np.testing.assert_allclose(rule.compose(FAR_X, FAR_Y, parameters), [[2, -2, -2]], rtol=1e-3)


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_is_told_under_its_own_name_and_can_be_fitted(name):
    rule = get_rule(name)
    assert rule.name == name
    assert rule.meaning.endswith(".")
    for parameter in rule.parameters:
        assert {parameter, f"{parameter}_sd"} <= set(PARAMETERS)


@pytest.mark.parametrize("name", sorted(RULES))
def test_no_rule_cares_which_component_is_called_a(name):
    rule = get_rule(name)
    parameters = dict.fromkeys(rule.parameters, BETA)
    np.testing.assert_allclose(rule.compose(X, Y, parameters), rule.compose(Y, X, parameters))


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_is_the_same_in_a_model_and_in_numpy(name):
    rule = get_rule(name)
    parameters = dict.fromkeys(rule.parameters, BETA)
    graph = rule.compose(pt.constant(X), pt.constant(Y), parameters, pt)
    got = graph.eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(got, rule.compose(X, Y, parameters), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_is_smooth_where_cases_meet(name):
    """Slopes on both sides of x = 0 and of |x| = |y| agree."""
    rule = get_rule(name)
    parameters = {key: np.array([[0.7]]) for key in rule.parameters}
    for x, y in ((0.0, 0.8), (0.8, -0.8), (0.8, 0.8), (0.0, 0.0)):
        h = 1e-5
        at = [rule.compose(np.array([[x + d]]), np.array([[y]]), parameters) for d in (-h, 0, h)]
        left, right = (at[1] - at[0]) / h, (at[2] - at[1]) / h
        np.testing.assert_allclose(left, right, atol=1e-3)


def test_compression_by_one_is_addition():
    one = {"beta": np.ones((2, 1))}
    np.testing.assert_array_equal(
        get_rule("compressed").compose(X, Y, one), get_rule("additive").compose(X, Y, {})
    )


def test_an_unknown_rule_gets_the_nearest_one():
    with pytest.raises(ConfigError) as error:
        get_rule("compresse", where="mine.yaml, fits.rules")
    assert str(error.value) == (
        "mine.yaml, fits.rules: unknown composition rule 'compresse'; did you mean 'compressed'?"
    )


#: What a user would do with a rule of their own; it prints what follows from it.
USE = """
import sys
import pandas as pd
from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.model import REPORTED, build_model
from moralscale.priors import load_priors
from moralscale.projections import DEFINITIONS

rule = get_rule("interacting")
tables = [pd.read_pickle(f"{name}.pkl") for name in ("judgments", "scenes", "composites")]
model = build_model(make_arrays(*tables, data="study"), load_priors(sys.argv[1]), rule)
kept = [name for name in REPORTED if name in model.named_vars and name.startswith("interaction")]
point = model.initial_point()
density = model.compile_logp(mode="FAST_COMPILE", sum=False)(point)
assert all(abs(part).max() < 1e9 for part in map(abs, density))
print(rule.meaning, *kept, DEFINITIONS["interaction_sd"][1], sep="|")
"""


def test_a_rule_is_added_exactly_as_documented(
    project, tmp_path, few_judgments, tiny_scenes, few_composites
):
    copy = tmp_path / "src/moralscale"
    shutil.copytree(project / "src/moralscale", copy, ignore=shutil.ignore_patterns("__pycache__"))
    guide = (project / "docs/model.md").read_text("utf-8").split("### Adding a rule")[1]
    function = re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1]
    module = copy / "composition.py"
    before, after = module.read_text("utf-8").split("#: Rules by name")
    module.write_text(f"{before}{function}\n\n#: Rules by name{after}", "utf-8")
    for name, table in (
        ("judgments", few_judgments),
        ("scenes", tiny_scenes),
        ("composites", few_composites),
    ):
        table.to_pickle(tmp_path / f"{name}.pkl")
    done = subprocess.run(
        [sys.executable, "-c", USE, str(project / "config/priors/default.yaml")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().split("|") == [
        "Let the components amplify or dampen each other.",
        "interaction",
        "interaction_sd",
        "interaction_judge",
        "Spread between judges of the interaction of the components.",
    ]
