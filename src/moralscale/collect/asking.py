"""The loop that asks: bounded, stubborn where it helps, and quick to stop where it does not."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import stamina

from moralscale.answers import parse_answer
from moralscale.attempts import AttemptUnderWay
from moralscale.collect.progress import Report
from moralscale.config import Judge
from moralscale.errors import PermanentError, ProviderError, TransientError
from moralscale.journal import Journal
from moralscale.providers.base import Ask, Provider, enlarged, key_of
from moralscale.records import Outcome

#: Factor on the length of an answer when a truncated one is asked again.
LARGER = 4


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast and how stubbornly to ask.

    Attributes
    ----------
    concurrency : int
        Questions in flight at once.
    tries : int
        Tries of one question, the first included.
    total_wait : float
        Seconds after which a question is not tried again.
    first_wait, longest_wait : float
        Bounds of the wait between tries, seconds, where the provider names none.
    give_up : int
        Questions in a row that stay without an answer, after all tries, before the job stops.
    """

    concurrency: int = 8
    tries: int = 6
    total_wait: float = 1800.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    give_up: int = 20

    @classmethod
    def of(cls, judge: Judge) -> Pace:
        """Take the pace from a judge's description."""
        return cls(concurrency=judge.concurrency, tries=judge.tries)


class AskingJob:
    """Puts questions to one judge and writes every attempt into its journal.

    Parameters
    ----------
    asks : iterator of Ask
        The questions, taken one by one.
    provider : Provider
        The judge's backend, entered.
    journal : Journal
        The judge's journal, open.
    pace : Pace
        How fast to ask.
    report : Report
        Takes note of every answer.
    """

    def __init__(
        self,
        asks: Iterator[Ask],
        provider: Provider,
        journal: Journal,
        pace: Pace,
        report: Report,
    ) -> None:
        self._asks, self._provider, self._journal = asks, provider, journal
        self._pace, self._report = pace, report
        # Most answers are one of a few short texts.
        self._parse = lru_cache(maxsize=1024)(parse_answer)
        self._error: ProviderError | None = None
        self._missed = 0
        self._workers: set[asyncio.Task[None]] = set()
        self._in_flight: set[asyncio.Task[Any] | None] = set()

    async def run(self) -> None:
        """Ask until all is asked, or until asking on makes no sense.

        Raises
        ------
        PermanentError
            The provider will not answer.
        TransientError
            `Pace.give_up` questions in a row stayed without an answer.
        JournalError
            An attempt could not be written.
        """
        # One question goes alone: what every request would be refused for is asked, and paid, once.
        for ask in self._asks:
            await self._settle(ask)
            break
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._pace.concurrency):
                    self._workers.add(group.create_task(self._work()))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        if self._error is not None:
            raise self._error

    async def _work(self) -> None:
        for ask in self._asks:
            # A provider that never waits would keep an interrupt from getting through.
            await asyncio.sleep(0)
            if self._error is not None:
                return
            await self._settle(ask)

    async def _settle(self, ask: Ask) -> None:
        """Get an answer to one question, or take note that there is none."""
        key = key_of(self._provider, ask)
        standing = self._journal.answered(key)
        budget = 1 if standing is None else LARGER
        try:
            outcome, again = await self._answer(ask, key, budget)
            if again:
                outcome, _ = await self._answer(ask, key, LARGER)
        except TransientError as error:
            self._missed += 1
            if self._missed >= self._pace.give_up:
                told = f"{self._missed} questions in a row stayed without an answer: "
                told += "is the server running? answers so far are kept"
                error.mend = f"{error.mend}; {told}" if error.mend else told
                self._stop(error)
        except PermanentError as error:
            self._stop(error)
        else:
            self._missed = 0
            self._report.advance(outcome)

    def _stop(self, error: ProviderError) -> None:
        """Ask nothing more; answers that are on their way are paid for, so they are waited for."""
        self._error = self._error or error
        for worker in self._workers - self._in_flight - {asyncio.current_task()}:
            worker.cancel()

    async def _answer(self, ask: Ask, key: str, budget: int) -> tuple[str, bool]:
        """Try one question as often as the pace allows."""
        async for attempt in stamina.retry_context(
            on=self._backoff(),
            attempts=self._pace.tries,
            timeout=self._pace.total_wait,
            wait_initial=self._pace.first_wait,
            wait_max=self._pace.longest_wait,
            wait_jitter=self._pace.first_wait,
        ):
            with attempt:
                return await self._try(ask, key, budget)
        raise AssertionError("a retry loop ends with an answer or an error")

    def _backoff(self) -> Callable[[Exception], bool | float]:
        """Decide after a failure: False for no further try, True or seconds for how to wait."""
        started = time.monotonic()

        def decide(error: Exception) -> bool | float:
            if self._error is not None or not isinstance(error, TransientError):
                return False
            if error.retry_after is None:
                return True
            # Later than asked, never sooner, and not all at the same moment.
            spread = max(self._pace.first_wait, 0.1 * error.retry_after)
            wait = error.retry_after + random.uniform(0, spread)
            return wait if time.monotonic() - started + wait <= self._pace.total_wait else False

        return decide

    async def _try(self, ask: Ask, key: str, budget: int) -> tuple[str, bool]:
        """Ask once, write it down; the outcome, and whether a larger budget may help."""
        settings = dict(self._provider.settings)
        settings = settings if budget == 1 else enlarged(settings, budget)
        attempt = AttemptUnderWay(self._provider, ask, key, budget, settings)
        task = asyncio.current_task()
        self._in_flight.add(task)
        try:
            reply = await self._provider.ask(ask, settings)
        except ProviderError as error:
            self._journal.append(attempt.failed(error))
            raise
        finally:
            self._in_flight.discard(task)
        again = False
        try:
            outcome = self._parse(reply.text, ask.labels, reply.stop).outcome
            cut = outcome == Outcome.TRUNCATED and enlarged(settings, LARGER) != settings
            again = cut and budget == 1
        finally:
            # The answer is paid for: it is kept even where it cannot be parsed.
            self._journal.append(attempt.answered(reply, again=again))
        return str(outcome), again
