"""What every provider has in common: the question, the protocol, the key of an answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from moralscale.errors import PermanentError, TransientError
from moralscale.records import Reply

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
#: Settings that bound the length of an answer, whatever a provider calls them.
BUDGETS = ("max_tokens", "max_completion_tokens", "maxOutputTokens")
#: No answer has as many tokens; what claims to is no count.
TOO_MANY_TOKENS = 2**31


@dataclass(frozen=True, slots=True)
class Ask:
    """One comparison as a judge sees it.

    Attributes
    ----------
    comparison_id : str
        The comparison in the schedule.
    system, user : str
        The rendered prompt.
    labels : tuple of str
        The text that answers with the first and with the second option.
    contestants : tuple of str
        First, second, and the order in which the acts of each are shown.
    template : str
        Name of the prompt template.
    repeat : int
        How often the comparison was asked before, plus one.
    """

    comparison_id: str
    system: str
    user: str
    labels: tuple[str, ...]
    contestants: tuple[str, str, str, str]
    template: str
    repeat: int


class Provider(Protocol):
    """The backend of one judge.

    A provider is an asynchronous context manager: entering it reads the key and opens connections,
    leaving it closes them. Its four attributes can be read before that, since the key of an answer
    depends on them.

    Attributes
    ----------
    name : str
        The provider's name in the registry.
    model : str
        The model that is asked.
    endpoint : str
        Where it is asked; the same for every run that may share answers.
    settings : mapping
        Sampling settings that are sent with every question.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def model(self) -> str: ...  # noqa: D102
    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def settings(self) -> Mapping[str, Any]: ...  # noqa: D102

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def ask(self, ask: Ask, settings: Mapping[str, Any]) -> Reply:
        """Put one question.

        Parameters
        ----------
        ask : Ask
            The question.
        settings : mapping
            The provider's own settings, or those with a larger budget.

        Raises
        ------
        TransientError
            No answer came; asking again may help.
        PermanentError
            No answer will come however often one asks.
        """
        ...


class Backend:
    """Makes a provider an asynchronous context manager out of what opens and what closes it."""

    async def open(self) -> None:
        """Get ready; there is nothing to open unless a provider says so."""

    async def close(self) -> None:
        """Let go of what was opened."""

    async def __aenter__(self) -> Self:
        """Open the provider."""
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the provider."""
        await self.close()


@dataclass(frozen=True, slots=True)
class Response:
    """What came over the wire, as the journal keeps it: no header that could hold a secret.

    Attributes
    ----------
    status : int
        HTTP status; 0 where no response came.
    request_id : str
        The provider's id of the request.
    body : object
        The decoded JSON body, or its text where it is not JSON.
    retry_after : float, optional
        Seconds to wait before the next request, where the provider said so.
    final : bool
        Whether the provider said not to try again.
    """

    status: int = 0
    request_id: str = ""
    body: Any = None
    retry_after: float | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class WireReply(Reply):
    """A reply that came over HTTP.

    Attributes
    ----------
    status : int
        HTTP status; blocks may come as 400 or 403.
    """

    status: int = 200


class WireTransientError(TransientError):
    """A transient error that came over HTTP, with the response for the journal."""

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        mend: str = "",
        response: Response | None = None,
        rate_limited: bool = False,
    ) -> None:
        self.response = response or Response()
        wait = self.response.retry_after
        super().__init__(what, where=where, mend=mend, retry_after=wait, rate_limited=rate_limited)


class WirePermanentError(PermanentError):
    """A permanent error that came over HTTP, with the response for the journal."""

    def __init__(
        self, what: str, *, where: str = "", mend: str = "", response: Response | None = None
    ) -> None:
        self.response = response or Response()
        super().__init__(what, where=where, mend=mend)


def key_of(provider: Provider, ask: Ask) -> str:
    """Key under which an answer to `ask` is kept: 64 hex digits.

    Everything that could change the answer enters it; time-outs, tries and concurrency do not.
    """
    content = {
        "provider": provider.name,
        "model": provider.model,
        "endpoint": provider.endpoint,
        "system": ask.system,
        "user": ask.user,
        "settings": dict(provider.settings),
        "contestants": ask.contestants,
        "template": ask.template,
        "repeat": ask.repeat,
    }
    text = _CANONICAL.encode(content)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def token_count(value: Any) -> int:
    """Return a count of tokens as somebody else gave it; 0 where it cannot be one."""
    return value if type(value) is int and 0 <= value < TOO_MANY_TOKENS else 0


def enlarged(settings: Mapping[str, Any], factor: int) -> dict[str, Any]:
    """Return `settings` with every bound on the length of an answer multiplied by `factor`."""
    return {name: _enlarged(name, value, factor) for name, value in settings.items()}


def _enlarged(name: str, value: Any, factor: int) -> Any:
    if isinstance(value, Mapping):
        return enlarged(value, factor)
    return value * factor if name in BUDGETS and isinstance(value, int) else value
