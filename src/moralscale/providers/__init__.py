"""Backends of judges, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from moralscale.config import Judge
from moralscale.errors import ConfigError, suggestion
from moralscale.providers.anthropic import Messages
from moralscale.providers.base import Provider
from moralscale.providers.gemini import GenerateContent
from moralscale.providers.local import Local
from moralscale.providers.openai import ChatCompletions
from moralscale.providers.quirks import QUIRKS

#: Makes a provider of a judge's name and description.
Factory = Callable[[str, Judge], Provider]

#: Whoever has quirks and no protocol of its own speaks chat completions.
REGISTRY: Mapping[str, Factory] = MappingProxyType(
    {
        **dict.fromkeys(QUIRKS, ChatCompletions),
        "anthropic": Messages,
        "gemini": GenerateContent,
        "local": Local,
    }
)


def make_provider(
    judge_name: str, judge: Judge, registry: Mapping[str, Factory] = REGISTRY
) -> Provider:
    """Make the provider of a real judge.

    Nothing is opened and no key is read until the provider is entered.

    Raises
    ------
    ConfigError
        The provider is unknown, or the judge's description does not suit it.
    """
    if judge.provider not in registry:
        what, mend = f"unknown provider '{judge.provider}'", suggestion(judge.provider, registry)
        raise ConfigError(what, where=f"judge {judge_name}, provider", mend=mend)
    return registry[judge.provider](judge_name, judge)
