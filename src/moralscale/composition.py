"""Composition rules: how the strength of a composite follows from its two components.

A rule is one function and one line in `RULES`. It sees the two component strengths and its own
parameters, each of which the model makes hierarchical over judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from moralscale.errors import ConfigError, suggestion


@dataclass(frozen=True)
class Rule:
    """A composition rule.

    Attributes
    ----------
    name : str
        Name in configuration and paths.
    parameters : tuple of str
        Parameters with a value for every judge; each needs priors ``name`` and ``name_sd``.
    compose : callable
        ``compose(x, y, parameters)``: component strengths (judge, composite) and parameters
        (judge, 1), by name, to composite strengths (judge, composite); log-odds. It must be smooth.
    meaning : str
        One sentence for tables.
    """

    name: str
    parameters: tuple[str, ...]
    compose: Callable[[Any, Any, Mapping[str, Any]], Any]
    meaning: str


def _additive(x: Any, y: Any, parameters: Mapping[str, Any]) -> Any:
    return x + y


def _compressed(x: Any, y: Any, parameters: Mapping[str, Any]) -> Any:
    return parameters["beta"] * (x + y)


RULES = {
    rule.name: rule
    for rule in (
        Rule("additive", (), _additive, "Components add: beta is 1."),
        Rule("compressed", ("beta",), _compressed, "A share beta of the sum: the study's rule."),
    )
}


def get_rule(name: str, *, where: str = "") -> Rule:
    """Look a rule up by name.

    Raises
    ------
    ConfigError
        There is no such rule.
    """
    if name not in RULES:
        raise ConfigError(
            f"unknown composition rule '{name}'", where=where, mend=suggestion(name, RULES)
        )
    return RULES[name]
