"""Backends of judges, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from moralscale.config import Judge
from moralscale.errors import ConfigError, suggestion
from moralscale.providers.anthropic import Messages
from moralscale.providers.anthropic_batch import AnthropicBatches
from moralscale.providers.base import Provider
from moralscale.providers.batch import BatchInterface
from moralscale.providers.gemini import GenerateContent
from moralscale.providers.known import QUIRKS
from moralscale.providers.local import Local
from moralscale.providers.openai import ChatCompletions
from moralscale.providers.openai_batch import OpenAIBatches
from moralscale.providers.wire import WireProvider

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

#: Batch interfaces by name of the provider.
BATCHES: Mapping[str, type[BatchInterface]] = MappingProxyType(
    {"openai": OpenAIBatches, "anthropic": AnthropicBatches}
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
    if judge.transport == "batch" and judge.provider not in BATCHES:
        what = f"no batch interface of {judge.provider} is known"
        mend = f"use `live`, or a judge of {' or '.join(BATCHES)}"
        raise ConfigError(what, where=f"judge {judge_name}, transport", mend=mend)
    return registry[judge.provider](judge_name, judge)


def batch_interface(provider: Provider) -> BatchInterface:
    """Return the batch interface of a provider that has one, on the same connections."""
    if not isinstance(provider, WireProvider):
        raise TypeError(f"{provider.name} has no batch interface")
    return BATCHES[provider.name](provider)
