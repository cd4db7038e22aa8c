"""How fast and how stubbornly a judge is asked."""

from __future__ import annotations

from dataclasses import dataclass

from moralscale.config import Judge


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast and how stubbornly to ask; all times in seconds.

    Attributes
    ----------
    concurrency : int
        Most questions in flight at once.
    tries : int
        Tries of one question, the first included.
    total_wait : float
        Most that one question may wait between its tries, all waits together.
    first_wait, longest_wait : float
        Bounds of the wait between tries where the provider names none, before jitter.
    calm : float
        Time without growth of concurrency after a rate limit or a fault.
    give_up : int
        Questions in a row that stay without an answer, after all tries, before the job stops.
    requests_per_minute, tokens_per_minute : int, optional
        Caps; None for none.
    unanswered : float
        Largest share of comparisons that may stay without an answer before the job fails.
    transport : str
        ``"live"`` or ``"batch"``.
    poll : float
        Time between two looks at the batches that are under way.
    """

    concurrency: int = 8
    tries: int = 6
    total_wait: float = 1800.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    calm: float = 5.0
    give_up: int = 20
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    unanswered: float = 0.0
    transport: str = "live"
    poll: float = 60.0

    @classmethod
    def of(cls, judge: Judge) -> Pace:
        """Take the pace from a judge's description."""
        return cls(
            concurrency=judge.concurrency,
            tries=judge.tries,
            requests_per_minute=judge.requests_per_minute,
            tokens_per_minute=judge.tokens_per_minute,
            unanswered=judge.unanswered,
            transport=judge.transport,
        )
