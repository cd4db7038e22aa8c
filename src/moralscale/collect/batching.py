"""Asking in batches: hand in what is open, wait, join the answers by id, ask again what is missing.

Every part is written down before it is handed in (`ledger`), and its answers go into the journal
like live ones. A process that is killed at any moment finds its batches again.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from moralscale.answers import parse_answer
from moralscale.attempts import AttemptUnderWay
from moralscale.collect.asking import LARGER
from moralscale.collect.asks import Asks
from moralscale.collect.ledger import Ledger, Part
from moralscale.collect.pace import Pace
from moralscale.collect.retrying import tries, without_warnings
from moralscale.errors import (
    BudgetError,
    PermanentError,
    ProviderError,
    UnansweredError,
)
from moralscale.journal import Journal
from moralscale.providers.base import Ask, WireTransientError, enlarged, key_of
from moralscale.providers.batch import (
    KEY_DIGITS,
    BatchInterface,
    BatchResult,
    custom_id,
    key_and_nonce,
)
from moralscale.records import Outcome

LOG = logging.getLogger(__name__)
BATCH = "batch"
#: Seconds between two looks at the batches that are under way.
POLL = 60.0


class BatchingJob:
    """Puts the questions of one judge in batches.

    Parameters
    ----------
    asks : Asks
        All questions of the judge.
    interface : BatchInterface
        The batch interface of the judge's provider, entered.
    journal : Journal
        The judge's journal, open.
    pace : Pace
        How stubbornly to ask: `tries` rounds for each question.
    afford : callable
        Raises `BudgetError` where there is no money for so many questions.
    advance : callable
        Takes note of an outcome.
    poll : float
        Seconds between two looks at the batches that are under way.
    """

    def __init__(
        self,
        asks: Asks,
        interface: BatchInterface,
        journal: Journal,
        pace: Pace,
        *,
        afford: Callable[[int], None],
        advance: Callable[[str], None],
        poll: float = POLL,
    ) -> None:
        self._asks, self._batches, self._journal = asks, interface, journal
        self._pace, self._afford, self._advance, self._poll = pace, afford, advance, poll
        self._provider = interface.provider
        self._ledger = Ledger(journal.path)
        self._places = {key_of(self._provider, ask)[:KEY_DIGITS]: n for n, ask in enumerate(asks)}
        self._parse = lru_cache(maxsize=1024)(parse_answer)

    async def run(self, alone: Callable[[Asks], Awaitable[None]]) -> None:
        """Ask until all is answered; `alone` asks one question live.

        Raises
        ------
        PermanentError
            The provider refused a question, or a whole batch.
        TransientError
            The provider could not be reached.
        UnansweredError
            Some questions stayed without an answer in every round.
        BudgetError
            The budget is spent; what was handed in before is waited for.
        JournalError
            An attempt could not be written.
        """
        with without_warnings():
            await self._fetch_all(await self._recovered())
            for turn in range(self._pace.tries):
                todo = self._open()
                if todo and turn == 0:
                    # What every question would be refused for is asked, and paid, once.
                    await alone(self._asks.at(todo[:1]))
                    todo = self._open()
                if not todo:
                    return
                await self._round(todo)
        if left := len(self._open()):
            what = f"{left} comparisons stayed without an answer in {self._pace.tries} batches each"
            raise UnansweredError(what, mend="run again: only these are asked")

    def _open(self) -> list[int]:
        """Positions of the questions without an answer, or with one that was cut short."""
        found = []
        for n, ask in enumerate(self._asks):
            standing = self._journal.answered(key_of(self._provider, ask))
            if standing is None or standing.again:
                found.append(n)
        return found

    async def _round(self, todo: list[int]) -> None:
        """Hand in all that is open, and fetch what comes of it."""
        parts, spent = [], None
        try:
            for budget, lines in self._portions(todo):
                parts.append(await self._hand_in(lines, budget))
        except BudgetError as error:
            spent = error
        await self._fetch_all(parts)
        if spent is not None:
            raise spent

    def _portions(self, todo: list[int]) -> Iterator[tuple[int, list[tuple[str, Ask]]]]:
        """Cut what is open into parts within the provider's bounds, each of one budget."""
        by_budget: dict[int, list[tuple[str, Ask]]] = {1: [], LARGER: []}
        for ask in self._asks.at(todo):
            key = key_of(self._provider, ask)
            by_budget[1 if self._journal.answered(key) is None else LARGER].append((key, ask))
        for budget, questions in by_budget.items():
            start = 0
            while start < len(questions):
                count = self._fitting(questions[start:], budget)
                count = self._affordable(count)
                yield budget, questions[start : start + count]
                start += count

    def _fitting(self, questions: list[tuple[str, Ask]], budget: int) -> int:
        """How many of these questions one part may hold."""
        size, settings = 0, self._settings(budget)
        for count, (key, ask) in enumerate(questions[: self._batches.most_requests]):
            size += len(self._batches.line(custom_id(key, "0" * 16), ask, settings))
            if size > self._batches.most_bytes and count:
                return count
        return min(len(questions), self._batches.most_requests)

    def _affordable(self, count: int) -> int:
        """How many questions there is money for, at most `count`; at least one, or an error."""
        while count > 1:
            try:
                self._afford(count)
                return count
            except BudgetError:
                count //= 2
        self._afford(1)
        return 1

    def _settings(self, budget: int) -> dict[str, Any]:
        settings = dict(self._provider.settings)
        return settings if budget == 1 else enlarged(settings, budget)

    async def _hand_in(self, questions: list[tuple[str, Ask]], budget: int) -> Part:
        """Write a part down, hand it in, write its id down."""
        part, settings = self._ledger.plan(len(questions), budget), self._settings(budget)
        lines = [
            self._batches.line(custom_id(key, part.nonce), ask, settings) for key, ask in questions
        ]
        handed_in = False
        async for attempt in tries(self._pace, lambda: True):
            with attempt:
                # A request that failed may have got through all the same.
                found = await self._batches.find(*_sought(part)) if handed_in else ()
                handed_in = True
                batch_id = found[0] if found else await self._batches.submit(part.nonce, lines)
                return self._ledger.handed_in(part, batch_id)
        raise AssertionError("a retry loop ends with an answer or an error")

    async def _recovered(self) -> list[Part]:
        """Parts that an earlier process left under way, with their ids where they can be found."""
        return [part for each in self._ledger.open_parts() if (part := await self._found(each))]

    async def _found(self, part: Part) -> Part | None:
        if part.batch_id:
            return part
        async for attempt in tries(self._pace, lambda: True):
            with attempt:
                found = await self._batches.find(*_sought(part))
        if not found:
            self._ledger.close(part)
            return None
        return self._ledger.handed_in(part, found[0])

    async def _fetch_all(self, parts: list[Part]) -> None:
        """Wait for these parts, and write down what comes of them."""
        while parts:
            under_way = []
            for part in parts:
                if not await self._fetch(part):
                    under_way.append(part)
            parts = under_way
            if parts:
                await asyncio.sleep(self._poll)

    async def _fetch(self, part: Part) -> bool:
        """Write the answers of a part down, if it has ended; whether it has."""
        async for attempt in tries(self._pace, lambda: True):
            with attempt:
                state = await self._batches.state(part.batch_id)
        if not state.ended:
            return False
        refused: PermanentError | None = None
        for path in state.files:
            with tempfile.TemporaryFile() as file:
                async for attempt in tries(self._pace, lambda: True):
                    with attempt:
                        file.seek(0)
                        file.truncate()
                        await self._batches.fetch(path, file)
                file.seek(0)
                for result in self._batches.results(file):
                    refused = self._settle(part, result) or refused
        self._journal.sync()
        self._ledger.close(part)
        if state.failure and "limit" not in state.failure:
            what = f"the batch was refused: {state.failure}"
            where = self._provider.http.where
            raise PermanentError(what, where=where, mend="change the judge's settings")
        if refused is not None:
            raise refused
        return True

    def _settle(self, part: Part, result: BatchResult) -> PermanentError | None:
        """Write one result down, unless it is foreign or a duplicate; the error that ends the job."""
        prefix, nonce = key_and_nonce(result.custom_id)
        place = self._places.get(prefix)
        if nonce != part.nonce or place is None:
            LOG.warning("batch %s: '%.70s' is no question of it", part.batch_id, result.custom_id)
            return None
        [ask] = self._asks.at([place])
        key = key_of(self._provider, ask)
        standing = self._journal.answered(key)
        if standing is not None and not (standing.again and part.budget > 1):
            return None
        attempt = AttemptUnderWay(
            self._provider, ask, key, part.budget, self._settings(part.budget)
        )
        took = {"transport": BATCH, "latency": round(time.time() - part.time, 3)}
        try:
            reply = self._read(result)
        except ProviderError as error:
            self._journal.append(replace(attempt.failed(error), **took))
            return error if isinstance(error, PermanentError) else None
        outcome = self._parse(reply.text, ask.labels, reply.stop).outcome
        settings = self._settings(1)
        cut = outcome == Outcome.TRUNCATED and enlarged(settings, LARGER) != settings
        again = cut and part.budget == 1
        self._journal.append(replace(attempt.answered(reply, again=again), **took))
        if not again:
            self._advance(str(outcome))
        return None

    def _read(self, result: BatchResult) -> Any:
        if result.response is None:
            what = f"the batch left it unanswered: {result.left}"
            raise WireTransientError(what, where=self._provider.http.where)
        return self._provider.read(result.response)


def _sought(part: Part) -> tuple[str, int, float]:
    return part.nonce, part.count, part.time
