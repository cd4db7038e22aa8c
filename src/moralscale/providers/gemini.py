"""Judges behind Gemini's generateContent protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from moralscale.providers.base import Ask
from moralscale.providers.wire import Answer, WireProvider, value_at


class GenerateContent(WireProvider):
    """Provider for the generateContent protocol; see `WireProvider`."""

    def path(self) -> str:
        """Return where questions are put."""
        return f"/models/{quote(self.model, safe='')}:generateContent"

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the key in a header: in the address it would leak through error texts."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, ask: Ask, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Turn a question into the body of a request."""
        system = {"systemInstruction": {"parts": [{"text": ask.system}]}} if ask.system else {}
        contents = [{"role": "user", "parts": [{"text": ask.user}]}]
        return {**system, "contents": contents, **settings}

    def answer(self, body: Mapping[str, Any]) -> Answer | None:
        """Join the parts of the first candidate; thoughts are left out."""
        candidates = body.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        blocked = value_at(body, "promptFeedback.blockReason")
        if not isinstance(candidate, dict):
            return Answer(str(blocked), stop="blocked") if blocked else None
        parts = value_at(candidate, "content.parts")
        parts = [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
        text = "".join(str(p.get("text") or "") for p in parts if p.get("thought") is not True)
        return Answer(text, str(candidate.get("finishReason") or ""))
