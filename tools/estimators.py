"""Write the numbers of docs/estimators.md from the tables of an audit.

python tools/estimators.py [results/audit/tables]
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from generate import ROOT, between_markers


def main() -> None:
    """Replace the generated block of the page."""
    tables = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "results/audit/tables")
    page = ROOT / "docs/estimators.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(between_markers(text, "audit", block(tables)), encoding="utf-8")
    print(f"{page.relative_to(ROOT)} from {tables}")


def block(tables: Path) -> str:
    """Return the findings as Markdown tables, each with the rows that it shows."""
    audit = pd.read_csv(tables / "audit.csv")
    sensitivity = pd.read_csv(tables / "sensitivity.csv")
    alarms = pd.read_csv(tables / "false_alarms.csv")
    beta = audit[audit["target"] == "beta"]
    columns = ["estimator", "bridge", "true_beta", "composite_consistency", "battles_per_item"]
    columns += ["replicates", "mean", "bias", "rmse", "coverage", "failures"]
    by_beta = ["estimator", "bridge", "battles_per_item", "by_beta", "by_beta_se", "replicates"]
    plain = sensitivity[sensitivity["composite_consistency"] == 1]
    return "\n\n".join(
        [
            "`sensitivity.csv`, consistency 1:\n\n" + markdown(plain[by_beta]),
            "`audit.csv`, beta:\n\n" + markdown(beta[columns]),
            "`false_alarms.csv`, Elo:\n\n" + markdown(alarms),
        ]
    )


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    rows = [[cell(value) for value in row] for row in table.itertuples(index=False)]
    lines = [list(table.columns), ["---"] * table.shape[1], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(value: object) -> str:
    """Write a value: floats to three digits behind the point, missing ones as nothing."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


if __name__ == "__main__":
    main()
