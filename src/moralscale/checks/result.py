"""What a check says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

#: Columns of a check's table.
COLUMNS = ("quantity", "value", "bound", "passed", "text")


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
    warning : bool
        Whether the check only warns: what it found does not stop a run.
    """

    name: str
    passed: bool
    table: pd.DataFrame
    text: str
    warning: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        rows: Sequence[tuple[str, float, float, bool, str]],
        *,
        warning: bool = False,
    ) -> CheckResult:
        """Make a result of rows (quantity, value, bound, passed, text)."""
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table["passed"] = table["passed"].astype(bool)
        failed = table[~table["passed"]]
        text = "; ".join(failed["text"]) if len(failed) else f"{name}: {len(table)} passed"
        return cls(name, not len(failed), table, text, warning)
