"""Requests over HTTP: bounded in time and size, and silent about keys."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

import httpx

from moralscale.errors import PermanentError
from moralscale.providers.address import checked_address, is_loopback
from moralscale.providers.base import Response, WirePermanentError, WireTransientError
from moralscale.providers.bounds import MAX_BYTES, MAX_FILE, decoded
from moralscale.providers.retry_after import retry_after

REDACTED = "[redacted]"
NOTHING = re.compile("")
#: Loggers of the HTTP library that show what came over the wire.
WIRE_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy")


class HttpTransport:
    """Connections to one API, as many as there are requests at once.

    Parameters
    ----------
    base_url : str
        Address of the API, up to and including its version.
    where : str
        The judge, for error messages.
    timeout : float
        Seconds that one request may take from first byte to last.

    Raises
    ------
    ConfigError
        The address is not an http or https address, or holds credentials.
    """

    def __init__(self, base_url: str, *, where: str, timeout: float) -> None:
        self.base_url = checked_address(base_url, where)
        self.where = f"{where}, {self.base_url}"
        self._timeout = timeout
        self._tls: ssl.SSLContext | None = None
        # One client a connection: a shared pool looks at all its connections at every request,
        # which at 64 of them takes longer than all the rest.
        self._idle: list[httpx.AsyncClient] = []
        self._secret = NOTHING

    def open(self, secret: str) -> None:
        """Get ready; `secret` is cut out of everything that comes back."""
        self._secret = re.compile("".join(map(_spellings, secret)), re.IGNORECASE)
        for name in WIRE_LOGGERS:
            logging.getLogger(name).addFilter(self._silence)
        # Without TLS there is nothing to check, and no time to spend on reading who may sign.
        secure = self.base_url.startswith("https:")
        unused = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls = httpx.create_ssl_context() if secure else unused

    async def close(self) -> None:
        """Close all connections and forget the secret."""
        for client in self._idle:
            await client.aclose()
        for name in WIRE_LOGGERS:
            logging.getLogger(name).removeFilter(self._silence)
        self._idle, self._tls, self._secret = [], None, NOTHING

    def _new_client(self) -> httpx.AsyncClient:
        if self._tls is None:
            raise RuntimeError("the transport is not open")
        return httpx.AsyncClient(
            timeout=self._timeout,
            limits=httpx.Limits(max_connections=1),
            follow_redirects=False,
            verify=self._tls,
            # A proxy meant for the outside world must not see what stays on this machine.
            trust_env=not is_loopback(self.base_url),
        )

    def _silence(self, record: logging.LogRecord) -> bool:
        """Cut the key out of a log line: response headers are logged as they come."""
        record.msg, record.args = self.redact(record.getMessage()), ()
        return True

    async def post(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Response:
        """Send `body` as JSON and read the whole response, whatever its status.

        Raises
        ------
        WireTransientError
            The connection failed, the time ran out, or the body is too large, corrupt or not JSON.
        WirePermanentError
            No request can be sent to this address.
        """
        return await self.send("POST", path, headers, json=body)

    async def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        into: BinaryIO | None = None,
        patience: float = 0.0,
        **content: Any,
    ) -> Response:
        """Send any request; errors as of `post`.

        Parameters
        ----------
        method, path, headers
            What is sent, and where.
        into : file, optional
            Where the body of a success goes, in place of the response.
        patience : float, optional
            Seconds in all, where they are more than the transport's.
        **content
            Body of the request, as httpx takes it.
        """
        async with self._client() as client, self._typed_faults(max(self._timeout, patience)):
            url = f"{self.base_url}{path}"
            sent = client.stream(method, url, headers=dict(headers), **content)
            async with sent as response:
                if into is not None and response.status_code == 200:
                    await self._read(response, into.write, MAX_FILE)
                    return Response(200)
                body = bytearray()
                await self._read(response, body.extend, MAX_BYTES)
                return self._response(response.status_code, response.headers, bytes(body))

    async def _read(
        self, response: httpx.Response, keep: Callable[[bytes], Any], most: int
    ) -> None:
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > most:
                what = f"the response is larger than {most} bytes"
                head = Response(status=response.status_code)
                raise WireTransientError(what, where=self.where, response=head)
            keep(chunk)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx.AsyncClient]:
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            yield client
        finally:
            self._idle.append(client)

    @asynccontextmanager
    async def _typed_faults(self, seconds: float) -> AsyncIterator[None]:
        """Turn what the HTTP library raises, and a time that runs out, into errors of ours."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except (TimeoutError, httpx.TimeoutException):
            raise WireTransientError(f"no answer in {seconds:g} s", where=self.where) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            what = self.redact(f"{type(error).__name__}: {error}".rstrip(": "))
            raise WireTransientError(what, where=self.where) from None
        except (httpx.HTTPError, httpx.InvalidURL, OverflowError, ExceptionGroup) as error:
            # What a socket refuses outright comes as a group: one for each address of the host.
            cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            what = self.redact(f"{type(cause).__name__}: {cause}".rstrip(": "))
            raise WirePermanentError(what, where=self.where, mend="check base_url") from None

    def lines(self, file: BinaryIO) -> Iterator[Any]:
        """Decode a file that holds one JSON value a line, as bounded as a response."""
        while line := file.readline(MAX_BYTES):
            if line.strip():
                yield self._redacted(decoded(line.decode("utf-8", "replace"), self.redact))

    def _response(self, status: int, headers: httpx.Headers, content: bytes) -> Response:
        lower = {name.lower(): value for name, value in headers.items()}
        request_id = lower.get("x-request-id") or lower.get("request-id") or ""
        failed = status == 429 or status >= 500
        wait = retry_after(lower, limited=status == 429) if failed else None
        body = self._redacted(decoded(content.decode("utf-8", "replace"), self.redact))
        final = lower.get("x-should-retry", "").lower() == "false"
        found = Response(status, self.redact(request_id), body, wait, final)
        if status == 200 and content and not isinstance(body, dict):
            what = "the response is not a JSON object, or is nested too deeply"
            raise WireTransientError(what, where=self.where, response=found)
        return found

    def _redacted(self, node: Any) -> Any:
        """Cut the key out of a decoded body; its depth is bounded."""
        if isinstance(node, str):
            return self.redact(node)
        if isinstance(node, list):
            return [self._redacted(child) for child in node]
        if isinstance(node, dict):
            return {self.redact(name): self._redacted(child) for name, child in node.items()}
        return node

    def redact(self, text: str) -> str:
        """Return `text` with every form of the key cut out."""
        return self._secret.sub(REDACTED, text) if self._secret.pattern else text


def _spellings(character: str) -> str:
    """Match a character of a key as it is, or escaped as JSON, addresses or HTML do it."""
    if character.isalnum():
        return character
    code = ord(character)
    plain = re.escape(character)
    return rf"(?:\\?{plain}|%{code:02x}|\\u{code:04x}|&#{code};|&#x{code:x};)"


def read_key(variable: str, *, where: str) -> str:
    """Read a key from the environment; empty where the judge needs none.

    Raises
    ------
    PermanentError
        The variable is not set, or holds something that no header can carry. The message never
        quotes the value.
    """
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        what = f"environment variable {variable} is not set"
        raise PermanentError(what, where=where, mend=f"put the key there: export {variable}=...")
    if not (key.isascii() and key.isprintable() and " " not in key):
        what = f"environment variable {variable} holds characters that no key has"
        raise PermanentError(what, where=where, mend="set it again, without blanks or quotes")
    return key
