"""Anthropic's batch interface: one request of all questions, one file of answers in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote

from moralscale.providers.base import Ask, Response
from moralscale.providers.batch import (
    PATIENCE,
    BatchInterface,
    BatchResult,
    BatchState,
    encoded,
)

#: Seconds that the provider's clock may be behind ours.
CLOCKS = 3600.0


class AnthropicBatches(BatchInterface):
    """Anthropic's batch interface: one request holds all questions, one file all results."""

    most_requests = 100_000
    most_bytes = 240_000_000
    #: HTTP statuses of errors that come without one.
    statuses: ClassVar[Mapping[str, int]] = {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "timeout_error": 504,
        "overloaded_error": 529,
    }

    def line(self, custom_id: str, ask: Ask, settings: Mapping[str, Any]) -> bytes:
        """Encode one question as an element of a list."""
        return encoded({"custom_id": custom_id, "params": self.provider.body(ask, settings)})

    async def submit(self, nonce: str, lines: Sequence[bytes]) -> str:
        """Hand in all questions in one request."""
        content = b'{"requests":[' + b",".join(line.rstrip() for line in lines) + b"]}"
        sent = {"content": content, "patience": PATIENCE}
        made = await self.call("POST", "/messages/batches", "application/json", **sent)
        return self.id_of(made)

    async def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come."""
        path = f"/messages/batches/{quote(batch_id, safe='')}"
        ended = (await self.call("GET", path)).get("processing_status") == "ended"
        # The address that the response names is not used: it could be another host's.
        return BatchState(ended, (f"{path}/results",) if ended else ())

    async def find(self, nonce: str, count: int, since: float) -> tuple[str, ...]:
        """Return the batches of this size since then; the ids of results tell whose they are."""
        listed = (await self.call("GET", "/messages/batches?limit=100")).get("data")
        return tuple(
            self.id_of(batch)
            for batch in listed or ()
            if isinstance(batch, dict) and _size(batch) == count and _made(batch) > since - CLOCKS
        )

    def result(self, record: Mapping[str, Any]) -> BatchResult:
        """Read one line of results."""
        result = record.get("result")
        result = result if isinstance(result, dict) else {}
        kind, error = result.get("type"), result.get("error")
        if kind == "succeeded":
            return BatchResult(record["custom_id"], Response(200, "", result.get("message")))
        if kind != "errored" or not isinstance(error, dict):
            return BatchResult(record["custom_id"], left=str(kind or "no result"))
        inner = error.get("error")
        word = inner.get("type") if isinstance(inner, dict) else None
        told = Response(
            self.statuses.get(str(word), 500), str(error.get("request_id") or ""), error
        )
        return BatchResult(record["custom_id"], told)


def _size(batch: Mapping[str, Any]) -> int:
    counts = batch.get("request_counts")
    values = counts.values() if isinstance(counts, dict) else ()
    return sum(value for value in values if isinstance(value, int))


def _made(batch: Mapping[str, Any]) -> float:
    """When a batch was made, Unix time; 0 where it does not say."""
    try:
        return datetime.fromisoformat(str(batch.get("created_at"))).timestamp()
    except ValueError:
        return 0.0
