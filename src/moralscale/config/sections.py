"""The configuration as types: every key, its default and its bounds stand here and nowhere else.

``workflow/schemas/*.json`` and the tables of ``config/README.md`` are generated from these classes.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from moralscale.errors import suggestion
from moralscale.records import FOUNDATIONS, Origin


def _ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] >= bounds[1]:
        raise ValueError(f"{bounds[0]:g} is not below {bounds[1]:g}; write the lower bound first")
    return bounds


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"'{value}' is named twice; name it once")
    return values


def _sendable(settings: dict[str, Any]) -> dict[str, Any]:
    for name, value in settings.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            what = f"'{name}' cannot be sent; use texts, finite numbers, and lists of such"
            raise ValueError(what) from None
    return settings


#: Names that become file names: nothing that could leave the results folder.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Positive = Annotated[float, Field(gt=0)]
Interval = Annotated[
    tuple[float, float], Field(description="Lower and upper bound."), AfterValidator(_ascending)
]
Names = Annotated[tuple[Name, ...], AfterValidator(_distinct)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors, values cannot change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Panel(Section):
    """A simulated panel with known truth.

    Effects on composites are given on the scale that the composite arena shows, that is multiplied
    by `composite_consistency`. Two panels that differ in nothing but `composite_consistency`
    therefore give the same answers in the study's arenas, and different ones in the bridge arena.
    """

    judges: int = Field(10, ge=1, le=200, description="Number of simulated judges.")
    slope: float = Field(
        0.862,
        description="Mean slope of composite strength on component sum as the two arenas show it: "
        "beta times `composite_consistency`. The default is the published figure.",
    )
    composite_consistency: Positive = Field(
        1.0,
        description="Consistency of choices between composites relative to choices between scenes.",
    )
    bridge_consistency: Positive = Field(
        1.0, description="Consistency of choices between a scene and a composite."
    )
    intercept: float = Field(
        0.30, description="Mean alpha: strength of a composite whose component sum is 0, log-odds."
    )
    residuals: dict[str, float] = Field(
        default={
            "care": -9.22,
            "fairness": -0.12,
            "loyalty": 9.58,
            "authority": -0.12,
            "sanctity": -0.12,
        },
        description="Foundation residuals, Elo; they must sum to 0. Care and loyalty are the "
        "published figures.",
    )
    anchoring: float = Field(
        35.0,
        description="Elo of +2/-1 composites above +1/+1 composites at equal component sum.",
    )
    convergence: float = Field(
        0.94,
        gt=0,
        lt=1,
        description="Mean correlation between judges of latent composite strengths.",
    )
    position_bias: float = Field(
        0.15, description="Mean position bias towards the option shown first, log-odds."
    )
    refusal_rate: float = Field(
        0.0, ge=0, lt=1, description="Share of comparisons that the judges refuse."
    )

    @field_validator("residuals")
    @classmethod
    def _one_residual_a_foundation(cls, residuals: dict[str, float]) -> dict[str, float]:
        for name in residuals:
            if name not in FOUNDATIONS:
                raise ValueError(f"unknown foundation '{name}'; {suggestion(name, FOUNDATIONS)}")
        for name in FOUNDATIONS:
            if name not in residuals:
                raise ValueError(f"no residual for '{name}'; add it (0 for none)")
        total = sum(residuals.values())
        if abs(total) > 1e-6:
            raise ValueError(
                f"foundation residuals sum to {total:g}; shift them so that they sum to 0"
            )
        return residuals


class Run(Section):
    """One panel of judges; its outputs go to ``results/{run}``."""

    panel: Name | None = Field(None, description="Name of a simulated panel under `panels`.")
    judges: Names = Field((), description="Names of real judges in `judges_file`.")

    @model_validator(mode="after")
    def _one_source(self) -> Run:
        if (self.panel is None) == (not self.judges):
            raise ValueError("give either `panel` or `judges`")
        return self

    @property
    def origin(self) -> Origin:
        """Where this run's judgments come from."""
        return Origin.LIVE if self.panel is None else Origin.SIMULATED


class JudgmentCounts(Section):
    """Comparisons per arena, over all judges."""

    single: int = Field(17_134, ge=0, description="Scene against scene.")
    composite: int = Field(12_000, ge=0, description="Composite against composite.")
    bridge: int = Field(3_000, ge=0, description="Scene against composite.")


class Design(Section):
    """What is asked."""

    realisations: int = Field(1, ge=1, le=50, description="Composites per profile.")
    judgments: JudgmentCounts = Field(
        JudgmentCounts(), description="Comparisons per arena, over all judges."
    )
    repeats: int = Field(1, ge=1, le=100, description="How often each comparison is asked.")
    pairing: Literal["balanced", "information"] = Field(
        "balanced",
        description="`balanced`: opponents at random. `information`: opponents near in intensity, "
        "where outcomes are open; see docs/estimators.md for what that does to reliability.",
    )
    prompts: Names = Field(
        ("trolley",),
        min_length=1,
        description="Prompt templates under config/prompts, in balanced rotation.",
    )


