"""Write the numbers of docs/estimators.md and docs/laplace.md from the tables of an audit.

python tools/estimators.py [results]

The block ``audit`` comes from ``results/audit/tables`` (the default run), ``audit-full`` and
``laplace`` from ``results/audit-full/tables`` (``snakemake audit``); one whose tables are not there
is left as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from generate import ROOT, between_markers

ESTIMATORS = ["elo", "elo_averaged", "mle", "mle_split_half", "joint_laplace", "joint_nuts"]
#: The middle of a grid, around which settings vary.
MIDDLE = {"true_beta": 0.862, "composite_consistency": 1.0, "battles_per_item": 15}


def main() -> None:
    """Replace the generated blocks of the pages."""
    results = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "results")
    for page, block, audit, write in (
        ("estimators", "audit", "audit", small),
        ("estimators", "audit-full", "audit-full", full),
        ("laplace", "laplace", "audit-full", sampled),
    ):
        tables, path = results / audit / "tables", ROOT / f"docs/{page}.md"
        if (tables / "audit.csv").exists():
            text = path.read_text(encoding="utf-8")
            path.write_text(between_markers(text, block, write(tables)), encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: {block} from {tables}")


def small(tables: Path) -> str:
    """Return how estimates follow the truth, from the default run."""
    audit, sensitivity = (pd.read_csv(tables / f"{name}.csv") for name in ("audit", "sensitivity"))
    return "\n\n".join(
        [
            titled("Change of the estimate with true beta (`sensitivity.csv`, `by_beta`)")
            + following(sensitivity),
            titled("Mean estimate of beta, true beta 0.862 (`audit.csv`, `mean`)")
            + confounding(audit),
        ]
    )


def full(tables: Path) -> str:
    """Return what follows the truth, errors and alarms at the study's size, from the whole grid."""
    audit, sensitivity, alarms = (
        pd.read_csv(tables / f"{name}.csv") for name in ("audit", "sensitivity", "false_alarms")
    )
    short = sensitivity[~sensitivity["bridge"] | (sensitivity["battles_per_item"] == 15)]
    return "\n\n".join(
        [
            titled("Change of the estimate with true beta (`sensitivity.csv`, `by_beta`)")
            + following(short),
            titled("Errors of beta, true beta 0.862, consistency 1 (`audit.csv`)") + errors(audit),
            titled(
                "Share of replicates whose 94% interval leaves zero out, and mean estimate in Elo "
                "(`false_alarms.csv`, `alarms`, `mean`)"
            )
            + alarmed(alarms),
        ]
    )


def sampled(tables: Path) -> str:
    """Return Laplace against NUTS."""
    rows = pd.read_csv(tables / "laplace.csv")
    rows["value"] = [
        f"{shift:+.2f}; {width:.2f}"
        for shift, width in zip(rows["shift"], rows["width_ratio"], strict=True)
    ]
    rows["column"] = [f"{judges} judges" for judges in rows["judges"]]
    rows["bridge"] = rows["bridge"].map({True: "yes", False: "no"})
    order = rows.sort_values("judges")["column"].unique()
    wide = rows.pivot(index=["target", "bridge"], columns="column", values="value")[order]
    title = (
        "Laplace against NUTS on the same judgments, two replicates each: shift in posterior sds, "
        "and width over that of NUTS (`laplace.csv`, `shift`, `width_ratio`)"
    )
    return titled(title) + markdown(wide.reset_index())


def following(sensitivity: pd.DataFrame) -> str:
    """Set out sensitivities by battles per item and bridge."""
    rows = sensitivity[sensitivity["composite_consistency"] == 1].copy()
    rows["value"] = [
        f"{slope:.3f} ± {se:.3f}"
        for slope, se in zip(rows["by_beta"], rows["by_beta_se"], strict=True)
    ]
    rows["column"] = [
        f"{battles} battles" + (", bridge" if bridge else "")
        for battles, bridge in zip(rows["battles_per_item"], rows["bridge"], strict=True)
    ]
    order = rows.sort_values(["bridge", "battles_per_item"])["column"].unique()
    return by_estimator(rows, list(order))


def confounding(audit: pd.DataFrame) -> str:
    """Set out estimates by consistency on composites and bridge; of the joint one both targets."""
    kept = audit["target"].isin(["beta", "consistency"])
    rows = audit[kept & (audit["true_beta"] == MIDDLE["true_beta"])]
    rows = rows[(rows["battles_per_item"] == 15) & (rows["choice_noise"] == 1)]
    rows = rows[rows["judges"] == rows["judges"].value_counts().index[0]].copy()
    told = rows["target"] == "consistency"
    rows.loc[told, "estimator"] += ": consistency"
    rows["value"] = rows["mean"].map("{:.2f}".format)
    rows["column"] = [
        f"consistency {consistency:g}" + (", bridge" if bridge else "")
        for consistency, bridge in zip(rows["composite_consistency"], rows["bridge"], strict=True)
    ]
    order = rows.sort_values(["bridge", "composite_consistency"], ascending=[True, False])
    return by_estimator(rows, list(order["column"].unique()))


def errors(audit: pd.DataFrame) -> str:
    """Set out bias, RMSE and coverage in the middle of the grid, of its largest panel."""
    rows = audit[(audit["target"] == "beta") & (audit["choice_noise"] == 1)]
    for name, value in (MIDDLE | {"judges": audit["judges"].max()}).items():
        rows = rows[rows[name] == value]
    columns = ["estimator", "bridge", "replicates", "bias", "sd", "rmse", "width"]
    table = rows[[*columns, "coverage", "failures"]].copy()
    table["bridge"] = table["bridge"].map({True: "yes", False: "no"})
    table["place"] = table["estimator"].map(ESTIMATORS.index)
    return markdown(table.sort_values(["bridge", "place"]).drop(columns="place"))


def alarmed(alarms: pd.DataFrame) -> str:
    """Set out alarms by what is planted and by labels."""
    rows = alarms.dropna(subset="alarms").copy()
    rows["value"] = [
        f"{share:.0%}; {mean:.0f}" for share, mean in zip(rows["alarms"], rows["mean"], strict=True)
    ]
    rows["column"] = [
        f"{target} {planted:g}" + (f", {flips:.0%} of labels wrong" if flips else "")
        for target, planted, flips in zip(
            rows["target"], rows["planted"], rows["flips"], strict=True
        )
    ]
    order = rows.sort_values(["target", "planted", "flips"])["column"].unique()
    return by_estimator(rows, list(order))


def by_estimator(rows: pd.DataFrame, columns: list[str]) -> str:
    """Return a table with a row an estimator, from columns estimator, column and value."""
    wide = rows.pivot(index="estimator", columns="column", values="value")[columns].fillna("")
    known = [name for name in ESTIMATORS if name in wide.index]
    others = [name for name in wide.index if name not in known]
    return markdown(wide.loc[[*known, *others]].reset_index())


def titled(text: str) -> str:
    """Return a line above a table."""
    return f"{text}:\n\n"


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    rows = [[cell(value) for value in row] for row in table.itertuples(index=False)]
    lines = [list(map(str, table.columns)), ["---"] * table.shape[1], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(value: object) -> str:
    """Write a value: floats to three digits behind the point, missing ones as nothing."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


if __name__ == "__main__":
    main()
