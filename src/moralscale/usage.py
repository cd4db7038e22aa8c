"""Tokens that the attempts of a journal used, summed by what they are billed as."""

from __future__ import annotations

from collections.abc import Iterator

from moralscale.attempts import Head
from moralscale.records import Usage


class Used:
    """Sums of tokens by model and transport.

    Attributes
    ----------
    answers : int
        Attempts that used any.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], list[int]] = {}
        self.answers = 0

    def add(self, head: Head) -> None:
        """Add what one attempt used."""
        if not any(head.usage):
            return
        self.answers += 1
        sums = self._sums.setdefault((head.model, head.transport), [0, 0, 0])
        for n, count in enumerate(head.usage):
            sums[n] += count

    def __iter__(self) -> Iterator[tuple[str, str, Usage]]:
        """Give model, transport and tokens."""
        for (model, transport), sums in self._sums.items():
            yield model, transport, Usage(*sums)
