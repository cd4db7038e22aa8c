"""The append-only log of every attempt to get an answer.

One line of JSON an attempt. A line is written in one piece as soon as the attempt is over, so that
killing the process loses nothing that was answered; batches of lines are forced to the disk.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from moralscale.attempts import Attempt, Head, decoded, read_head, short_key
from moralscale.errors import JournalError
from moralscale.standings import Standing, Standings
from moralscale.usage import Used

LOG = logging.getLogger(__name__)
#: Lines, and seconds, after which what was written is forced to the disk.
BATCH_LINES, BATCH_SECONDS = 64, 1.0
RESTORE = "restore the file from a copy, or move the line elsewhere and run again"


class Journal:
    """An open journal; made by `open_journal`.

    Attributes
    ----------
    path : Path
        The file.
    used : Used
        Tokens of all its attempts.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.used = Used()
        self._descriptor = descriptor
        self._unsynced = 0
        self._synced_at = time.monotonic()
        self._standings = Standings()
        for key, head in read_heads(path):
            self._note(key, head)

    def __len__(self) -> int:
        """Count the keys that have an answer."""
        return len(self._standings)

    def answered(self, key: str) -> Standing | None:
        """Return the standing of `key`; None where no answer came yet. Errors are no answers."""
        return self._standings.of(short_key(key))

    def append(self, attempt: Attempt) -> None:
        """Write one attempt.

        Raises
        ------
        JournalError
            The disk is full or the file cannot be written.
        """
        line = attempt.line()
        size = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            # Nothing may ever be appended to half a line.
            os.ftruncate(self._descriptor, size)
            what = f"cannot write: {error.strerror}"
            raise JournalError(what, where=str(self.path), mend="make room, run again") from None
        self._note(short_key(attempt.key), attempt.head())
        self._unsynced += 1
        if self._unsynced >= BATCH_LINES or time.monotonic() - self._synced_at > BATCH_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Force what was written to the disk; errors as of `append`."""
        if self._unsynced:
            with typed_faults(self.path):
                os.fsync(self._descriptor)
        self._unsynced, self._synced_at = 0, time.monotonic()

    def _note(self, key: bytes, head: Head) -> None:
        self.used.add(head)
        if head.answered:
            self._standings.note(key, head.standing)


@contextmanager
def open_journal(path: str | Path) -> Iterator[Journal]:
    """Open a journal for writing, alone, and repair a tail that a crash tore.

    Raises
    ------
    JournalError
        Another process is writing, a line is damaged, or the file cannot be opened.
    """
    path = Path(path)
    with _sole_writer(path):
        with typed_faults(path):
            _repair_tail(path)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            journal = Journal(path, descriptor)
            try:
                yield journal
            finally:
                journal.sync()
        finally:
            os.close(descriptor)


def read_attempts(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield every attempt of a journal, oldest first; an unfinished last line is left out.

    Raises
    ------
    JournalError
        A line is damaged, or the file cannot be read; names file and line.
    """
    for number, line in _lines(Path(path)):
        record = decoded(line)
        if record is None:
            raise _damaged(path, number)
        yield record


def read_heads(path: str | Path) -> Iterator[tuple[bytes, Head]]:
    """Yield short key and head of every attempt, without decoding the rest; errors as above."""
    for number, line in _lines(Path(path)):
        head = read_head(line)
        if head is None:
            raise _damaged(path, number)
        yield head


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with typed_faults(path):
        if not path.exists():
            return
    with typed_faults(path), path.open("rb", buffering=1 << 20) as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n"):
                yield number, line


def _damaged(path: str | Path, number: int) -> JournalError:
    where = f"{path}, line {number}"
    return JournalError("not a line of a journal", where=where, mend=RESTORE)


def _repair_tail(path: Path) -> None:
    """End the file with a whole line: add a missing newline, or move a torn line aside."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("r+b") as file:
        start, tail = _tail(file)
        if not tail:
            return
        if decoded(tail) is None:
            torn = path.with_name(path.name + ".torn")
            with torn.open("ab") as aside:
                aside.write(tail + b"\n")
                aside.flush()
                os.fsync(aside.fileno())
            file.truncate(start)
            LOG.warning("%s: the last line was torn; it is kept in %s", path, torn.name)
        else:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
        file.flush()
        os.fsync(file.fileno())


def _tail(file: Any) -> tuple[int, bytes]:
    """Where the unfinished last line starts, and its bytes."""
    end = file.seek(0, os.SEEK_END)
    start, tail, block = end, b"", 65536
    while start > 0 and b"\n" not in tail:
        start, block = max(0, start - block), 4 * block
        file.seek(start)
        tail = file.read(end - start)
    cut = tail.rfind(b"\n") + 1
    return start + cut, tail[cut:]


@contextmanager
def _sole_writer(path: Path) -> Iterator[None]:
    """Hold the journal's lock; the operating system lets go of it when the process ends."""
    with typed_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.with_name(path.name + ".lock").open("a+", encoding="ascii")
    with file:
        with typed_faults(path):
            _take(file, path)
        yield


def _take(file: TextIO, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        what = f"process {holder} is writing this journal"
        mend = "wait until it ends, or stop it"
        raise JournalError(what, where=str(path), mend=mend) from None
    file.truncate(0)
    file.write(f"{os.getpid()} on {os.uname().nodename}\n")
    file.flush()


@contextmanager
def typed_faults(path: Path) -> Iterator[None]:
    """Turn what the file system refuses into a `JournalError`."""
    try:
        yield
    except OSError as error:
        what = f"the journal cannot be used: {error.strerror or error}"
        mend = "make this file and its folder writable, or move what stands in their place"
        raise JournalError(what, where=str(error.filename or path), mend=mend) from None
