"""How many questions may be in flight, and how soon the next one may be sent."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from moralscale.collect.pace import Pace
from moralscale.errors import TransientError

#: Questions in flight at first.
START = 4
#: Characters of a prompt for one token, before the provider has counted any.
CHARACTERS = 3
#: Share of a named wait by which its end is spread.
SPREAD = 0.1


class Throttle:
    """Lets questions through to one model under one key.

    Concurrency grows by one with every answer until the first rate limit, and by one with every
    full round of answers after it. A rate limit halves it, once for all questions that were in
    flight together. Where the provider names a wait, nothing is sent until it is over, and then
    one question goes first. Neither a rate limit nor a fault is followed by growth for `Pace.calm`.

    Parameters
    ----------
    pace : Pace
        The bounds.

    Attributes
    ----------
    in_flight : int
        Questions that were let through and are not back.
    window : float
        Questions that may be in flight now.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.in_flight = 0
        self.window = float(min(START, pace.concurrency))
        self._quick_until = float(pace.concurrency)
        self._cut_at = self._calm_until = self._closed_until = 0.0
        self._requests = Meter(pace.requests_per_minute)
        self._tokens = Meter(pace.tokens_per_minute)
        self._tokens_each = _Mean()
        self._gate = asyncio.Lock()
        self._back = asyncio.Event()

    @asynccontextmanager
    async def slot(self, characters: int) -> AsyncIterator[Slot]:
        """Wait for a place, and hold it while a question is in flight.

        Parameters
        ----------
        characters : int
            Length of the prompt, from which its tokens are guessed at first.
        """
        async with self._gate:
            await self._open()
            slot = Slot(_now(), self._tokens_each.value or characters / CHARACTERS)
            self._requests.charge(1, slot.sent)
            self._tokens.charge(slot.expected, slot.sent)
            self.in_flight += 1
        try:
            yield slot
        finally:
            self.in_flight -= 1
            self._back.set()

    def answered(self, slot: Slot, tokens: int) -> None:
        """Take note of an answer and of the tokens that it used, in and out."""
        self._tokens_each.add(tokens)
        self._tokens.charge(tokens - slot.expected, _now())
        # Where few are in flight, an answer says nothing about more of them.
        if 2 * self.in_flight >= self.window and _now() >= self._calm_until:
            step = 1.0 if self.window < self._quick_until else 1.0 / self.window
            self.window = min(self.window + step, float(self._pace.concurrency))

    def failed(self, slot: Slot, error: TransientError) -> None:
        """Take note of a rate limit or a fault."""
        now = _now()
        self._tokens.charge(-slot.expected, now)
        self._calm_until = max(self._calm_until, now + self._pace.calm)
        if not error.rate_limited:
            return
        if slot.sent >= self._cut_at:
            self._quick_until = max(1.0, min(self.window, self.in_flight) / 2)
            self.window, self._cut_at = self._quick_until, now
        if error.retry_after is not None and error.retry_after <= self._pace.total_wait:
            self.window = 1.0
            self._closed_until = max(self._closed_until, now + spread(error.retry_after))

    async def _open(self) -> None:
        while True:
            wait = max(self._closed_until, self._requests.free, self._tokens.free) - _now()
            if wait > 0:
                await asyncio.sleep(wait)
            elif self.in_flight >= int(self.window):
                self._back.clear()
                await self._back.wait()
            else:
                return


class Slot:
    """One question in flight: when it was sent, and the tokens that it was expected to take."""

    def __init__(self, sent: float, expected: float) -> None:
        self.sent, self.expected = sent, expected


def spread(wait: float, least: float = 0.0) -> float:
    """Lengthen a wait by chance, never shorten it, so that not all wait for the same moment."""
    return wait + random.uniform(0, max(least, SPREAD * wait))


class Meter:
    """Spaces what is capped evenly, so that no minute holds more than the cap.

    Attributes
    ----------
    free : float
        Moment from which more may be sent.
    """

    def __init__(self, per_minute: int | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self.free = 0.0

    def charge(self, amount: float, now: float) -> None:
        """Take `amount` of the cap; a negative one gives back."""
        if self._seconds_each:
            self.free = max(self.free, now) + amount * self._seconds_each


class _Mean:
    def __init__(self) -> None:
        self.value, self._count = 0.0, 0

    def add(self, value: float) -> None:
        self._count += 1
        self.value += (value - self.value) / self._count


def _now() -> float:
    return asyncio.get_running_loop().time()
