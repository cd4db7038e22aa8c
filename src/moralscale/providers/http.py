"""Requests over HTTP: bounded in time and size, and silent about keys."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import os
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from moralscale.errors import ConfigError, PermanentError
from moralscale.providers.base import Response, WirePermanentError, WireTransientError
from moralscale.providers.retry_after import retry_after

#: Largest response body that is read, bytes.
MAX_BYTES = 4_000_000
#: Deepest nesting of a response body.
MAX_DEPTH = 64
REDACTED = "[redacted]"
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
        self.base_url = _checked_address(base_url, where)
        self.where = f"{where}, {self.base_url}"
        self._timeout = timeout
        self._tls: ssl.SSLContext | None = None
        # One client a connection: a shared pool looks at all its connections at every request,
        # which at 64 of them takes longer than all the rest.
        self._idle: list[httpx.AsyncClient] = []
        self._secrets: tuple[str, ...] = ()

    def open(self, secret: str) -> None:
        """Get ready; `secret` is cut out of everything that comes back."""
        forms = (secret, json.dumps(secret)[1:-1], quote(secret, safe=""))
        self._secrets = tuple(dict.fromkeys(form for form in forms if form))
        for name in WIRE_LOGGERS:
            logging.getLogger(name).addFilter(self._silence)
        self._tls = httpx.create_ssl_context()

    async def close(self) -> None:
        """Close all connections and forget the secret."""
        for client in self._idle:
            await client.aclose()
        for name in WIRE_LOGGERS:
            logging.getLogger(name).removeFilter(self._silence)
        self._idle, self._tls, self._secrets = [], None, ()

    def _new_client(self) -> httpx.AsyncClient:
        if self._tls is None:
            raise RuntimeError("the transport is not open")
        return httpx.AsyncClient(
            timeout=self._timeout,
            limits=httpx.Limits(max_connections=1),
            follow_redirects=False,
            verify=self._tls,
            # A proxy meant for the outside world must not see what stays on this machine.
            trust_env=not _is_loopback(self.base_url),
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
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            async with asyncio.timeout(self._timeout):
                return await self._exchange(client, path, body, headers)
        except (TimeoutError, httpx.TimeoutException):
            raise WireTransientError(
                f"no answer in {self._timeout:g} s", where=self.where
            ) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            what = self.redact(f"{type(error).__name__}: {error}".rstrip(": "))
            raise WireTransientError(what, where=self.where) from None
        except (httpx.HTTPError, httpx.InvalidURL, OverflowError, ExceptionGroup) as error:
            # What a socket refuses outright comes as a group: one for each address of the host.
            cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            what = self.redact(f"{type(cause).__name__}: {cause}".rstrip(": "))
            raise WirePermanentError(what, where=self.where, mend="check base_url") from None
        finally:
            self._idle.append(client)

    async def _exchange(
        self,
        client: httpx.AsyncClient,
        path: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
    ) -> Response:
        url = f"{self.base_url}{path}"
        async with client.stream("POST", url, json=body, headers=dict(headers)) as response:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_BYTES:
                    what = f"the response is larger than {MAX_BYTES} bytes"
                    head = Response(status=response.status_code)
                    raise WireTransientError(what, where=self.where, response=head)
            return self._response(response.status_code, response.headers, bytes(content))

    def _response(self, status: int, headers: httpx.Headers, content: bytes) -> Response:
        lower = {name.lower(): value for name, value in headers.items()}
        request_id = lower.get("x-request-id") or lower.get("request-id") or ""
        wait = retry_after(lower) if status == 429 or status >= 500 else None
        body = self._redacted(_decoded(content.decode("utf-8", "replace")))
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
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


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


def _checked_address(base_url: str, where: str) -> str:
    if not _is_address(base_url):
        what = "base_url is not an address" if base_url else "base_url is missing"
        raise ConfigError(what, where=where, mend="give one such as https://api.example.org/v1")
    parts = urlsplit(base_url)
    if parts.username or parts.password or parts.query or parts.fragment:
        what = "base_url holds credentials, a query or a fragment"
        raise ConfigError(what, where=where, mend="name the key's variable: api_key_env")
    return base_url.rstrip("/")


def _is_address(base_url: str) -> bool:
    """Whether requests can be sent there: all that a socket would refuse is looked at here."""
    try:
        parts = urlsplit(base_url)
        httpx.URL(base_url).host.encode("idna")
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx.InvalidURL):
        return False


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _decoded(text: str) -> Any:
    """Decode JSON; the first characters of the text where it is not JSON or too deep."""
    try:
        body = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text[:2000]
    return body if _is_shallow(body, MAX_DEPTH) else text[:2000]


def _is_shallow(body: Any, depth: int) -> bool:
    level = [body]
    for _ in range(depth):
        if not level:
            return True
        level = [child for node in level for child in _children(node)]
    return not level


def _children(node: Any) -> list[Any]:
    values = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [value for value in values if isinstance(value, (dict, list))]
