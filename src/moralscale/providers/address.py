"""Addresses of APIs, checked before anything is sent there."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

import httpx

from moralscale.errors import ConfigError


def checked_address(base_url: str, where: str) -> str:
    """Return an address without a slash at its end.

    Raises
    ------
    ConfigError
        It is not an http or https address, or holds credentials.
    """
    if not _is_address(base_url):
        what = "base_url is not an address" if base_url else "base_url is missing"
        raise ConfigError(what, where=where, mend="give one such as https://api.example.org/v1")
    parts = urlsplit(base_url)
    if parts.username or parts.password or parts.query or parts.fragment:
        what = "base_url holds credentials, a query or a fragment"
        raise ConfigError(what, where=where, mend="name the key's variable: api_key_env")
    return base_url.rstrip("/")


def is_loopback(base_url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_address(base_url: str) -> bool:
    """Whether requests can be sent there: all that a socket would refuse is looked at here."""
    try:
        parts = urlsplit(base_url)
        httpx.URL(base_url).host.encode("idna")
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx.InvalidURL):
        return False
