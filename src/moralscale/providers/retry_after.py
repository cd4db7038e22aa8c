"""How long a provider asks one to wait, in every form that providers use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def retry_after(
    headers: Mapping[str, str], now: datetime | None = None, *, limited: bool = True
) -> float | None:
    """Seconds to wait before asking again, where the headers say so.

    Parameters
    ----------
    headers : mapping
        Response headers, names in lower case.
    now : datetime, optional
        The present moment, in UTC; the clock's unless given.
    limited : bool, optional
        Whether the response is a rate limit. Others may bear the headers of rate limits, too, which
        then say nothing on when to ask again.

    Returns
    -------
    float or None
        From ``retry-after-ms``, else ``retry-after`` (seconds or an HTTP date), else the largest of
        the ``x-ratelimit-reset-*`` and ``*-ratelimit-*-reset`` headers (``1m30s``, ``500ms``,
        seconds or an ISO time). Never negative.
    """
    now = now or datetime.now(UTC)
    if "retry-after-ms" in headers:
        wait = _seconds(headers["retry-after-ms"], now)
        if wait is not None:
            return wait / 1000
    if "retry-after" in headers:
        wait = _seconds(headers["retry-after"], now)
        if wait is not None:
            return wait
    return _longest((v for k, v in headers.items() if limited and _is_reset(k)), now)


def _is_reset(name: str) -> bool:
    return "ratelimit" in name and "reset" in name


def _longest(values: Iterable[str], now: datetime) -> float | None:
    waits = [wait for value in values if (wait := _seconds(value, now)) is not None]
    return max(waits, default=None)


def _seconds(value: str, now: datetime) -> float | None:
    value = value.strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return _from_number(float(value), now)
    if _DURATION.fullmatch(value):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(value))
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _from_number(number: float, now: datetime) -> float:
    """Read a bare number: seconds from now, or a moment in Unix time (seconds or milliseconds)."""
    if number > 1e12:
        number /= 1000
    return max(0.0, number - now.timestamp()) if number > 1e9 else number


def _moment(value: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(value)
        except (ValueError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
