"""What a report is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from moralscale.records import Origin

#: The columns that name a fit.
FIT = ["data", "rule", "prior"]


class ReportFigure(NamedTuple):
    """A figure for the page.

    Attributes
    ----------
    name, caption : str
        Figures of one name stand side by side, under the first one's caption.
    png : Path
        The picture.
    data : str
        ``"study"`` or ``"bridged"``; empty for figures across data sets.
    """

    name: str
    caption: str
    png: Path
    data: str = ""


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """One run's tables, figures and provenance.

    Attributes
    ----------
    run : str
        Name of the run.
    origin : Origin
        Where the judgments come from.
    estimates : DataFrame
        `summaries.summarise` of every fit, with leading columns data, rule, prior.
    published : DataFrame
        analysis, quantity, index, unit, published, data, mean, hdi_low, hdi_high.
    outcomes : DataFrame
        judge, arena, planned, answered, one column an outcome, valid
        (`judgments.count_outcomes`).
    checks : DataFrame
        data, rule, prior, check, quantity, value, bound, passed, text.
    recovery : DataFrame or None
        data, rule, prior, quantity, index, unit, truth, mean, hdi_low, hdi_high, covered; None
        where nothing was planted.
    study : DataFrame or None
        `study.study_table`.
    figures : tuple of ReportFigure
    provenance : mapping
        Versions, seeds, digests: nested mappings of plain values.
    panel : str
        Name of the simulated panel.
    ci_prob : float
        Probability inside the intervals.
    ci_kind : str
        Kind of the intervals, ``"hdi"`` or ``"eti"``.
    """

    run: str
    origin: Origin
    estimates: pd.DataFrame
    published: pd.DataFrame
    outcomes: pd.DataFrame
    checks: pd.DataFrame
    recovery: pd.DataFrame | None = None
    study: pd.DataFrame | None = None
    figures: tuple[ReportFigure, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    panel: str = ""
    ci_prob: float = 0.94
    ci_kind: str = "hdi"
