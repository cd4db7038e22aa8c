"""What questions are put to a judge with, one by one or in batches."""

from __future__ import annotations

from dataclasses import dataclass

from moralscale.collect.money import Purse
from moralscale.collect.pace import Pace
from moralscale.collect.progress import Report
from moralscale.journal import Journal


@dataclass(frozen=True, slots=True)
class Means:
    """A judge's journal, and the bounds that asking keeps.

    Attributes
    ----------
    journal : Journal
        The judge's journal, open.
    pace : Pace
        How fast to ask, and how stubbornly.
    purse : Purse
        The money for it.
    report : Report
        Takes note of every answer.
    """

    journal: Journal
    pace: Pace
    purse: Purse
    report: Report
