"""What all providers over HTTP share: connect, ask, tell answers from blocks and faults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from moralscale.config import Judge
from moralscale.providers.base import (
    Ask,
    Backend,
    Response,
    WireReply,
    WireTransientError,
    token_count,
)
from moralscale.providers.faults import fault, is_block, message_of
from moralscale.providers.http import HttpTransport, read_key
from moralscale.providers.known import QUIRKS
from moralscale.providers.quirks import BROKEN, UsagePlaces
from moralscale.providers.settings import wire_settings
from moralscale.records import Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """What a response body says, in the provider's own words.

    Attributes
    ----------
    text : str
        The visible text, without reasoning that comes apart from it.
    reason : str
        The stop reason as the provider spells it.
    stop : str
        The stop reason in the words of `Reply.stop`, where something else than `reason` gives it.
    """

    text: str = ""
    reason: str = ""
    stop: str = ""


class WireProvider(Backend, ABC):
    """A provider over HTTP; a protocol says what its requests and answers look like.

    Parameters
    ----------
    judge_name : str
        The judge, for error messages.
    judge : Judge
        Its description.

    Raises
    ------
    ConfigError
        The address is missing or none, or the settings do not suit the provider.
    """

    def __init__(self, judge_name: str, judge: Judge) -> None:
        self.name: str = judge.provider
        self.model = judge.model
        self.quirks = QUIRKS[judge.provider]
        where = f"judge {judge_name}"
        self.settings: Mapping[str, Any] = wire_settings(judge, self.quirks, where=where)
        self._where = where
        self._key_name = judge.api_key_env
        self._key = SecretStr("")
        base_url = judge.base_url or self.quirks.base_url
        timeout = judge.timeout or self.quirks.timeout
        self.http = HttpTransport(base_url, where=where, timeout=timeout)
        self.endpoint = self.http.base_url

    @abstractmethod
    def path(self) -> str:
        """Return where questions are put, below the address."""

    @abstractmethod
    def body(self, ask: Ask, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Turn a question into the body of a request."""

    @abstractmethod
    def key_headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""

    @abstractmethod
    def answer(self, body: Mapping[str, Any]) -> Answer | None:
        """Read the answer out of a response; None where it holds none."""

    async def open(self) -> None:
        """Read the key and get ready to connect.

        Raises
        ------
        PermanentError
            The environment variable that should hold the key does not.
        """
        self.open_with(read_key(self._key_name, where=self._where))

    def open_with(self, key: str) -> None:
        """Get ready with a key that comes from elsewhere than the environment."""
        self._key = SecretStr(key)
        self.http.open(key)

    async def close(self) -> None:
        """Close connections and forget the key."""
        self._key = SecretStr("")
        await self.http.close()

    def headers(self) -> dict[str, str]:
        """Return the headers of a request."""
        return self.key_headers(self._key.get_secret_value())

    async def ask(self, ask: Ask, settings: Mapping[str, Any]) -> WireReply:
        """Put one question; see `Provider.ask`."""
        response = await self.http.post(self.path(), self.body(ask, settings), self.headers())
        return self.read(response)

    def read(self, response: Response) -> WireReply:
        """Read a reply out of a response; errors as of `Provider.ask`."""
        if is_block(response, self.quirks):
            return self._reply(response, message_of(response.body), "blocked")
        found = self.answer(response.body) if isinstance(response.body, dict) else None
        if response.status != 200 or found is None:
            raise self.fault(response)
        stop = found.stop or self.quirks.stops.get(found.reason, "stop")
        if stop == BROKEN:
            what = f"the server broke off: {found.reason}"
            raise WireTransientError(what, where=self.http.where, response=response)
        return self._reply(response, found.text, stop)

    def fault(self, response: Response) -> Exception:
        """Turn a response that holds no answer into an error."""
        where, key = self.http.where, self._key_name
        return fault(response, self.quirks, where=where, key_name=key)

    def _reply(self, response: Response, text: str, stop: str) -> WireReply:
        body = response.body if isinstance(response.body, dict) else {"text": response.body}
        effective = {name: body[name] for name in self.quirks.effective if body.get(name)}
        own_id = body.get("id") or body.get("responseId") or ""
        return WireReply(
            text=text,
            stop=stop,
            usage=read_usage(body, self.quirks.usage),
            request_id=response.request_id or str(own_id),
            model=str(body.get(self.quirks.effective[0]) or ""),
            settings=effective,
            raw=body,
            status=response.status,
        )


def read_usage(body: Mapping[str, Any], places: UsagePlaces) -> Usage:
    """Count tokens; reasoning that only the total contains is counted as output."""
    read, wrote, thought = (
        sum(token_count(value_at(body, path)) for path in paths)
        for paths in (places.input, places.output, places.reasoning)
    )
    total = token_count(value_at(body, places.total)) if places.total else 0
    return Usage(input=read, output=max(wrote, total - read), reasoning=thought)


def value_at(body: Any, path: str) -> Any:
    """Return the value at a dotted path; None where there is none."""
    for step in path.split("."):
        body = body.get(step) if isinstance(body, Mapping) else None
    return body
