"""Judges behind Anthropic's messages protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moralscale.providers.base import Ask
from moralscale.providers.wire import Answer, WireProvider

VERSION = "2023-06-01"


class Messages(WireProvider):
    """Provider for the messages protocol; see `WireProvider`."""

    def path(self) -> str:
        """Return where questions are put."""
        return "/messages"

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the key in a header of its own, and the version of the protocol."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(self, ask: Ask, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Turn a question into the body of a request."""
        system = {"system": ask.system} if ask.system else {}
        messages = [{"role": "user", "content": ask.user}]
        return {"model": self.model, **system, "messages": messages, **settings}

    def answer(self, body: Mapping[str, Any]) -> Answer | None:
        """Join the blocks of text; those of thinking are left out."""
        blocks = body.get("content")
        if not isinstance(blocks, list) and not body.get("stop_reason"):
            return None
        found = blocks if isinstance(blocks, list) else []
        texts = [b for b in found if isinstance(b, dict) and b.get("type") == "text"]
        text = "".join(str(block.get("text") or "") for block in texts)
        return Answer(text, str(body.get("stop_reason") or ""))
