"""The loop that asks: bounded, stubborn where it helps, and quick to stop where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from moralscale.answers import parse_answer
from moralscale.attempts import AttemptUnderWay
from moralscale.collect.means import Means
from moralscale.collect.retrying import tries, without_warnings
from moralscale.collect.throttle import Throttle
from moralscale.errors import (
    BudgetError,
    MoralscaleError,
    PermanentError,
    ProviderError,
    TransientError,
    UnansweredError,
)
from moralscale.providers.base import Ask, Provider, enlarged, key_of
from moralscale.records import Outcome, Reply

#: Factor on the length of an answer when a truncated one is asked again.
LARGER = 4


class AskingJob:
    """Puts questions to one judge and writes every attempt into its journal.

    Parameters
    ----------
    asks : iterator of Ask
        The questions, taken one by one.
    provider : Provider
        The judge's backend, entered.
    means : Means
        Journal, pace, money and report.
    """

    def __init__(self, asks: Iterator[Ask], provider: Provider, means: Means) -> None:
        self._asks, self._provider, self._journal = asks, provider, means.journal
        self._pace, self._purse, self._report = means.pace, means.purse, means.report
        self._throttle = Throttle(means.pace)
        # Most answers are one of a few short texts.
        self._parse = lru_cache(maxsize=1024)(parse_answer)
        self._error: MoralscaleError | None = None
        self._missed: list[tuple[Ask, TransientError]] = []
        self._in_a_row = 0
        self._workers: set[asyncio.Task[None]] = set()
        self._in_flight: set[asyncio.Task[Any] | None] = set()

    async def run(self) -> None:
        """Ask until all is answered, or until asking on makes no sense.

        What stayed without an answer is asked once more at the end.

        Raises
        ------
        PermanentError
            The provider will not answer.
        TransientError
            `Pace.give_up` questions in a row stayed without an answer.
        UnansweredError
            All was asked, and some stayed without an answer.
        BudgetError
            The budget is spent.
        JournalError
            An attempt could not be written.
        """
        with without_warnings():
            await self._ask_all()
            if self._missed:
                self._asks = iter([ask for ask, _ in self._missed])
                self._missed, self._in_a_row = [], 0
                await self._ask_all()
        if self._missed:
            what = f"{len(self._missed)} comparisons stayed without an answer; the last: "
            mend = "run again: only these are asked; or allow for them by `unanswered` of the judge"
            raise UnansweredError(what + str(self._missed[-1][1]), mend=mend)

    async def _ask_all(self) -> None:
        # One question goes alone: what every request would be refused for is asked, and paid, once.
        for ask in self._asks:
            await self._settle(ask)
            break
        if self._error is None:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self._pace.concurrency):
                        self._workers.add(group.create_task(self._work()))
            except ExceptionGroup as group:
                raise group.exceptions[0] from None
            finally:
                self._workers.clear()
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
            self._missed.append((ask, error))
            self._in_a_row += 1
            if self._in_a_row >= self._pace.give_up:
                told = f"{self._in_a_row} questions in a row stayed without an answer: "
                told += "is the server running? answers so far are kept"
                error.mend = f"{error.mend}; {told}" if error.mend else told
                self._stop(error)
        except (PermanentError, BudgetError) as error:
            self._stop(error)
        else:
            self._in_a_row = 0
            self._report.advance(outcome, self._purse.spent())

    def _stop(self, error: MoralscaleError) -> None:
        """Ask nothing more; answers that are on their way are paid for, so they are waited for."""
        self._error = self._error or error
        for worker in self._workers - self._in_flight - {asyncio.current_task()}:
            worker.cancel()

    async def _answer(self, ask: Ask, key: str, budget: int) -> tuple[str, bool]:
        """Try one question as often as the pace allows."""
        async for attempt in tries(self._pace, lambda: self._error is None):
            with attempt:
                return await self._try(ask, key, budget)
        raise AssertionError("a retry loop ends with an answer or an error")

    async def _try(self, ask: Ask, key: str, budget: int) -> tuple[str, bool]:
        """Ask once, write it down; the outcome, and whether a larger budget may help."""
        settings = dict(self._provider.settings)
        settings = settings if budget == 1 else enlarged(settings, budget)
        async with self._throttle.slot(len(ask.system) + len(ask.user)) as slot:
            self._purse.check(self._throttle.in_flight)
            attempt = AttemptUnderWay(self._provider, ask, key, budget, settings)
            try:
                reply = await self._reply(ask, settings)
            except ProviderError as error:
                self._journal.append(attempt.failed(error))
                if isinstance(error, TransientError):
                    self._throttle.failed(slot, error)
                    self._report.failed(error)
                raise
            self._throttle.answered(slot, reply.usage.input + reply.usage.output)
            again = False
            try:
                outcome = self._parse(reply.text, ask.labels, reply.stop).outcome
                cut = outcome == Outcome.TRUNCATED and enlarged(settings, LARGER) != settings
                again = cut and budget == 1
            finally:
                # The answer is paid for: it is kept even where it cannot be parsed.
                self._journal.append(attempt.answered(reply, again=again))
            return str(outcome), again

    async def _reply(self, ask: Ask, settings: dict[str, Any]) -> Reply:
        task = asyncio.current_task()
        self._in_flight.add(task)
        try:
            return await self._provider.ask(ask, settings)
        finally:
            self._in_flight.discard(task)
