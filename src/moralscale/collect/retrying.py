"""When a question that failed is tried again: stamina's loop, with waits that suit providers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import stamina

from moralscale.collect.pace import Pace
from moralscale.collect.throttle import spread
from moralscale.errors import TransientError


def tries(pace: Pace, wanted: Callable[[], bool]) -> AsyncIterator[stamina.Attempt]:
    """Give one try of a question after another, with waits between them.

    Parameters
    ----------
    pace : Pace
        Bounds on tries and waits.
    wanted : callable
        Whether an answer is still wanted when a try has failed.
    """
    waits = Waits(pace)

    def decide(error: Exception) -> bool | float:
        return waits.after(error) if wanted() and isinstance(error, TransientError) else False

    # The waits are bounded by `Waits`: stamina would count the time in the queue, too.
    return stamina.retry_context(on=decide, attempts=pace.tries, timeout=None)


class Waits:
    """The waits of one question: as long as the provider names, or doubling, and by chance more."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._next = pace.first_wait
        self._total = 0.0

    def after(self, error: TransientError) -> bool | float:
        """Return how long to wait after `error`, seconds; False where that would be too long."""
        pace, least = self._pace, self._next
        self._next = min(2 * self._next, pace.longest_wait)
        if error.retry_after is not None:
            wait = spread(error.retry_after, pace.first_wait)
        else:
            wait = spread(least, least)
        self._total += wait
        return wait if self._total <= pace.total_wait else False


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep stamina from logging every retry: the job counts them."""
    logger = logging.getLogger("stamina")
    # A filter of its own, so that jobs side by side do not undo each other's.
    quiet = _Quiet()
    logger.addFilter(quiet)
    try:
        yield
    finally:
        logger.removeFilter(quiet)


class _Quiet(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return False
