"""Batch interfaces: many questions handed in at once, their answers fetched hours later."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from moralscale.providers.base import Ask, Response, WireTransientError
from moralscale.providers.wire import WireProvider

#: Seconds that handing in, or fetching, one part may take.
PATIENCE = 3600.0
#: Digits of a key that an id begins with; an id has at most 64 characters.
KEY_DIGITS, NONCE_DIGITS = 47, 16
_ID = re.compile(rf"([0-9a-f]{{{KEY_DIGITS}}})-([0-9a-f]{{{NONCE_DIGITS}}})")


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch has come.

    Attributes
    ----------
    ended : bool
        Whether nothing more will come of it.
    files : tuple of str
        Where its results are, below the provider's address.
    failure : str
        Why all of it failed; empty where it did not.
    """

    ended: bool
    files: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of one question of a batch.

    Attributes
    ----------
    custom_id : str
        The id that it was handed in under.
    response : Response, optional
        As if it had been asked alone; None where the batch left it unanswered.
    left : str
        Why it was left unanswered.
    """

    custom_id: str
    response: Response | None = None
    left: str = ""


class BatchInterface(ABC):
    """The batch interface of one provider, whose connections it shares.

    Parameters
    ----------
    provider : WireProvider
        The provider; it must be entered while the interface is used.
    """

    #: Most questions, and bytes, of one part.
    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]

    def __init__(self, provider: WireProvider) -> None:
        self.provider = provider

    @abstractmethod
    def line(self, custom_id: str, ask: Ask, settings: Mapping[str, Any]) -> bytes:
        """Encode one question."""

    @abstractmethod
    async def submit(self, nonce: str, lines: Sequence[bytes]) -> str:
        """Hand in a part; the provider's id of the batch. Errors as of `Provider.ask`."""

    @abstractmethod
    async def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come."""

    @abstractmethod
    async def find(self, nonce: str, count: int, since: float) -> tuple[str, ...]:
        """Return the batches that may be a part whose id was lost, handed in after `since`."""

    @abstractmethod
    def result(self, record: Mapping[str, Any]) -> BatchResult:
        """Read one line of results."""

    def results(self, file: BinaryIO) -> Iterator[BatchResult]:
        """Read results; lines that are none are left out, and so their questions are missing."""
        for record in self.provider.http.lines(file):
            if isinstance(record, dict) and isinstance(record.get("custom_id"), str):
                yield self.result(record)

    async def fetch(self, path: str, file: BinaryIO) -> None:
        """Fetch a file of results."""
        await self.call("GET", path, into=file, patience=PATIENCE)

    async def call(self, method: str, path: str, kind: str = "", **sent: Any) -> Mapping[str, Any]:
        """Send a request and return the JSON object that comes; errors as of `Provider.ask`.

        Parameters
        ----------
        method, path
            What is sent, and where.
        kind : str, optional
            Type of a body of bytes.
        **sent
            As `HttpTransport.send` takes it.
        """
        headers = self.provider.headers() | ({"content-type": kind} if kind else {})
        response = await self.provider.http.send(method, path, headers, **sent)
        if response.status != 200:
            raise self.provider.fault(response)
        return response.body or {}

    def id_of(self, body: Mapping[str, Any]) -> str:
        """Return the id in a response.

        Raises
        ------
        TransientError
            There is none.
        """
        found = body.get("id")
        if not isinstance(found, str) or not found:
            raise WireTransientError("the response names no id", where=self.provider.http.where)
        return found


def custom_id(key: str, nonce: str) -> str:
    """Return the id of a question in a part: the first digits of its key, and the part's nonce."""
    return f"{key[:KEY_DIGITS]}-{nonce}"


def key_and_nonce(custom_id: str) -> tuple[str, str]:
    """Return what an id was made of; empty texts where it is none of ours."""
    found = _ID.fullmatch(custom_id)
    return (found[1], found[2]) if found else ("", "")


def encoded(record: Mapping[str, Any]) -> bytes:
    """Encode a record as a line of JSON, in ASCII."""
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"
