"""A judge's settings in the provider's own words, as they are sent and filed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any

from moralscale.config import Judge
from moralscale.errors import ConfigError
from moralscale.providers.base import BUDGETS
from moralscale.providers.quirks import Quirks

#: What a provider sets itself.
RESERVED = frozenset(
    {"model", "messages", "stream", "n", "system", "contents", "systemInstruction"}
)


def wire_settings(judge: Judge, quirks: Quirks, *, where: str) -> dict[str, Any]:
    """Put a judge's settings into the words of its provider.

    Returns
    -------
    dict
        What is sent beside model and prompt: what the provider needs with every request, the
        judge's settings under the provider's names, and what switches thinking off.

    Raises
    ------
    ConfigError
        A setting is reserved, must not be sent, is given twice under two names, is missing or is
        no length of an answer, or thinking cannot be switched off.
    """
    _check(judge, quirks, where)
    sent = deepcopy(dict(quirks.always))
    for name, value in judge.settings.items():
        _put(sent, quirks.names.get(name, name), value, where)
    for name, value in _thinking(judge, quirks, where).items():
        _put(sent, name, value, where)
    return sent


def _check(judge: Judge, quirks: Quirks, where: str) -> None:
    for name in sorted(judge.settings):
        if name in RESERVED:
            what = f"setting '{name}' is not a sampling setting"
            raise ConfigError(what, where=where, mend="remove it from `settings`")
    for name in BUDGETS:
        length = judge.settings.get(name, 1)
        if type(length) is not int or length < 1:
            what = f"setting '{name}' is {length!r}, not a number of tokens"
            raise ConfigError(what, where=where, mend="give a whole number from 1 up")
    for rule, reason in quirks.forbidden.items():
        pattern, _, name = rule.rpartition(":")
        if name in judge.settings and fnmatchcase(judge.model, pattern or "*"):
            what = f"setting '{name}' must not be sent to {judge.provider}: {reason}"
            raise ConfigError(what, where=where, mend="remove it from `settings`")
    for name in quirks.required:
        if name not in judge.settings:
            what = f"setting '{name}' is missing, which {judge.provider} needs"
            raise ConfigError(what, where=where, mend="add it to `settings`")


def _thinking(judge: Judge, quirks: Quirks, where: str) -> Mapping[str, Any]:
    if judge.thinking == "default":
        return {}
    for pattern, switch in quirks.thinking_off:
        if fnmatchcase(judge.model, pattern):
            if switch is None:
                break
            return switch
    what = f"nothing is known to switch the thinking of {judge.model} off at {judge.provider}"
    mend = "remove `thinking`, and bound it by `settings` if the provider can"
    raise ConfigError(what, where=where, mend=mend)


def _put(sent: dict[str, Any], name: str, value: Any, where: str) -> None:
    """Put a value at a place, which may be nested; a mapping is put value by value."""
    if isinstance(value, Mapping) and value and isinstance(sent.get(name), dict):
        for inner, each in value.items():
            _put(sent[name], inner, each, where)
        return
    step, _, rest = name.partition(".")
    if rest:
        inner = sent.setdefault(step, {})
        if isinstance(inner, dict):
            _put(inner, rest, value, where)
            return
    if name in sent:
        what = f"setting '{name}' is given twice, under two names or by `thinking`"
        raise ConfigError(what, where=where, mend="keep one of them")
    sent[name] = deepcopy(value)
