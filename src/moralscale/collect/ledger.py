"""Which batches are under way: written down before they are handed in, so that none is lost."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from moralscale.errors import JournalError
from moralscale.providers.batch import NONCE_DIGITS


@dataclass(frozen=True, slots=True)
class Part:
    """One batch of questions.

    Attributes
    ----------
    nonce : str
        What the ids of its questions end with.
    count : int
        How many questions it has.
    budget : int
        As in `Attempt`, the same for all its questions.
    time : float
        When it was made, Unix time.
    batch_id : str
        The provider's id; empty until it is known.
    done : bool
        Whether its answers are in the journal, or it is known to be lost.
    """

    nonce: str
    count: int
    budget: int
    time: float
    batch_id: str = ""
    done: bool = False


class Ledger:
    """The batches of one judge, in a file beside its journal.

    It is appended to line by line, the last one of a part counts, and each is on the disk before
    anything is sent. The lock of the journal guards it.

    Parameters
    ----------
    journal_path : path
        The judge's journal, open.

    Attributes
    ----------
    ids : set of str
        Ids of all batches that a part was ever taken for.

    Raises
    ------
    JournalError
        A line is damaged, or the file cannot be read.
    """

    def __init__(self, journal_path: Path) -> None:
        self.path = journal_path.with_name(journal_path.name + ".batches")
        self._parts: dict[str, Part] = {}
        self.ids: set[str] = set()
        content = b""
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
            # What a crash tore was not sent.
            if not content.endswith(b"\n") and content:
                content = content[: content.rfind(b"\n") + 1]
                os.truncate(self.path, len(content))
        except OSError as error:
            raise self._unusable(error) from None
        for number, line in enumerate(content.splitlines(), start=1):
            part = _part(line, f"{self.path}, line {number}")
            self._note(part)

    def _note(self, part: Part) -> None:
        self._parts[part.nonce] = part
        self.ids.add(part.batch_id)

    def open_parts(self) -> list[Part]:
        """Return the parts whose answers are not all fetched, oldest first."""
        return [part for part in self._parts.values() if not part.done]

    def plan(self, count: int, budget: int) -> Part:
        """Write down that a part will be handed in."""
        nonce = secrets.token_hex(NONCE_DIGITS // 2)
        return self._write(Part(nonce, count, budget, time.time()))

    def handed_in(self, part: Part, batch_id: str) -> Part:
        """Write down the provider's id of a part."""
        return self._write(replace(part, batch_id=batch_id))

    def close(self, part: Part) -> None:
        """Write down that nothing more is to come of a part."""
        self._write(replace(part, done=True))

    def _write(self, part: Part) -> Part:
        line = json.dumps(asdict(part), separators=(",", ":")).encode() + b"\n"
        try:
            with self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unusable(error) from None
        self._note(part)
        return part

    def _unusable(self, error: OSError) -> JournalError:
        what = f"the list of batches cannot be used: {error.strerror or error}"
        return JournalError(what, where=str(self.path), mend="make it and its folder writable")


def _part(line: bytes, where: str) -> Part:
    try:
        record: Mapping[str, Any] = json.loads(line)
        return Part(**record)
    except (ValueError, TypeError):
        mend = "restore the file from a copy, or remove the line: its batch is then asked again"
        raise JournalError("not a line of a list of batches", where=where, mend=mend) from None
