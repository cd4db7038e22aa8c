"""Whether the chains agree, with enough independent draws, on everything reported."""

from __future__ import annotations

import pandas as pd

from moralscale.checks.result import CheckResult
from moralscale.config import Gates


def check_convergence(estimates: pd.DataFrame, gates: Gates) -> CheckResult:
    """Check R-hat and effective sample sizes of every reported quantity.

    Parameters
    ----------
    estimates : DataFrame
        Columns quantity, index, rhat, ess_bulk, ess_tail.
    gates : Gates
        Bounds ``rhat`` (largest) and ``ess`` (smallest, bulk and tail).
    """
    tested = estimates.dropna(subset=["rhat"])
    rows = []
    for column, bound, largest in (
        ("rhat", gates.rhat, True),
        ("ess_bulk", gates.ess, False),
        ("ess_tail", gates.ess, False),
    ):
        at = int(tested[column].argmax() if largest else tested[column].argmin())
        worst = tested.iloc[at]
        value = float(worst[column])
        passed = value <= bound if largest else value >= bound
        label = f"{worst['quantity']} {worst['index']}".strip()
        extreme, sign = ("largest", "<=") if largest else ("smallest", ">=")
        text = (
            f"{extreme} {column} of {len(tested)} is {value:.4g} ({label}; bound {sign} {bound:g})"
        )
        rows.append((column, value, bound, passed, text))
    return CheckResult.of("convergence", rows)
