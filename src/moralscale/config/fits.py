"""How posteriors are made, and which of them count."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from moralscale.config.section import Names, Section, distinct


class Fits(Section):
    """Which fits are made: every combination of data, rule and prior."""

    data: Annotated[tuple[Literal["study", "bridged"], ...], AfterValidator(distinct)] = Field(
        ("study", "bridged"),
        min_length=1,
        description="`study`: single and composite arena. `bridged`: the bridge arena too.",
    )
    rules: Names = Field(
        ("compressed",), min_length=1, description="Composition rules (docs/model.md)."
    )
    priors: Names = Field(
        ("default",), min_length=1, description="Prior files under config/priors."
    )


class Observation(Section):
    """How judgments follow from strengths (docs/model.md)."""

    ties: Literal["left_out", "davidson"] = Field(
        "left_out",
        description="`left_out`: ties are counted and do not enter the fit. `davidson`: they "
        "enter, with a tie parameter for every judge.",
    )
    lapse: bool = Field(
        False, description="Whether every judge makes a share of its choices at random."
    )
    position_by_arena: bool = Field(
        False, description="Whether position bias differs between arenas."
    )
    position_by_strength: bool = Field(
        False,
        description="Whether position bias grows with the mean strength of the two options.",
    )


class Sampler(Section):
    """How the posterior is sampled; nothing is left to a library's default."""

    backend: Literal["nutpie", "pymc", "numpyro"] = Field(
        "nutpie",
        description="Sampler. `numpyro` needs the extra `jax`, and is the one that runs on a GPU.",
    )
    chains: int = Field(4, ge=2, le=64, description="Chains.")
    tune: int = Field(1000, ge=10, le=1_000_000, description="Tuning iterations a chain.")
    draws: int = Field(1000, ge=10, le=1_000_000, description="Draws kept a chain.")
    thin: int = Field(3, ge=1, le=100, description="Iterations after tuning for each draw kept.")
    target_accept: float = Field(0.8, gt=0.5, lt=1, description="Target acceptance rate of NUTS.")
    coordinates: Literal["plain", "learnt"] = Field(
        "plain",
        description="Whether `nutpie` samples in coordinates that a short first run learns "
        "(docs/performance.md), or in those of the model, which take a longer tuning.",
    )
    memory: float = Field(
        4, gt=0, description="Most memory that learning coordinates may take, GB; more is refused."
    )


class Gates(Section):
    """Bounds that a fit must keep; one that breaks any of them is not reported."""

    rhat: float = Field(1.01, gt=1, description="Largest R-hat of any reported quantity.")
    ess: float = Field(400, gt=0, description="Smallest bulk or tail effective sample size.")
    divergences: int = Field(0, ge=0, description="Most divergent transitions after tuning.")
    ebfmi: float = Field(0.3, ge=0, description="Smallest E-BFMI of any chain.")
    pareto_k: float = Field(
        0.7, gt=0, description="Largest Pareto k of an influential judgment left out (PSIS-LOO)."
    )
    calibration: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="Smallest posterior predictive p-value of any predictive check.",
    )
