"""What can differ between providers: addresses, names of settings, stop reasons, blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, Any] = MappingProxyType({})
#: The stop reason, in our words, of an answer that broke off through a fault of the server.
BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class BlockSign:
    """What shows that policy, not a fault, kept an answer back.

    Attributes
    ----------
    status : int
        HTTP status of such a response.
    codes : frozenset of str
        Error codes or types, any of which is enough.
    words : tuple of str
        Words of the message, in lower case, any of which is enough.
    metadata : str
        Key of the error's metadata whose presence is enough.
    """

    status: int
    codes: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class UsagePlaces:
    """Where a response counts its tokens: dotted paths, those of a tuple to be summed."""

    input: tuple[str, ...] = ("usage.prompt_tokens",)
    output: tuple[str, ...] = ("usage.completion_tokens",)
    reasoning: tuple[str, ...] = ("usage.completion_tokens_details.reasoning_tokens",)
    total: str = "usage.total_tokens"


@dataclass(frozen=True, slots=True)
class Quirks:
    """How one provider differs.

    Attributes
    ----------
    base_url : str
        Its address; empty where the judge must give one.
    timeout : float
        Seconds until a request is given up, unless the judge says otherwise.
    names : mapping
        Its names of common settings; a dotted name is a place in a nested mapping.
    always : mapping
        What is sent with every request.
    required : tuple of str
        Common settings without which it refuses a request, or cuts answers in silence.
    forbidden : mapping
        Settings that must not be sent, by name or ``model pattern:name``, each with the reason.
    thinking_off : tuple of (str, mapping or None)
        What switches reasoning off, by pattern of the model; None where nothing does.
    stops : mapping
        Stop reasons in the words of `Reply.stop`, or `BROKEN`; any other is a plain stop.
    blocks : tuple of BlockSign
        Errors that are blocks by policy.
    quota : tuple of str
        Codes and words of a 429 that will not pass by waiting.
    limits : frozenset of (int, str)
        Statuses beside 429 that ask for fewer requests, each with the error's status or code
        (empty: any).
    effective : tuple of str
        Fields of a response that tell what was in effect, the model first.
    usage : UsagePlaces
        Where tokens are counted.
    """

    base_url: str = ""
    timeout: float = 60.0
    names: Mapping[str, str] = _NONE
    always: Mapping[str, Any] = _NONE
    required: tuple[str, ...] = ()
    forbidden: Mapping[str, str] = _NONE
    thinking_off: tuple[tuple[str, Mapping[str, Any] | None], ...] = ()
    stops: Mapping[str, str] = _NONE
    blocks: tuple[BlockSign, ...] = ()
    quota: tuple[str, ...] = ("insufficient_quota", "exceeded your current quota", "billing")
    limits: frozenset[tuple[int, str]] = frozenset()
    effective: tuple[str, ...] = ("model", "provider", "service_tier", "system_fingerprint")
    usage: UsagePlaces = field(default_factory=UsagePlaces)
