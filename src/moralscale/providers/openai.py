"""Judges behind any server that speaks OpenAI's chat completions protocol."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from moralscale.config import Judge
from moralscale.errors import ConfigError
from moralscale.providers.base import Ask, Response, WireReply, WireTransientError, token_count
from moralscale.providers.faults import fault, is_block, message_of
from moralscale.providers.http import HttpTransport, read_key
from moralscale.records import Usage

#: Finish reasons in the words of `Reply.stop`; any other counts as a plain stop.
STOPS = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "blocked",
    "sensitive": "blocked",
    "refusal": "refusal",
}
#: Finish reasons of answers that broke off through a fault of the server.
BROKEN = frozenset({"insufficient_system_resource", "network_error", "error"})
#: Fields of a response that tell what was in effect.
EFFECTIVE = ("model", "provider", "service_tier", "system_fingerprint")
#: What the provider sets itself.
RESERVED = frozenset({"model", "messages", "stream", "n"})


class OpenAI:
    """Provider for the chat completions protocol.

    Parameters
    ----------
    judge_name : str
        The judge, for error messages.
    judge : Judge
        Its description; `base_url` must be given.

    Raises
    ------
    ConfigError
        `base_url` is missing or not an address, or `settings` holds a reserved name.
    """

    name = "openai"

    def __init__(self, judge_name: str, judge: Judge) -> None:
        taken = sorted(RESERVED.intersection(judge.settings))
        if taken:
            what = f"setting '{taken[0]}' is not a sampling setting"
            raise ConfigError(what, where=f"judge {judge_name}", mend="remove it from `settings`")
        self.model = judge.model
        self.settings: Mapping[str, Any] = judge.settings
        self._where = f"judge {judge_name}"
        self._key_name = judge.api_key_env
        self._key = ""
        self._http = HttpTransport(judge.base_url, where=self._where, timeout=judge.timeout)
        self.endpoint = self._http.base_url

    async def __aenter__(self) -> Self:
        """Read the key and open connections.

        Raises
        ------
        PermanentError
            The environment variable that should hold the key does not.
        """
        self.open_with(read_key(self._key_name, where=self._where))
        return self

    def open_with(self, key: str) -> None:
        """Open connections with a key that comes from elsewhere than the environment."""
        self._key = key
        self._http.open(key)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close connections and forget the key."""
        self._key = ""
        await self._http.close()

    async def ask(self, ask: Ask, settings: Mapping[str, Any]) -> WireReply:
        """Put one question; see `Provider.ask`."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = request_body(ask, self.model, settings)
        response = await self._http.post("/chat/completions", body, headers)
        if is_block(response):
            return _reply(response, text=message_of(response.body), stop="blocked")
        if response.status != 200 or not _choice(response.body):
            raise fault(response, where=self._http.where, key_name=self._key_name)
        return read_reply(response, where=self._http.where)


def request_body(ask: Ask, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a question into the body of a request; settings are sent as they are."""
    system = [{"role": "system", "content": ask.system}] if ask.system else []
    messages = [*system, {"role": "user", "content": ask.user}]
    return {"model": model, "messages": messages, **settings}


def read_reply(response: Response, *, where: str) -> WireReply:
    """Read the answer out of a response that has at least one choice.

    Raises
    ------
    WireTransientError
        The server broke off in mid-answer.
    """
    choice = _choice(response.body)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish = str(choice.get("finish_reason") or "")
    if finish in BROKEN:
        what = f"the server broke off: {finish}"
        raise WireTransientError(what, where=where, response=response)
    if message.get("refusal"):
        return _reply(response, text=str(message["refusal"]), stop="refusal")
    stop = STOPS.get(finish, "stop")
    return _reply(response, text=_text(message.get("content")), stop=stop)


def _choice(body: Any) -> dict[str, Any]:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(content: Any) -> str:
    """Join the text of a message that may be null, a string or a list of chunks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    chunks = [chunk for chunk in content if isinstance(chunk, dict)]
    return "".join(str(c.get("text") or "") for c in chunks if c.get("type", "text") == "text")


def _reply(response: Response, *, text: str, stop: str) -> WireReply:
    body = response.body if isinstance(response.body, dict) else {"text": response.body}
    usage = body.get("usage")
    return WireReply(
        text=text,
        stop=stop,
        usage=_usage(usage if isinstance(usage, dict) else {}),
        request_id=response.request_id or str(body.get("id") or ""),
        model=str(body.get("model") or ""),
        settings={name: body[name] for name in EFFECTIVE if body.get(name)},
        raw=body,
        status=response.status,
    )


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else 0
    return Usage(
        input=token_count(usage.get("prompt_tokens")),
        output=token_count(usage.get("completion_tokens")),
        reasoning=token_count(reasoning),
    )
