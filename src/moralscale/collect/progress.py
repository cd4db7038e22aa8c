"""How far a long job has come: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from moralscale.errors import TransientError

#: Seconds between plain lines.
INTERVAL = 60.0
#: Seconds over which the rate is smoothed.
RECENT = 30.0


class Report(Protocol):
    """Takes note of one finished comparison after another."""

    def advance(self, outcome: str, spent: float | None = None) -> None:
        """Count one more comparison, which came to `outcome`; USD spent so far, where known."""
        ...

    def failed(self, error: TransientError) -> None:
        """Count one more try that gave no answer."""
        ...


class Tally:
    """What a job has done so far.

    Parameters
    ----------
    total, kept : int
        Comparisons in all, and those that were answered before.
    """

    def __init__(self, total: int, kept: int) -> None:
        self.total, self.kept = total, kept
        self.done = kept
        self.spent: float | None = None
        self._outcomes: Counter[str] = Counter()
        self._tries = self._limits = 0
        self._rate = Rate()

    def advance(self, outcome: str, spent: float | None = None) -> None:
        """Count one more comparison; see `Report.advance`."""
        self.done += 1
        self.spent = spent
        self._outcomes[outcome] += 1
        self._rate.tick()

    def failed(self, error: TransientError) -> None:
        """Count one more try that gave no answer."""
        self._tries += 1
        self._limits += error.rate_limited

    def details(self) -> list[str]:
        """Put into words: outcomes, failed tries, cost, rate, time left."""
        rate, left = self._rate.value(), self.total - self.done
        failed = f"{self._tries} tries failed" if self._tries else ""
        if self._limits:
            failed += f" ({self._limits} rate limits)"
        return [
            describe(self._outcomes),
            f"{self.kept} from the journal" if self.kept else "",
            failed,
            f"{self.spent:.4g} USD" if self.spent else "",
            f"{rate:.3g} a second" if rate else "",
            f"{duration(left / rate)} left" if rate and left else "",
        ]


class Rate:
    """Comparisons a second, the recent ones counting most."""

    def __init__(self) -> None:
        self._started = self._moved = time.monotonic()
        self._recent = 0.0
        self._weight = 0.0

    def tick(self) -> None:
        """Count one."""
        self._age()
        self._recent += 1

    def value(self) -> float:
        """Return the rate; 0 before anything came."""
        self._age()
        return self._recent / self._weight if self._weight > 0 else 0.0

    def _age(self) -> None:
        now = time.monotonic()
        passed, self._moved = now - self._moved, now
        fading = 2 ** (-passed / RECENT)
        self._recent *= fading
        self._weight = self._weight * fading + passed


class PlainReport(Tally):
    """Writes a line at the end, and every `INTERVAL` seconds before it."""

    def __init__(self, title: str, total: int, kept: int, stream: TextIO) -> None:
        super().__init__(total, kept)
        self._title, self._stream = title, stream
        self._written = time.monotonic()

    def advance(self, outcome: str, spent: float | None = None) -> None:
        """Count one more comparison; see `Report.advance`."""
        super().advance(outcome, spent)
        self._write_in_time()

    def failed(self, error: TransientError) -> None:
        """Count one more try that gave no answer."""
        super().failed(error)
        self._write_in_time()

    def write(self) -> None:
        """Write how far the job has come."""
        self._written = time.monotonic()
        parts = [f"{self.done} of {self.total}", *filter(None, self.details())]
        print(f"{self._title}: {'; '.join(parts)}", file=self._stream, flush=True)

    def _write_in_time(self) -> None:
        if time.monotonic() - self._written >= INTERVAL:
            self.write()


class BarReport(Tally):
    """Moves a bar."""

    def __init__(self, bar: Progress, task: TaskID, total: int, kept: int) -> None:
        super().__init__(total, kept)
        self._bar, self._task = bar, task

    def advance(self, outcome: str, spent: float | None = None) -> None:
        """Count one more comparison; see `Report.advance`."""
        super().advance(outcome, spent)
        self._show()

    def failed(self, error: TransientError) -> None:
        """Count one more try that gave no answer."""
        super().failed(error)
        self._show()

    def _show(self) -> None:
        details = "; ".join(filter(None, self.details()))
        self._bar.update(self._task, completed=self.done, details=details)


@contextmanager
def report(title: str, total: int, kept: int = 0, stream: TextIO | None = None) -> Iterator[Report]:
    """Show the progress of a job.

    Parameters
    ----------
    title : str
        What is being done.
    total, kept : int
        Comparisons in all, and those that were answered before.
    stream : TextIO, optional
        Where to write; standard error unless given.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        plain = PlainReport(title, total, kept, stream)
        try:
            yield plain
        finally:
            plain.write()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[details]}"),
    )
    with Progress(*columns, console=Console(file=stream), refresh_per_second=4) as bar:
        task = bar.add_task(title, total=total, completed=kept, details="")
        yield BarReport(bar, task, total, kept)


def describe(counts: Counter[str]) -> str:
    """Write counts by outcome, the most frequent first: ``"first 210, second 190"``."""
    return ", ".join(f"{outcome} {n}" for outcome, n in counts.most_common())


def duration(seconds: float) -> str:
    """Write a duration in its two largest units: ``"2 h 5 min"``, ``"40 s"``."""
    whole = round(seconds)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    for large, small, names in (
        (days, hours, ("d", "h")),
        (hours, minutes, ("h", "min")),
        (minutes, whole % 60, ("min", "s")),
    ):
        if large:
            return f"{large} {names[0]} {small} {names[1]}"
    return f"{whole} s"
