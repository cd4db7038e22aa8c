"""OpenAI's batch interface: a file of questions, and two of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from moralscale.providers.base import Ask, Response
from moralscale.providers.batch import (
    PATIENCE,
    BatchInterface,
    BatchResult,
    BatchState,
    encoded,
)


class OpenAIBatches(BatchInterface):
    """OpenAI's batch interface: files of lines, successes and errors apart."""

    most_requests = 50_000
    most_bytes = 190_000_000

    def line(self, custom_id: str, ask: Ask, settings: Mapping[str, Any]) -> bytes:
        """Encode one question as a line."""
        body = self.provider.body(ask, settings)
        url = f"/v1{self.provider.path()}"
        return encoded({"custom_id": custom_id, "method": "POST", "url": url, "body": body})

    async def submit(self, nonce: str, lines: Sequence[bytes]) -> str:
        """Upload a file and make a batch of it."""
        file = (f"{nonce}.jsonl", b"".join(lines), "application/jsonl")
        form: dict[str, Any] = {
            "files": {"file": file},
            "data": {"purpose": "batch"},
            "patience": PATIENCE,
        }
        uploaded = self.id_of(await self.call("POST", "/files", **form))
        body = {
            "input_file_id": uploaded,
            "endpoint": f"/v1{self.provider.path()}",
            "completion_window": "24h",
            "metadata": {"nonce": nonce},
        }
        return self.id_of(await self.call("POST", "/batches", json=body))

    async def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come."""
        body = await self.call("GET", f"/batches/{quote(batch_id, safe='')}")
        status = str(body.get("status"))
        names = (body.get("output_file_id"), body.get("error_file_id"))
        files = tuple(f"/files/{quote(name, safe='')}/content" for name in names if name)
        ended = status in ("completed", "failed", "expired", "cancelled")
        failure = _errors(body) or "no reason given" if status == "failed" else ""
        return BatchState(ended, files if ended else (), failure)

    async def find(self, nonce: str, count: int, since: float) -> tuple[str, ...]:
        """Return the batch that bears the nonce."""
        listed = (await self.call("GET", "/batches?limit=100")).get("data")
        found = [b for b in listed or () if isinstance(b, dict) and _nonce(b) == nonce]
        return tuple(self.id_of(batch) for batch in found)

    def result(self, record: Mapping[str, Any]) -> BatchResult:
        """Read one line of either file."""
        response, error = record.get("response"), record.get("error")
        if isinstance(response, dict) and isinstance(response.get("status_code"), int):
            told = str(response.get("request_id") or "")
            came = Response(response["status_code"], told, response.get("body"))
            return BatchResult(record["custom_id"], came)
        code = error.get("code") if isinstance(error, dict) else None
        return BatchResult(record["custom_id"], left=str(code or "no response"))


def _nonce(batch: Mapping[str, Any]) -> str:
    metadata = batch.get("metadata")
    return str(metadata.get("nonce")) if isinstance(metadata, dict) else ""


def _errors(batch: Mapping[str, Any]) -> str:
    errors = batch.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    found = [each for each in listed or () if isinstance(each, dict)]
    return "; ".join(f"{each.get('code')}: {each.get('message')}" for each in found[:3])
