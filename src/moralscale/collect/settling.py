"""From the results of a batch to attempts in the journal: joined by id, verified, never twice."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

from moralscale.answers import parse_answer
from moralscale.attempts import Attempt, AttemptUnderWay
from moralscale.collect.asking import LARGER
from moralscale.collect.asks import Asks
from moralscale.collect.ledger import Part
from moralscale.collect.means import Means
from moralscale.errors import PermanentError, ProviderError, TransientError
from moralscale.providers.base import Ask, WireReply, WireTransientError, enlarged, key_of
from moralscale.providers.batch import KEY_DIGITS, BatchResult, key_and_nonce
from moralscale.providers.wire import WireProvider
from moralscale.records import Outcome

LOG = logging.getLogger(__name__)
BATCH = "batch"


class Settler:
    """Writes the results of batches into a journal.

    Attributes
    ----------
    refused : PermanentError or None
        The last error that asking again cannot mend.
    """

    def __init__(self, asks: Asks, provider: WireProvider, means: Means) -> None:
        self._asks, self._provider, self._journal = asks, provider, means.journal
        self._purse, self._report = means.purse, means.report
        self._places = {key_of(provider, ask)[:KEY_DIGITS]: n for n, ask in enumerate(asks)}
        self._parse = lru_cache(maxsize=1024)(parse_answer)
        self.refused: PermanentError | None = None

    def settle(self, part: Part, result: BatchResult) -> bool:
        """Write one result down, unless it is there already; whether it belongs to `part`."""
        prefix, nonce = key_and_nonce(result.custom_id)
        if nonce != part.nonce:
            return False
        place = self._places.get(prefix)
        if place is None:
            LOG.warning("batch %s: an answer to a question of another design", part.batch_id)
            return True
        [ask] = self._asks.at([place])
        key = key_of(self._provider, ask)
        standing = self._journal.answered(key)
        if standing is None or (standing.again and part.budget > 1):
            self._write(part, ask, key, result)
        return True

    def _write(self, part: Part, ask: Ask, key: str, result: BatchResult) -> None:
        settings = budgeted(self._provider, part.budget)
        attempt = AttemptUnderWay(self._provider, ask, key, part.budget, settings)
        try:
            reply = self._read(result)
        except ProviderError as error:
            self._append(attempt.failed(error), part)
            if isinstance(error, TransientError):
                self._report.failed(error)
            else:
                self.refused = PermanentError(error.what, where=error.where, mend=error.mend)
            return
        again = False
        try:
            outcome = self._parse(reply.text, ask.labels, reply.stop).outcome
            cut = outcome == Outcome.TRUNCATED and enlarged(settings, LARGER) != settings
            again = cut and part.budget == 1
        finally:
            # The answer is paid for: it is kept even where it cannot be parsed.
            self._append(attempt.answered(reply, again=again), part)
        if not again:
            self._report.advance(str(outcome), self._purse.spent())

    def _append(self, attempt: Attempt, part: Part) -> None:
        latency = round(max(0.0, time.time() - part.time), 3)
        self._journal.append(replace(attempt, transport=BATCH, latency=latency))

    def _read(self, result: BatchResult) -> WireReply:
        if result.response is None:
            what = f"the batch left it unanswered: {result.left}"
            raise WireTransientError(what, where=self._provider.http.where)
        return self._provider.read(result.response)


def budgeted(provider: WireProvider, budget: int) -> dict[str, Any]:
    """Return a provider's settings with a length of the answer that is `budget` times as large."""
    settings = dict(provider.settings)
    return settings if budget == 1 else enlarged(settings, budget)
