"""The whole configuration."""

from __future__ import annotations

from pydantic import Field

from moralscale.config.design import Design
from moralscale.config.estimators import FULL_AUDIT, Audit, TwoStep
from moralscale.config.fits import Fits, Gates, Observation, Sampler
from moralscale.config.outputs import FigureWidths, Reporting
from moralscale.config.panel import Panel
from moralscale.config.run import Run
from moralscale.config.section import Language, Name, Section
from moralscale.config.targets import Calibration, Comparing, Sensitivity


class Config(Section):
    """The whole configuration of a workflow run."""

    runs: dict[Name, Run] = Field(min_length=1, description="The panels to judge, by run name.")
    seed: int = Field(20260611, ge=0, lt=2**63, description="Seed of everything random.")
    scenes: str = Field(
        "scenarios/scenes.csv",
        description="The corpus. Foundations and intensities are those that it has "
        "(docs/corpora.md).",
    )
    language: Language = Field(
        "en", description="Language of the corpus, which every prompt must be in."
    )
    judges_file: str = Field("config/judges.yaml", description="Where real judges are described.")
    prices_file: str = Field("config/prices.yaml", description="What tokens cost.")
    panels: dict[Name, Panel] = Field(default={}, description="Simulated panels, by name.")
    design: Design = Field(Design(), description="What is asked.")
    fits: Fits = Field(Fits(), description="Which fits are made.")
    model: Observation = Field(
        Observation(), description="How judgments follow from strengths, in every fit."
    )
    sampler: Sampler = Field(Sampler(), description="How the posterior is sampled.")
    twostep: TwoStep = Field(TwoStep(), description="The study's own estimators.")
    reporting: Reporting = Field(Reporting(), description="Intervals and regions of no effect.")
    figures: FigureWidths = Field(FigureWidths(), description="Widths of figures, inches.")
    gates: Gates = Field(Gates(), description="Bounds that a fit must keep.")
    compare: Comparing = Field(
        Comparing(), description="Which rules `snakemake compare` sets side by side."
    )
    calibration: Calibration = Field(Calibration(), description="Sizes of `snakemake calibration`.")
    sensitivity: Sensitivity = Field(
        Sensitivity(), description="What a sensitivity analysis exchanges."
    )
    audit: Audit = Field(Audit(), description="Grid of the audit in the default run.")
    audit_full: Audit = Field(FULL_AUDIT, description="Grid of the audit of `snakemake audit`.")

    def scenes_of(self, run: str) -> str:
        """Path of the corpus of `run`."""
        return self.runs[run].scenes or self.scenes

    def language_of(self, run: str) -> str:
        """Language of the corpus and of the prompts of `run`."""
        return self.runs[run].language or self.language

    def prompts_of(self, run: str) -> tuple[str, ...]:
        """Names of the prompt templates of `run`."""
        return self.runs[run].prompts or self.design.prompts

    def judge_names(self, run: str) -> tuple[str, ...]:
        """Names of the judges of `run`; none where its file of judgments names them."""
        source = self.runs[run]
        if source.panel is not None:
            judges = self.panels[source.panel].judges
            return tuple(f"simulated-{i:02d}" for i in range(1, judges + 1))
        return source.judges
