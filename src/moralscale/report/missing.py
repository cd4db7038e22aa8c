"""What the report says of answers that are no verdict."""

from __future__ import annotations

import pandas as pd

from moralscale.report.tables import Table


def dependence(tests: pd.DataFrame | None) -> Table | None:
    """Say for every judge whether what is missing depends on what the acts are.

    Parameters
    ----------
    tests : DataFrame or None
        As `missingness.content_tests` returns it.

    Returns
    -------
    Table or None
        One row a test, smallest adjusted p-value first; None where there was nothing to test.
    """
    if tests is None or tests["p_value"].isna().all():
        return None
    tested = tests[tests["p_value"].notna()].sort_values("p_adjusted", kind="stable")
    rows = [
        [
            str(row["judge"]),
            str(row["kind"]),
            str(row["content"]),
            f"{row['events']:,} of {row['answered']:,}",
            str(row["level"]),
            f"{_percent(row['share_with'])} against {_percent(row['share_without'])}",
            _p(row["p_value"]),
            _p(row["p_adjusted"]),
        ]
        for _, row in tested.iterrows()
    ]
    headers = ["judge", "what", "depends on", "how many", "most with", "there and elsewhere"]
    return Table([*headers, "p", "p, adjusted"], rows, 3)


def found(tests: pd.DataFrame | None, level: float = 0.05) -> bool:
    """Whether any adjusted p-value lies below `level`."""
    return tests is not None and bool((tests["p_adjusted"] < level).any())


def _percent(share: float) -> str:
    return "-" if pd.isna(share) else f"{share:.1%}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
