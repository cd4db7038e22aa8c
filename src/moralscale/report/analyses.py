"""The study's four analyses: what each asks, its figures, and all estimators side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from moralscale.estimands import NO_ANCHORING
from moralscale.report.tables import Table, by_estimator
from moralscale.study import ANALYSES


@dataclass(frozen=True)
class Analysis:
    """One analysis on the page; `table` is None where no estimator has anything to say."""

    title: str
    question: str
    figures: tuple[str, ...]
    table: Table | None


#: What each analysis asks, the quantities that answer it, and its figures.
_CONTENT: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "compressed composition": (
            "Does the strength of a composite grow as fast as the sum of its parts? A slope of 1 "
            "is adding, below 1 is discounting.",
            ("slope", "r_squared"),
            ("composites", "beta", "slopes", "identification"),
        ),
        "foundation residuals": (
            "Do composites that hold an act of one foundation lie above or below the line, "
            "whatever their parts weigh alone?",
            ("foundation_residual",),
            ("foundation_residuals",),
        ),
        "intensity anchoring": (
            "Is a strong good act with a mild bad one (+2/-1) put above two mild good ones "
            "(+1/+1)? The raw contrast mixes how acts combine with what they weigh alone; at equal "
            "component sum it does not.",
            (
                *("intensity_mean", "anchoring", "anchoring_components"),
                "anchoring_adjusted",
            ),
            ("intensity_sums",),
        ),
        "convergence between judges": (
            "Do judges agree on composites? The mean correlation of their strengths.",
            ("convergence",),
            ("convergence",),
        ),
    }
)


def analyses(study: pd.DataFrame | None) -> list[Analysis]:
    """Set out the four analyses.

    Parameters
    ----------
    study : DataFrame or None
        `study.study_table`.
    """
    found = []
    for title in ANALYSES:
        question, quantities, figures = _CONTENT[title]
        table = None if study is None else by_estimator(study, quantities)
        contrast = study is None or "anchoring" in set(study["quantity"])
        if title == "intensity anchoring" and not contrast:
            question = f"{question} {NO_ANCHORING}"
        found.append(Analysis(title, question, figures, table if table and table.rows else None))
    return found
