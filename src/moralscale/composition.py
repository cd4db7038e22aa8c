"""Composition rules: how the strength of a composite follows from its two components.

A rule is one function here, and its name under `fits.rules` of the configuration. Every judge has
its own value of every parameter, around a mean of the panel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from moralscale.errors import ConfigError, suggestion
from moralscale.parameters import STRUCTURE, Parameter, RuleParameter, distribution

type Values = Mapping[str, Any]
type Compose = Callable[[Any, Any, Values, Any], Any]

#: Width, in log-odds (35 Elo), over which rules that tell the more extreme component or the sign
#: of a component go from one case to the other: a rule must have a derivative everywhere.
SMOOTHING = 0.2


@dataclass(frozen=True)
class Rule:
    """A composition rule.

    Attributes
    ----------
    name : str
        Name in configuration and paths.
    meaning : str
        One sentence for tables.
    parameters : mapping
        Parameters by name, each with a value for every judge.
    function : callable
        ``function(x, y, p, m)``: see `compose`.
    """

    name: str
    meaning: str
    parameters: Mapping[str, RuleParameter]
    function: Compose

    def compose(self, x: Any, y: Any, parameters: Mapping[str, Any], math: Any = np) -> Any:
        """Compose two components.

        Parameters
        ----------
        x, y : (judge, composite)
            Component strengths, log-odds.
        parameters : mapping
            Values (judge, 1), by name.
        math : module
            Where exp, tanh and sqrt come from: numpy, or PyTensor for a model.

        Returns
        -------
        (judge, composite)
            Strengths of the composites, but for the intercept and effects.
        """
        return self.function(x, y, parameters, math)


def rule(**parameters: RuleParameter) -> Callable[[Compose], Rule]:
    """Make a rule of a function: its name is the function's, its meaning the docstring.

    Parameters
    ----------
    **parameters : RuleParameter
        What the function reads from its third argument.
    """

    def decorate(function: Compose) -> Rule:
        meaning = (function.__doc__ or "").strip()
        return Rule(function.__name__, meaning, MappingProxyType(parameters), function)

    return decorate


# Every prior file gives beta's priors.
_SLOPE = RuleParameter("ratio", "Compression slope")


@rule()
def additive(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Add the components: beta is 1."""
    return x + y


@rule(beta=_SLOPE)
def compressed(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Take a share beta of the sum: the study's rule."""
    return p["beta"] * (x + y)


@rule()
def averaging(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Average the components: beta is 1/2."""
    return (x + y) / 2


@rule(
    beta=_SLOPE,
    omega=RuleParameter(
        "weight",
        "Extra weight of the more extreme component",
        distribution("Normal", mu=0, sigma=0.5),
        distribution("Gamma", alpha=2, beta=15),
    ),
)
def anchored(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Weigh the more extreme component 1 + omega, the other 1 - omega."""
    return p["beta"] * (x + y + p["omega"] * _lead(x, y, m))


@rule(
    beta_plus=RuleParameter(
        "ratio",
        "Slope on positive components",
        distribution("Normal", mu=1, sigma=0.5),
        distribution("Gamma", alpha=2, beta=20),
    ),
    beta_minus=RuleParameter(
        "ratio",
        "Slope on negative components",
        distribution("Normal", mu=1, sigma=0.5),
        distribution("Gamma", alpha=2, beta=20),
    ),
)
def valence(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Weigh positive components beta_plus, negative ones beta_minus."""
    size = _size(x, m) + _size(y, m)
    return (p["beta_plus"] * (x + y + size) + p["beta_minus"] * (x + y - size)) / 2


@rule(beta=_SLOPE)
def dominant(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Count the more extreme component alone."""
    return p["beta"] * (x + y + _lead(x, y, m)) / 2


@rule(
    beta=_SLOPE,
    log_ceiling=RuleParameter(
        "logarithm",
        "Logarithm of the ceiling in log-odds",
        distribution("Normal", mu=1.5, sigma=0.7),
        distribution("Gamma", alpha=2, beta=15),
    ),
)
def saturating(x: Any, y: Any, p: Values, m: Any) -> Any:
    """Count the sum less the larger it is, up to a ceiling."""
    ceiling = m.exp(p["log_ceiling"])
    return ceiling * m.tanh(p["beta"] * (x + y) / ceiling)


def _size(x: Any, m: Any) -> Any:
    """Absolute value, rounded off within `SMOOTHING` of 0."""
    return m.sqrt(x * x + SMOOTHING**2) - SMOOTHING


def _lead(x: Any, y: Any, m: Any) -> Any:
    """Subtract the other component from the more extreme one: 0 where they are equally extreme."""
    return m.tanh((_size(x, m) - _size(y, m)) / (2 * SMOOTHING)) * (x - y)


#: Rules by name: those that are defined above.
RULES = MappingProxyType({r.name: r for r in tuple(globals().values()) if isinstance(r, Rule)})


def get_rule(name: str, *, where: str = "") -> Rule:
    """Look a rule up by name.

    Raises
    ------
    ConfigError
        There is no such rule.

    Examples
    --------
    >>> rule = get_rule("compressed")
    >>> round(rule.compose(1.2, -0.4, {"beta": 0.862}), 4)
    0.6896
    """
    if name not in RULES:
        raise ConfigError(
            f"unknown composition rule '{name}'", where=where, mend=suggestion(name, RULES)
        )
    return RULES[name]


def _quantities() -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for each in RULES.values():
        for name, parameter in each.parameters.items():
            for key, quantity in parameter.quantities(name).items():
                if found.setdefault(key, quantity) != quantity or key in STRUCTURE:
                    raise ValueError(f"rule {each.name}: '{key}' means something else already")
    return found


#: Quantities of rules, by name.
RULE_QUANTITIES: Mapping[str, Parameter] = MappingProxyType(_quantities())
#: Every quantity of a model, by name: those of the rules, then those of the structure.
QUANTITIES: Mapping[str, Parameter] = MappingProxyType({**RULE_QUANTITIES, **STRUCTURE})
