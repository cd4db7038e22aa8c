"""How what was found is told and drawn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from moralscale.config.section import Interval, Section


class Reporting(Section):
    """How posteriors are put into words and numbers."""

    ci_prob: float = Field(0.94, gt=0, lt=1, description="Probability inside reported intervals.")
    ci_kind: Literal["hdi", "eti"] = Field(
        "hdi", description="Highest-density or equal-tailed intervals."
    )
    rope_beta: Interval = Field(
        (0.95, 1.05),
        description="Slopes inside this region count as additive for all practical purposes.",
    )
    rope_elo: Interval = Field(
        (-5.0, 5.0), description="Elo differences inside this region count as none."
    )

    @property
    def interval_name(self) -> str:
        """Name of the intervals, for headers and legends: ``"94% HDI"``."""
        return f"{self.ci_prob:.0%} {self.ci_kind.upper()}"


class FigureWidths(Section):
    """Widths of figures, inches: those of a journal's page."""

    column: float = Field(3.5, ge=3, le=7.5, description="Figures of a single column.")
    wide: float = Field(5.0, ge=4, le=7.5, description="Figures of one and a half columns.")
    page: float = Field(7.2, ge=5.5, le=7.5, description="Figures of the full page.")
