"""Composition rules."""

from __future__ import annotations

import numpy as np
import pytest

from moralscale.composition import RULES, get_rule
from moralscale.errors import ConfigError
from moralscale.priors import PARAMETERS

X = np.array([[-1.0, 0.5, 2.0], [0.0, -0.3, 1.0]])  # (judge, composite)
Y = np.array([[0.4, -2.0, 1.0], [0.0, 0.7, -1.0]])
BETA = np.array([[0.5], [2.0]])


def test_additive_adds():
    np.testing.assert_allclose(
        get_rule("additive").compose(X, Y, {}), [[-0.6, -1.5, 3.0], [0.0, 0.4, 0.0]]
    )
    assert get_rule("additive").parameters == ()


def test_compressed_takes_each_judges_own_share_of_the_sum():
    np.testing.assert_allclose(
        get_rule("compressed").compose(X, Y, {"beta": BETA}), [[-0.3, -0.75, 1.5], [0.0, 0.8, 0.0]]
    )


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
