"""The HTML report of a run."""

from __future__ import annotations

from moralscale.report.inputs import ReportFigure, ReportInputs
from moralscale.report.page import build_report
from moralscale.report.reading import read_inputs

__all__ = ["ReportFigure", "ReportInputs", "build_report", "read_inputs"]
