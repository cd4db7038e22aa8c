"""Asking in batches: hand in what is open, wait, join the answers by id, ask again what is missing.

Every part is written down before it is handed in (`ledger`), and its answers go into the journal
like live ones. A process that is killed at any moment finds its batches again.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any

from moralscale.collect.asking import LARGER, AskingJob
from moralscale.collect.asks import Asks, still_open
from moralscale.collect.ledger import Ledger, Part
from moralscale.collect.means import Means
from moralscale.collect.retrying import tries, without_warnings
from moralscale.collect.settling import Settler, budgeted
from moralscale.errors import BudgetError, PermanentError, UnansweredError
from moralscale.providers.base import Ask, key_of
from moralscale.providers.batch import NONCE_DIGITS, BatchInterface, BatchState, custom_id

LOG = logging.getLogger(__name__)
Question = tuple[str, Ask]


class BatchingJob:
    """Puts the questions of one judge in batches.

    Parameters
    ----------
    asks : Asks
        All questions of the judge.
    batches : BatchInterface
        The batch interface of the judge's provider, entered.
    means : Means
        Journal, pace, money and report; each question is in `Pace.tries` batches at most.
    """

    def __init__(self, asks: Asks, batches: BatchInterface, means: Means) -> None:
        self._asks, self._batches, self._means = asks, batches, means
        self._journal, self._pace, self._purse = means.journal, means.pace, means.purse
        self._provider = batches.provider
        self._ledger = Ledger(means.journal.path)
        self._settler = Settler(asks, self._provider, means)

    async def run(self) -> None:
        """Ask until all is answered, or until asking on makes no sense.

        Raises
        ------
        PermanentError
            The provider refused a question, or a whole batch.
        TransientError
            The provider could not be reached.
        UnansweredError
            Some questions stayed without an answer in every batch.
        BudgetError
            The budget is spent; what was handed in before was waited for.
        JournalError
            An attempt or a batch could not be written down.
        """
        with without_warnings():
            await self._fetch_all(await self._left_under_way())
            if todo := self._open():
                # What every question would be refused for is asked, and paid, once.
                await self._ask_alone(todo[0])
            turns = 0
            while turns < self._pace.tries and (todo := self._open()):
                turns += await self._ask(todo)
        if left := len(self._open()):
            what = f"{left} comparisons stayed without an answer in {self._pace.tries} batches"
            mend = "run again: only these are asked; or allow for them by `unanswered` of the judge"
            raise UnansweredError(what, mend=mend)

    def _open(self) -> Sequence[int]:
        return still_open(self._asks, self._provider, self._journal)

    async def _ask_alone(self, place: int) -> None:
        await AskingJob(iter(self._asks.at([place])), self._provider, self._means).run()

    async def _ask(self, todo: Sequence[int]) -> bool:
        """Hand these in, write down what comes of them; whether there was money for all.

        What batches cost is known once one was paid: where there was money for some, there may be
        for more.
        """
        parts: list[Part] = []
        spent: BudgetError | None = None
        try:
            for budget, questions in self._portions(todo):
                parts.append(await self._hand_in(questions, budget))
        except BudgetError as error:
            spent = error
        await self._fetch_all(parts)
        if spent is not None and not parts:
            raise spent
        return spent is None

    def _portions(self, todo: Sequence[int]) -> Iterator[tuple[int, list[Question]]]:
        """Cut questions into parts within the provider's bounds and the budget."""
        by_budget: dict[int, list[Question]] = {1: [], LARGER: []}
        for ask in self._asks.at(todo):
            key = key_of(self._provider, ask)
            by_budget[1 if self._journal.answered(key) is None else LARGER].append((key, ask))
        asked = 0
        for budget, questions in by_budget.items():
            while questions:
                count = self._affordable(self._fitting(questions, budget), asked)
                yield budget, questions[:count]
                questions, asked = questions[count:], asked + count

    def _fitting(self, questions: Sequence[Question], budget: int) -> int:
        """Count how many of these questions one part may hold."""
        most = min(len(questions), self._batches.most_requests)
        size = 0
        for count, line in enumerate(self._lines(questions[:most], "0" * NONCE_DIGITS, budget)):
            size += len(line)
            if size > self._batches.most_bytes and count:
                return count
        return most

    def _affordable(self, count: int, asked: int) -> int:
        """Count for how many of `count` questions there is money beside those that were asked."""
        while count > 1:
            try:
                self._purse.check(asked + count)
                return count
            except BudgetError:
                count //= 2
        self._purse.check(asked + 1)
        return 1

    def _lines(self, questions: Sequence[Question], nonce: str, budget: int) -> Iterator[bytes]:
        settings = budgeted(self._provider, budget)
        for key, ask in questions:
            yield self._batches.line(custom_id(key, nonce), ask, settings)

    async def _hand_in(self, questions: Sequence[Question], budget: int) -> Part:
        """Write a part down, hand it in, write its id down."""
        part = self._ledger.plan(len(questions), budget)
        lines = list(self._lines(questions, part.nonce, budget))
        failed = False

        async def submit() -> str:
            nonlocal failed
            # A request that failed may have got through all the same.
            found = await self._find(part) if failed else []
            failed = True
            return found[0] if found else await self._batches.submit(part.nonce, lines)

        return self._ledger.handed_in(part, await self._stubbornly(submit))

    async def _left_under_way(self) -> list[Part]:
        """Parts that an earlier process left under way, with their ids where they can be found."""
        found = [await self._identified(part) for part in self._ledger.open_parts()]
        return [part for part in found if part is not None]

    async def _identified(self, part: Part) -> Part | None:
        if part.batch_id:
            return part
        found = await self._stubbornly(lambda: self._find(part))
        if found:
            return self._ledger.handed_in(part, found[0])
        self._ledger.close(part)
        return None

    async def _find(self, part: Part) -> list[str]:
        """Batches that may be this part, and are not known to be another."""
        found = await self._batches.find(part.nonce, part.count, part.time)
        return [batch_id for batch_id in found if batch_id not in self._ledger.ids]

    async def _fetch_all(self, parts: Sequence[Part]) -> None:
        """Wait for these parts, and write down what comes of them."""
        under_way = list(parts)
        while under_way:
            states = [(part, await self._fetch(part)) for part in under_way]
            under_way = [part for _, part in states if part is not None]
            if self._settler.refused is not None:
                raise self._settler.refused
            if under_way:
                await asyncio.sleep(self._pace.poll)

    async def _fetch(self, part: Part) -> Part | None:
        """Write down what came of a part, if it has ended; the part to wait for otherwise."""
        state: BatchState = await self._stubbornly(lambda: self._batches.state(part.batch_id))
        if not state.ended:
            return part
        foreign = own = 0
        for path in state.files:
            with tempfile.TemporaryFile() as file:
                await self._stubbornly(partial(self._download, path, file))
                file.seek(0)
                for result in self._batches.results(file):
                    belongs = self._settler.settle(part, result)
                    own, foreign = own + belongs, foreign + (not belongs)
        self._journal.sync()
        if foreign:
            LOG.warning("batch %s: %d results are not of this run", part.batch_id, foreign)
        if foreign and not own:
            # Found by its size, and somebody else's: the right one may be there, too.
            return await self._identified(self._ledger.handed_in(part, ""))
        self._ledger.close(part)
        if state.failure and "limit" not in state.failure:
            what, where = f"the batch was refused: {state.failure}", self._provider.http.where
            raise PermanentError(what, where=where, mend="change the judge's settings")
        return None

    async def _download(self, path: str, file: Any) -> None:
        file.seek(0)
        file.truncate()
        await self._batches.fetch(path, file)

    async def _stubbornly[T](self, call: Callable[[], Awaitable[T]]) -> T:
        """Call as often as the pace allows."""
        async for attempt in tries(self._pace, lambda: True):
            with attempt:
                return await call()
        raise AssertionError("a retry loop ends with a result or an error")
