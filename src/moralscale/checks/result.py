"""What a check says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class CheckResult:
    """Outcome of one check.

    Attributes
    ----------
    name : str
        The check.
    passed : bool
        Whether every row passed.
    table : DataFrame
        One row a tested value: quantity, value, bound, passed, text.
    text : str
        One line for people.
    """

    name: str
    passed: bool
    table: pd.DataFrame
    text: str

    @classmethod
    def of(cls, name: str, rows: Sequence[tuple[str, float, float, bool, str]]) -> CheckResult:
        """Make a result of rows (quantity, value, bound, passed, text)."""
        table = pd.DataFrame(rows, columns=["quantity", "value", "bound", "passed", "text"])
        table["passed"] = table["passed"].astype(bool)
        failed = table[~table["passed"]]
        text = "; ".join(failed["text"]) if len(failed) else f"{name}: {len(table)} passed"
        return cls(name, not len(failed), table, text)
