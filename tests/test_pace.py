"""How fast judges are asked, on a clock that jumps: hours of waiting take no time."""

import asyncio
import selectors

import pytest

from moralscale.collect.asking import AskingJob
from moralscale.collect.means import Means
from moralscale.collect.money import Budgets, Purse
from moralscale.collect.pace import Pace
from moralscale.collect.progress import Tally
from moralscale.collect.throttle import START
from moralscale.errors import TransientError, UnansweredError
from moralscale.journal import open_journal, read_attempts
from moralscale.providers.base import Ask, Backend
from moralscale.records import Reply, Usage


class Jump(selectors.DefaultSelector):
    """Instead of waiting, it moves the clock."""

    now = 0.0

    def select(self, timeout=None):
        self.now += timeout or 0.0
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    def __init__(self):
        self.jump = Jump()
        super().__init__(self.jump)

    def time(self):
        return self.jump.now


class Scripted(Backend):
    """Reacts as `react(provider, moment)` says: with an error, or else an answer."""

    name = endpoint = "scripted"
    model = "m"

    def __init__(self, react, tokens):
        self.settings = {}
        self._react, self._tokens = react, tokens
        self.sent, self.in_flight, self.crowd = [], 0, []

    async def ask(self, ask, settings):
        now = asyncio.get_running_loop().time()
        self.sent.append(now)
        self.in_flight += 1
        self.crowd.append(self.in_flight)
        try:
            reaction = self._react(self, now)
            await asyncio.sleep(0.2)
        finally:
            self.in_flight -= 1
        if isinstance(reaction, Exception):
            raise reaction
        return Reply("A", "stop", Usage(*self._tokens))


def question(n):
    return Ask(f"{n:04}", "", f"Whom? {n}", ("A", "B"), ("x", "y", "a", "a"), "t", 1)


def run(tmp_path, react, n, *, tokens=(90, 10), **pace):
    """Ask `n` questions; the provider, and the job's end by the clock."""
    provider = Scripted(react, tokens)
    tally = Tally(n, 0)
    with open_journal(tmp_path / "j.jsonl") as journal:
        purse = Purse(Budgets({}), journal, "m")
        asks = iter([question(i) for i in range(n)])

        async def ask_all():
            means = Means(journal, Pace(**pace), purse, tally)
            await AskingJob(asks, provider, means).run()
            return asyncio.get_running_loop().time()

        with asyncio.Runner(loop_factory=Loop) as runner:
            return provider, runner.run(ask_all()), tally


def limit(wait=None):
    return TransientError("slow down", retry_after=wait, rate_limited=True)


def test_concurrency_grows_to_its_bound_and_no_further(tmp_path):
    provider, end, _ = run(tmp_path, lambda provider, now: None, 1000, concurrency=64)
    assert max(provider.crowd) == 64
    assert provider.crowd[:4] == [1, 1, 2, 3]
    # 1000 questions of 0.2 s take 3.1 s at 64 at once; the start may take as much again.
    assert end < 6.2


def test_a_rate_limit_halves_concurrency_once(tmp_path):
    """The server allows 20 at once and refuses the others."""

    def react(provider, now):
        return limit() if provider.in_flight > 20 else None

    provider, _, tally = run(tmp_path, react, 1500, concurrency=64)
    refused = sum(crowd > 20 for crowd in provider.crowd)
    assert 0 < refused < 0.1 * len(provider.crowd)
    assert max(provider.crowd[400:]) <= 25
    assert tally.done == 1500


def test_no_growth_after_a_fault(tmp_path):
    def react(provider, now):
        return TransientError("HTTP 500") if len(provider.sent) % 10 == 0 else None

    provider, _, _ = run(tmp_path, react, 300, concurrency=64, tries=20, calm=1e6)
    assert max(provider.crowd) <= START + 10


def test_a_wait_that_all_are_named_makes_no_herd(tmp_path):
    """64 at once are told to come back in 600 s: none is early, one goes first, all get through."""
    told = {}

    def react(provider, now):
        if now < 2:
            return None
        told.setdefault("at", now)
        return limit(600) if now < told["at"] + 600 else None

    provider, _, _ = run(tmp_path, react, 800, concurrency=64)
    started = told["at"]
    early = [m for m in provider.sent if started + 1 < m < started + 600]
    assert early == []
    assert max(provider.crowd) == 64
    after = [m for m in provider.sent if m >= started + 600]
    first = after[0]
    assert sum(m < first + 0.2 for m in after) == 1
    assert sum(m < first + 0.4 for m in after) <= 4


def test_waits_are_bounded_in_number_and_in_sum(tmp_path):
    with pytest.raises(UnansweredError, match="3 comparisons stayed without an answer"):
        run(tmp_path, lambda provider, now: TransientError("HTTP 503"), 3, tries=4, total_wait=1e9)
    assert len(list(read_attempts(tmp_path / "j.jsonl"))) == 3 * 4 * 2
    (tmp_path / "j.jsonl").unlink()
    with pytest.raises(UnansweredError):
        run(tmp_path, lambda provider, now: TransientError("HTTP 503"), 1, tries=50, total_wait=100)
    # Waits double from 1 s to 60 s, each lengthened by at most as much.
    assert 2 * 5 <= len(list(read_attempts(tmp_path / "j.jsonl"))) <= 2 * 8


@pytest.mark.parametrize(
    ("caps", "tokens", "most"),
    [
        ({"requests_per_minute": 120}, (90, 10), 120),
        ({"tokens_per_minute": 12_000}, (90, 10), 120),
        ({"tokens_per_minute": 12_000, "requests_per_minute": 60}, (90, 10), 60),
        ({"tokens_per_minute": 12_000}, (900, 100), 12),
    ],
)
def test_no_minute_holds_more_than_the_caps(tmp_path, caps, tokens, most):
    n = 4 * most
    provider, end, _ = run(
        tmp_path, lambda provider, now: None, n, tokens=tokens, concurrency=64, **caps
    )
    sent = provider.sent
    for start in sent:
        # Tokens are guessed until the first answers tell them.
        assert sum(start <= m < start + 60 for m in sent) <= most + START + 1
    assert end < 60 * (n / most + 1)
