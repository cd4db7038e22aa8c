"""One attempt to get an answer, as the journal keeps it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from moralscale.errors import ProviderError
from moralscale.providers.base import (
    Ask,
    Provider,
    Response,
    WirePermanentError,
    WireReply,
    WireTransientError,
)
from moralscale.records import Reply


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to get an answer.

    Attributes
    ----------
    key : str
        What the answer depends on, as 64 hex digits (`providers.base.key_of`).
    budget : int
        Factor on the length of the answer that was allowed: 1, or more after a truncated answer.
    again : bool
        Whether the answer was truncated and is to be asked once more with a larger budget.
    stop, text : str
        As in `Reply`; `stop` is empty where no answer came.
    error, message : str
        Class and text of the error; empty where an answer came.
    status : int
        HTTP status; 0 where there was none.
    latency : float
        Seconds from question to answer.
    usage : tuple of int
        Input, output and reasoning tokens.
    requested, effective : dict
        Settings that were sent, and those that the provider says it used.
    raw : object
        The response as it came.
    """

    key: str
    comparison_id: str
    time: str
    budget: int
    provider: str
    model: str
    endpoint: str
    template: str
    labels: tuple[str, ...]
    contestants: tuple[str, ...]
    repeat: int
    system: str
    user: str
    requested: dict[str, Any]
    latency: float
    again: bool = False
    stop: str = ""
    text: str = ""
    error: str = ""
    message: str = ""
    status: int = 0
    request_id: str = ""
    usage: tuple[int, int, int] = (0, 0, 0)
    answered_by: str = ""
    effective: dict[str, Any] = field(default_factory=dict)
    raw: Any = None

    def line(self) -> bytes:
        """Return the attempt as one line of JSON, in ASCII, so that no text can break a line."""
        record = {name: getattr(self, name) for name in _FIELDS}
        return _ENCODER.encode(record).encode("ascii") + b"\n"


_ENCODER = json.JSONEncoder(separators=(",", ":"))
_FIELDS = tuple(each.name for each in fields(Attempt))


class AttemptUnderWay:
    """An attempt under way: what is known before the answer comes."""

    def __init__(
        self, provider: Provider, ask: Ask, key: str, budget: int, settings: dict[str, Any]
    ) -> None:
        self._started = time.perf_counter()
        self._known: dict[str, Any] = {
            "key": key,
            "comparison_id": ask.comparison_id,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "budget": budget,
            "provider": provider.name,
            "model": provider.model,
            "endpoint": provider.endpoint,
            "template": ask.template,
            "labels": ask.labels,
            "contestants": ask.contestants,
            "repeat": ask.repeat,
            "system": ask.system,
            "user": ask.user,
            "requested": settings,
        }

    def answered(self, reply: Reply, *, again: bool) -> Attempt:
        """Complete the attempt with an answer."""
        return self._attempt(
            again=again,
            stop=reply.stop,
            text=reply.text,
            status=reply.status if isinstance(reply, WireReply) else 0,
            request_id=reply.request_id,
            usage=(reply.usage.input, reply.usage.output, reply.usage.reasoning),
            answered_by=reply.model,
            effective=reply.settings,
            raw=reply.raw,
        )

    def failed(self, error: ProviderError) -> Attempt:
        """Complete the attempt with an error."""
        response = Response()
        if isinstance(error, (WireTransientError, WirePermanentError)):
            response = error.response
        return self._attempt(
            error=type(error).__name__,
            message=str(error),
            status=response.status,
            request_id=response.request_id,
            raw=response.body,
        )

    def _attempt(self, **found: Any) -> Attempt:
        latency = round(time.perf_counter() - self._started, 6)
        return Attempt(**self._known, latency=latency, **found)