class Fits(Section):
    """Which fits are made: every combination of data, rule and prior."""

    data: Annotated[tuple[Literal["study", "bridged"], ...], AfterValidator(_distinct)] = Field(
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


class Sampler(Section):
    """How the posterior is sampled; nothing is left to a library's default."""

    backend: Literal["nutpie", "pymc"] = Field("nutpie", description="Sampler.")
    chains: int = Field(4, ge=2, le=64, description="Chains.")
    tune: int = Field(1000, ge=10, description="Tuning iterations a chain.")
    draws: int = Field(1000, ge=10, description="Draws kept a chain.")
    thin: int = Field(2, ge=1, le=100, description="Iterations after tuning for each draw kept.")
    target_accept: float = Field(0.8, gt=0.5, lt=1, description="Target acceptance rate of NUTS.")


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


class TwoStep(Section):
    """The study's own estimators, which rate each arena by itself."""

    k: float = Field(32.0, gt=0, le=400, description="Largest step of online Elo, Elo points.")
    start: float = Field(1000.0, description="Elo rating before the first battle.")
    orders: int = Field(
        20, ge=2, le=1000, description="Random orders of the battles that Elo is averaged over."
    )
    penalty: Positive = Field(
        0.1,
        description="Penalty of maximum likelihood: precision of a normal prior on strengths and "
        "position bias, per squared log-odds.",
    )
    splits: int = Field(
        2, ge=1, le=100, description="Random splits that reliability is averaged over."
    )
    rounds: int = Field(100, ge=20, le=100_000, description="Resamples of the bootstrap.")


class Audit(Section):
    """Grid of an estimator audit; the first of several values is the middle of the grid."""

    betas: tuple[float, ...] = Field((0.6, 0.862, 1.2), min_length=2, description="True betas.")
    consistencies: tuple[Positive, ...] = Field(
        (1.0, 0.7), min_length=1, description="Consistencies on composites."
    )
    cross: bool = Field(
        False, description="Whether betas and consistencies are crossed, or vary each alone."
    )
    battles: tuple[int, ...] = Field(
        (5, 150), min_length=1, description="Battles per item and judge."
    )
    noises: tuple[Positive, ...] = Field(
        (), description="Choice noise: 2 halves the log-odds of all arenas."
    )
    judges: tuple[int, ...] = Field((4,), min_length=1, description="Numbers of judges.")
    bridge: int = Field(300, ge=1, description="Bridge battles a judge, where there are any.")
    anchoring: float = Field(35.0, description="Anchoring contrast to detect, Elo.")
    residual: float = Field(9.58, description="Residual of loyalty to detect, Elo.")
    flips: float = Field(
        0.2, ge=0, le=1, description="Share of intensity labels off by one step, where any are."
    )
    replicates: int = Field(50, ge=2, description="Replicates of the two-step estimators.")
    joint_replicates: int = Field(3, ge=0, description="Replicates of the joint estimator.")
    nuts_replicates: int = Field(
        0, ge=0, description="Replicates by NUTS, in the cells of the first consistency."
    )


#: The grid of `snakemake audit`, hours where the default takes minutes.
FULL_AUDIT = Audit(
    betas=(0.6, 0.7, 0.862, 1.0, 1.2),
    consistencies=(1.0, 0.6, 0.8, 1.2, 1.4),
    cross=True,
    battles=(5, 10, 15, 30, 60, 150),
    noises=(0.5, 2.0),
    judges=(10, 3, 5),
    replicates=100,
    joint_replicates=20,
    nuts_replicates=4,
)


class Gates(Section):
    """Bounds that a fit must keep; one that breaks any of them is not reported."""

    rhat: float = Field(1.01, gt=1, description="Largest R-hat of any reported quantity.")
    ess: float = Field(400, gt=0, description="Smallest bulk or tail effective sample size.")
    divergences: int = Field(0, ge=0, description="Most divergent transitions after tuning.")
    ebfmi: float = Field(0.3, ge=0, description="Smallest E-BFMI of any chain.")
    calibration: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="Smallest posterior predictive p-value of any predictive check.",
    )


class Judge(Section):
    """One real judge, as in ``config/judges.yaml``."""

    provider: Literal["openai", "local"] = Field(
        description="`openai`: any server that speaks the OpenAI chat completions protocol. "
        "`local`: a llama.cpp server that the run starts on loopback."
    )
    model: str = Field(min_length=1, description="The provider's name of the model.")
    base_url: str = Field("", description="Address of the API, up to and including /v1.")
    api_key_env: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Environment variable that holds the key; empty where none is needed.",
    )
    settings: Annotated[dict[str, Any], AfterValidator(_sendable)] = Field(
        default={}, description="Sampling settings, sent as they are (temperature, max_tokens...)."
    )
    concurrency: int = Field(8, ge=1, le=512, description="Requests in flight at once.")
    timeout: Positive = Field(60.0, description="Seconds until a request is given up.")
    tries: int = Field(6, ge=1, le=50, description="Tries of one request, the first included.")


class Config(Section):
    """The whole configuration of a workflow run."""

    runs: dict[Name, Run] = Field(min_length=1, description="The panels to judge, by run name.")
    seed: int = Field(20260611, ge=0, lt=2**63, description="Seed of everything random.")
    scenes: str = Field("scenarios/scenes.csv", description="The corpus.")
    judges_file: str = Field("config/judges.yaml", description="Where real judges are described.")
    panels: dict[Name, Panel] = Field(default={}, description="Simulated panels, by name.")
    design: Design = Field(Design(), description="What is asked.")
    fits: Fits = Field(Fits(), description="Which fits are made.")
    sampler: Sampler = Field(Sampler(), description="How the posterior is sampled.")
    twostep: TwoStep = Field(TwoStep(), description="The study's own estimators.")
    reporting: Reporting = Field(Reporting(), description="Intervals and regions of no effect.")
    gates: Gates = Field(Gates(), description="Bounds that a fit must keep.")
    audit: Audit = Field(Audit(), description="Grid of the audit in the default run.")
    audit_full: Audit = Field(FULL_AUDIT, description="Grid of the audit of `snakemake audit`.")

    def judge_names(self, run: str) -> tuple[str, ...]:
        """Names of the judges of `run`."""
        source = self.runs[run]
        if source.panel is not None:
            judges = self.panels[source.panel].judges
            return tuple(f"simulated-{i:02d}" for i in range(1, judges + 1))
        return source.judges
