"""How far a long job has come: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

#: Seconds between plain lines.
INTERVAL = 60.0


class Report(Protocol):
    """Takes note of one finished comparison after another."""

    def advance(self, outcome: str) -> None:
        """Count one more comparison, which came to `outcome`."""
        ...


class PlainReport:
    """Writes a line at the end, and every `INTERVAL` seconds before it."""

    def __init__(self, title: str, total: int, done: int, stream: TextIO) -> None:
        self._title, self._total, self._done, self._stream = title, total, done, stream
        self._kept = done
        self._counts: Counter[str] = Counter()
        self._started = self._written = time.monotonic()

    def advance(self, outcome: str) -> None:
        """Count one more comparison, which came to `outcome`."""
        self._done += 1
        self._counts[outcome] += 1
        if time.monotonic() - self._written >= INTERVAL:
            self.write()

    def write(self) -> None:
        """Write how far the job has come."""
        self._written = time.monotonic()
        asked = self._done - self._kept
        rate = asked / max(self._written - self._started, 1e-9)
        parts = [f"{self._done} of {self._total}", describe(self._counts)]
        if self._kept:
            parts.append(f"{self._kept} from the journal")
        if asked:
            parts.append(f"{rate:.3g} a second")
        print(f"{self._title}: {'; '.join(filter(None, parts))}", file=self._stream, flush=True)


class BarReport:
    """Moves a bar."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task
        self._counts: Counter[str] = Counter()

    def advance(self, outcome: str) -> None:
        """Count one more comparison, which came to `outcome`."""
        self._counts[outcome] += 1
        self._bar.update(self._task, advance=1, outcomes=describe(self._counts))


@contextmanager
def report(title: str, total: int, done: int = 0, stream: TextIO | None = None) -> Iterator[Report]:
    """Show the progress of a job.

    Parameters
    ----------
    title : str
        What is being done.
    total, done : int
        Comparisons in all, and those that were answered before.
    stream : TextIO, optional
        Where to write; standard error unless given.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        plain = PlainReport(title, total, done, stream)
        try:
            yield plain
        finally:
            plain.write()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[outcomes]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=stream)) as bar:
        yield BarReport(bar, bar.add_task(title, total=total, completed=done, outcomes=""))


def describe(counts: Counter[str]) -> str:
    """Write counts by outcome, the most frequent first: ``"first 210, second 190"``."""
    return ", ".join(f"{outcome} {n}" for outcome, n in counts.most_common())
