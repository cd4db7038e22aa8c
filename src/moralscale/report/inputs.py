"""What a report is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from moralscale.config import Reporting
from moralscale.records import Origin

#: The columns that name a fit.
FIT = ["data", "rule", "prior"]

#: Tables that a run has only where somebody asked for them: of the run, and of the audit.
OF_TARGETS = ("comparison", "sensitivity_verdicts", "sensitivity", "power_scaling")
OF_AUDIT = ("audit", "sensitivity", "false_alarms")


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
    missingness_test : DataFrame or None
        As `missingness.content_tests` returns it; None where no comparison is missing.
    scenes, composites : DataFrame or None
        ``tables/scenes.csv`` and ``tables/composites.csv``: estimates with what each one is.
    by_judge : DataFrame or None
        data, rule, prior, then as `contestants.composites_by_judge` returns it.
    further : mapping
        What has targets of its own, as far as it was made: tables by name (`OF_TARGETS`; those
        of `OF_AUDIT` as ``audit/NAME``).
    figures : tuple of ReportFigure
    provenance : mapping
        Versions, seeds, digests: nested mappings of plain values.
    panel : str
        Name of the simulated panel.
    reporting : Reporting
        Kind and probability of the intervals.
    ties : bool
        Whether ties enter the fits.
    """

    run: str
    origin: Origin
    estimates: pd.DataFrame
    published: pd.DataFrame
    outcomes: pd.DataFrame
    checks: pd.DataFrame
    recovery: pd.DataFrame | None = None
    study: pd.DataFrame | None = None
    missingness_test: pd.DataFrame | None = None
    scenes: pd.DataFrame | None = None
    composites: pd.DataFrame | None = None
    by_judge: pd.DataFrame | None = None
    further: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: tuple[ReportFigure, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    panel: str = ""
    reporting: Reporting = field(default_factory=Reporting)
    ties: bool = False
