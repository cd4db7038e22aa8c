"""Which questions have an answer: an index of a journal that stays small at a million answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Answers that are sorted into the index at once.
FRESH = 65_536


class Standing(NamedTuple):
    """How far the answer under a key has come."""

    budget: int
    again: bool


PLAIN = Standing(1, False)


class Standings:
    """Standing of the answer under each key (`attempts.short_key`).

    Most answers came at the first budget and stand: of those only the keys are kept, sorted, 16
    bytes each. The others, and the newest, are in dictionaries.
    """

    def __init__(self) -> None:
        self._sorted = np.empty(0, dtype="S16")
        self._fresh: set[bytes] = set()
        self._other: dict[bytes, Standing] = {}

    def __len__(self) -> int:
        """Count the keys that have an answer."""
        self._sort()
        return len(self._sorted) + sum(not self._is_sorted(key) for key in self._other)

    def of(self, key: bytes) -> Standing | None:
        """Return the standing of `key`; None where no answer came yet."""
        if key in self._other:
            return self._other[key]
        return PLAIN if key in self._fresh or self._is_sorted(key) else None

    def note(self, key: bytes, standing: Standing) -> None:
        """Take note of an answer; the last one under a key counts."""
        if standing != PLAIN or key in self._other:
            self._other[key] = standing
            return
        self._fresh.add(key)
        if len(self._fresh) >= max(FRESH, len(self._sorted) // 8):
            self._sort()

    def _is_sorted(self, key: bytes) -> bool:
        place = int(self._sorted.searchsorted(key))
        # What comes out of the array has lost its last bytes if they are 0.
        return place < len(self._sorted) and bytes(self._sorted[place]).ljust(16, b"\0") == key

    def _sort(self) -> None:
        if not self._fresh:
            return
        fresh = np.frombuffer(b"".join(self._fresh), dtype="S16")
        self._fresh.clear()
        self._sorted = np.concatenate([self._sorted, fresh])
        self._sorted.sort()
        twice = self._sorted[1:] == self._sorted[:-1]
        if twice.any():
            self._sorted = np.delete(self._sorted, np.flatnonzero(twice))
