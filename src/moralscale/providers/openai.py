"""Judges behind OpenAI's chat completions protocol, OpenAI's own and everybody else's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moralscale.providers.base import Ask
from moralscale.providers.wire import Answer, WireProvider


class ChatCompletions(WireProvider):
    """Provider for the chat completions protocol; see `WireProvider`."""

    def path(self) -> str:
        """Return where questions are put."""
        return "/chat/completions"

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the bearer header; none for a server that needs no key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: Ask, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Turn a question into the body of a request."""
        system = [{"role": "system", "content": ask.system}] if ask.system else []
        messages = [*system, {"role": "user", "content": ask.user}]
        return {"model": self.model, "messages": messages, **settings}

    def answer(self, body: Mapping[str, Any]) -> Answer | None:
        """Read the first choice."""
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return None
        message = choice.get("message")
        message = message if isinstance(message, dict) else {}
        if message.get("refusal"):
            return Answer(str(message["refusal"]), stop="refusal")
        return Answer(_text(message.get("content")), str(choice.get("finish_reason") or ""))


def _text(content: Any) -> str:
    """Join the text of a message that may be null, a string or a list of chunks."""
    if isinstance(content, str):
        return content
    chunks = (
        [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    )
    return "".join(str(c.get("text") or "") for c in chunks if c.get("type", "text") == "text")
