"""Typed errors: what was wrong, where, and how to mend it.

::

    MoralscaleError
    ├── ConfigError        a configuration, prior or prompt file
    ├── SceneError         the corpus of scenes
    ├── DesignError        a schedule that cannot be made
    ├── JournalError       the append-only log of attempts, or its lock
    ├── ProviderError      an answer that did not come
    │   ├── TransientError     worth asking again
    │   └── PermanentError     asking again cannot help; stops the judge's job
    ├── BudgetError        the money that was set aside is spent
    ├── UnansweredError    comparisons stayed without an answer
    ├── JudgmentError      a table of judgments
    ├── ModelError         data and model do not fit each other
    │   └── UnboundedError     maximum likelihood has no finite estimate
    ├── GateError          a fit that did not pass its checks
    └── ProvenanceError    files that are not what their manifest says

The command line prints any of these in a line or two and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class MoralscaleError(Exception):
    """Base of every error that a user can mend.

    Parameters
    ----------
    what : str
        What was wrong, as a clause: ``"unknown foundation 'caer'"``.
    where : str, optional
        File, row, column or key: ``"scenarios/scenes.csv, row 12, column foundation"``.
    mend : str, optional
        How to mend it: ``"use one of care, fairness, ..."``.
    """

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what, self.where, self.mend = what, where, mend
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        mend = f"; {self.mend}" if self.mend else ""
        return on_one_line(f"{place}{self.what}{mend}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.what, self.where, self.mend)


def _rebuild(cls: type[MoralscaleError], what: str, where: str, mend: str) -> MoralscaleError:
    return cls(what, where=where, mend=mend)


class ConfigError(MoralscaleError):
    """A configuration, prior or prompt file is not valid."""


class SceneError(MoralscaleError):
    """The corpus of scenes is not valid."""


class DesignError(MoralscaleError):
    """A schedule with the wanted properties cannot be made."""


class JournalError(MoralscaleError):
    """The journal of attempts cannot be used."""


class ProviderError(MoralscaleError):
    """A provider gave no answer."""


class TransientError(ProviderError):
    """Worth asking again: time-outs, rate limits, server errors.

    Parameters
    ----------
    what, where, mend : str
        As in `MoralscaleError`.
    retry_after : float, optional
        Seconds to wait before asking again, where the provider said so.
    rate_limited : bool
        Whether the provider asks for fewer requests, which a mere fault of its does not.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        mend: str = "",
        retry_after: float | None = None,
        rate_limited: bool = False,
    ) -> None:
        super().__init__(what, where=where, mend=mend)
        self.retry_after, self.rate_limited = retry_after, rate_limited


class PermanentError(ProviderError):
    """Asking again cannot help: bad request, missing key, spent quota."""


class BudgetError(MoralscaleError):
    """The money that was set aside is spent; what was answered is kept."""


class UnansweredError(MoralscaleError):
    """More comparisons than allowed stayed without an answer; what was answered is kept."""


class JudgmentError(MoralscaleError):
    """A table of judgments is not valid."""


class ModelError(MoralscaleError):
    """Data and model do not fit each other."""


class UnboundedError(ModelError):
    """Maximum likelihood has no finite estimate: disconnected or separated data."""


class GateError(MoralscaleError):
    """A fit did not pass the checks that gate it."""


class ProvenanceError(MoralscaleError):
    """Files are not what their manifest says, or there is no manifest."""


def on_one_line(text: str) -> str:
    """Escape what would break a line, or drive a terminal: values in messages are others' words."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, most: int = 80) -> str:
    """Cut a value that is too long for a message."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def suggestion(name: str, known: Iterable[str]) -> str:
    """Name the mend for a misspelt name: the nearest known one, or all of them.

    Examples
    --------
    >>> suggestion("caer", ["care", "fairness"])
    "did you mean 'care'?"
    """
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"use one of {', '.join(known)}" if known else "there are none yet"
