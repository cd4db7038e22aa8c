"""What has a target of its own: `snakemake compare`, `calibration` and `sensitivity`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from moralscale.config.design import JudgmentCounts
from moralscale.config.fits import Gates, Sampler
from moralscale.config.section import Name, Names, Positive, Section, distinct


class Comparing(Section):
    """Which composition rules `snakemake compare` sets side by side, and how."""

    data: Literal["study", "bridged"] = Field("bridged", description="Arenas of the fits.")
    rules: Names = Field(
        ("compressed", "additive"),
        min_length=2,
        description="Composition rules (docs/model.md).",
    )
    prior: Name = Field("default", description="Prior file under config/priors.")
    draws: int = Field(
        1000, ge=100, le=1_000_000, description="Draws of each fit that PSIS-LOO reads."
    )
    folds: int = Field(
        5, ge=0, le=50, description="Folds of profiles that are held out; 0 for none."
    )
    sampler: Sampler = Field(
        Sampler(chains=2, tune=500, draws=500, thin=1),
        description="Sampler of the fits to folds, shorter than that of the fits.",
    )


class Calibration(Section):
    """How `snakemake calibration` simulates and fits (docs/calibration.md)."""

    recovery: int = Field(
        120, ge=1, le=100_000, description="Simulated data sets for recovery with coverage."
    )
    ranks: int = Field(
        120, ge=1, le=100_000, description="Simulated data sets for simulation-based calibration."
    )
    per_job: int = Field(60, ge=1, description="Data sets a job, which compiles the model once.")
    rule: Name = Field("compressed", description="Composition rule.")
    prior: Name = Field("default", description="Prior file under config/priors.")
    judges: int = Field(4, ge=2, le=20, description="Judges of a data set.")
    scenes: int = Field(2, ge=1, le=9, description="Scenes a cell of foundation and intensity.")
    judgments: JudgmentCounts = Field(
        JudgmentCounts(single=2400, composite=2400, bridge=1800),
        description="Comparisons per arena, over all judges.",
    )
    sampler: Sampler = Field(
        Sampler(chains=2, tune=500, draws=500, thin=1, target_accept=0.95),
        description="Sampler of every fit.",
    )
    rhat: float = Field(1.05, gt=1, description="Largest R-hat of a looked-at quantity.")
    ess: float = Field(100, gt=0, description="Smallest bulk effective sample size of one.")
    divergences: int = Field(10, ge=0, description="Most divergent transitions of a fit.")


class Sensitivity(Section):
    """What ``snakemake sensitivity`` fits again, and when a conclusion counts as moved."""

    runs: Names = Field((), description="Runs; the first of the configuration unless named.")
    priors: Names = Field(
        (
            "wide",
            "tight",
            "skeptical",
            "compressed",
            "heavy-tailed",
            "no-pooling",
            "strong-pooling",
        ),
        description="Prior files under config/priors to fit with.",
    )
    model: Annotated[
        tuple[Literal["lapse", "position_by_arena", "position_by_strength"], ...],
        AfterValidator(distinct),
    ] = Field(
        ("lapse", "position_by_arena"),
        description="Options of `model` to switch on (off where they are on).",
    )
    leave_out: Annotated[
        tuple[Literal["judge", "foundation", "prompt"], ...], AfterValidator(distinct)
    ] = Field(
        ("judge", "foundation", "prompt"),
        description="Leave out each judge or each foundation, or keep the answers to one prompt.",
    )
    sampler: Sampler = Field(
        Sampler(chains=2, tune=150, draws=600, thin=1, target_accept=0.75, coordinates="learnt"),
        description="Fewer draws than a fit that is reported.",
    )
    gates: Gates = Field(
        Gates(rhat=1.05, ess=50, divergences=6, calibration=1e-6),
        description="Bounds that a refit must keep to be counted.",
    )
    threshold: Positive = Field(
        0.5, description="Shift in posterior sds from which a conclusion counts as moved."
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        """Refuse to fit nothing again."""
        if not (self.priors or self.model or self.leave_out):
            raise ValueError("there is nothing to fit again; name priors, model or leave_out")
        return self
