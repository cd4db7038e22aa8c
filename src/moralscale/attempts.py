"""One attempt to get an answer, as the journal keeps it."""

from __future__ import annotations

import json
import re
import time
import zlib
from binascii import unhexlify
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from moralscale.errors import ProviderError
from moralscale.providers.base import (
    Ask,
    Provider,
    Response,
    WirePermanentError,
    WireReply,
    WireTransientError,
    token_count,
)
from moralscale.records import Reply
from moralscale.standings import Standing

#: How a question is sent that is a request of its own.
LIVE = "live"


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
    transport : str
        How the question was sent: as a request of its own, or in a batch.
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
    transport: str = LIVE
    answered_by: str = ""
    effective: dict[str, Any] = field(default_factory=dict)
    raw: Any = None

    def line(self) -> bytes:
        """Return the attempt as one line of JSON, in ASCII, so that no text can break a line.

        It begins with what is needed to go on (`Head`) and ends with a checksum of all before it.
        """
        return encoded({name: getattr(self, name) for name in _NAMES})

    def head(self) -> Head:
        """Return the head of its line."""
        standing = Standing(self.budget, self.again)
        return Head(not self.error, standing, self.usage, self.transport, self.model)


class Head(NamedTuple):
    """What a run needs to know of an attempt in order to go on.

    Attributes
    ----------
    answered : bool
        Whether an answer came; errors are no answers.
    standing : Standing
        How far the answer has come.
    usage, transport, model
        As in `Attempt`.
    """

    answered: bool
    standing: Standing
    usage: tuple[int, int, int]
    transport: str
    model: str


def short_key(key: str) -> bytes:
    """Return the first 128 bits of a key."""
    return bytes.fromhex(key[:32])


def encoded(record: dict[str, Any]) -> bytes:
    """Encode a record, in the order of its keys, as a line of a journal with its checksum."""
    body = _ENCODER.encode(record).encode("ascii")[:-1]
    return body + _CRC % zlib.crc32(body)


def decoded(line: bytes) -> dict[str, Any] | None:
    """Decode a line of a journal; None where it is none."""
    try:
        record = json.loads(line)
        return record if _REQUIRED <= record.keys() and _whole_head(record) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def read_head(line: bytes) -> tuple[bytes, Head] | None:
    """Read key (`short_key`) and head of a line without decoding the rest; None if damaged.

    The checksum stands for the rest. A line without one, or with another, is decoded as a whole.
    """
    if line.startswith(_KEY) and line.endswith(_CRC % zlib.crc32(memoryview(line)[:-_TAIL])):
        head = _head(line[_KEY_END : line.find(_NEXT, _KEY_END)])
        if head is not None:
            return unhexlify(line[len(_KEY) : len(_KEY) + 32]), head
    record = decoded(line)
    return None if record is None else _whole_head(record)


def _whole_head(record: dict[str, Any]) -> tuple[bytes, Head]:
    """Take key and head of a decoded line."""
    key = short_key(record["key"])
    first, second, third = map(token_count, record["usage"])
    if len(key) != 16:
        raise ValueError("the key is too short")
    standing = Standing(int(record["budget"]), bool(record["again"]))
    transport, model = str(record.get("transport", LIVE)), str(record["model"])
    return key, Head(not record["error"], standing, (first, second, third), transport, model)


# Few heads differ but in their keys.
@lru_cache(maxsize=8192)
def _head(text: bytes) -> Head | None:
    found = _HEAD.fullmatch(text)
    if found is None:
        return None
    error, budget, again, *usage, transport, model = found.groups()
    first, second, third = map(int, usage)
    standing = Standing(int(budget), again == b"true")
    return Head(not error, standing, (first, second, third), transport.decode(), json.loads(model))


_ENCODER = json.JSONEncoder(separators=(",", ":"))
_FIRST = ("key", "error", "budget", "again", "usage", "transport", "model", "comparison_id")
_NAMES = _FIRST + tuple(each.name for each in fields(Attempt) if each.name not in _FIRST)
_REQUIRED = frozenset({*_FIRST, "stop", "text", "labels"} - {"transport"})
_KEY, _NEXT = b'{"key":"', b',"comparison_id":'
_KEY_END = len(_KEY) + 64
_HEAD = re.compile(
    rb'","error":"(\w*)","budget":(\d{1,4}),"again":(true|false),'
    rb'"usage":\[(\d{1,10}),(\d{1,10}),(\d{1,10})\],"transport":"(\w*)",'
    rb'"model":("(?:[^"\\]|\\.)*")'
)
_CRC = b',"crc":"%08x"}\n'
_TAIL = len(_CRC % 0)


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
