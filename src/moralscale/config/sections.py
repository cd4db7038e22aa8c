"""The configuration as types: every key, its default and its bounds stand here and nowhere else.

``workflow/schemas/*.json`` and the tables of ``config/README.md`` are generated from these classes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from moralscale.errors import ConfigError, suggestion
from moralscale.records import FOUNDATIONS, Arena, Origin, Outcome


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
            json.dumps({name: value}, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError):
            what = f"'{name}' cannot be sent; use texts, finite numbers, and lists of such"
            raise ValueError(what) from None
    return settings


def _is_number(kind: Any) -> bool:
    return kind in (int, float) or any(map(_is_number, get_args(kind)))


def _off(value: Any) -> Any:
    # YAML reads `off` without quotes as false.
    return "off" if value is False else value


def _without_blanks(model: str) -> str:
    if model != "".join(model.split()) or not model.isprintable():
        raise ValueError("a name of a model holds no blanks; write it as its provider does")
    return model


def _is_language(code: str) -> str:
    if not re.fullmatch(LANGUAGE_PATTERN, code):
        raise ValueError(f"'{code}' is no code of a language; write one such as en or fr")
    return code


#: Names that become file names: nothing that could leave the results folder.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]
Positive = Annotated[float, Field(gt=0)]
Interval = Annotated[
    tuple[float, float], Field(description="Lower and upper bound."), AfterValidator(_ascending)
]
Names = Annotated[tuple[Name, ...], AfterValidator(_distinct)]
#: A code as of BCP 47: en, fr, pt-BR.
LANGUAGE_PATTERN = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"
Language = Annotated[str, AfterValidator(_is_language)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors, values cannot change."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, serialize_by_alias=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse `yes` where a number is meant, which would count as 1."""
        if isinstance(value, bool) and info.field_name is not None:
            if _is_number(cls.model_fields[info.field_name].annotation):
                raise ValueError(f"{str(value).lower()} is no number; write one")
        return value


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
    residuals: dict[str, float] | None = Field(
        None,
        description="Foundation residuals, Elo, one for each foundation of the corpus; they must "
        "sum to 0. `null`: with the study's five foundations -9.22 for care and 9.58 for loyalty, "
        "which are published, and -0.12 for the others; with other foundations none.",
    )
    anchoring: float | None = Field(
        None,
        description="Elo of +2/-1 composites above +1/+1 composites at equal component sum. "
        "`null`: 35, which is published, where the corpus has such composites.",
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
    lapse: float = Field(
        0.0, ge=0, lt=1, description="Share of choices that the typical judge makes at random."
    )
    tie: float = Field(
        0.0, ge=0, description="Odds of a tie over either win at even strengths, typical judge."
    )
    position_bias_arena: dict[str, float] = Field(
        default={},
        description="Mean position bias in the `composite` and the `bridge` arena over that in "
        "the single one, log-odds.",
    )
    position_bias_slope: float = Field(
        0.0,
        description="Growth of the position bias per log-odds of mean strength of the two options.",
    )

    @field_validator("position_bias_arena")
    @classmethod
    def _arenas_beside_the_single_one(cls, shifts: dict[str, float]) -> dict[str, float]:
        arenas = (Arena.COMPOSITE.value, Arena.BRIDGE.value)
        for name in shifts:
            if name not in arenas:
                raise ValueError(f"no shift for arena '{name}'; {suggestion(name, arenas)}")
        return shifts

    @field_validator("residuals")
    @classmethod
    def _residuals_sum_to_zero(cls, residuals: dict[str, float] | None) -> dict[str, float] | None:
        total = sum((residuals or {}).values())
        if abs(total) > 1e-6:
            raise ValueError(
                f"foundation residuals sum to {total:g}; shift them so that they sum to 0"
            )
        return residuals

    def residuals_of(
        self, foundations: Sequence[str], *, where: str = "panels"
    ) -> dict[str, float]:
        """Residual to plant in each foundation of a corpus, Elo.

        Raises
        ------
        ConfigError
            A residual is given for a foundation that the corpus does not have, or is missing.
        """
        if self.residuals is None:
            known = dict.fromkeys(FOUNDATIONS, -0.12) | {"care": -9.22, "loyalty": 9.58}
            return known if set(foundations) == set(known) else dict.fromkeys(foundations, 0.0)
        for name in self.residuals:
            if name not in foundations:
                what, mend = f"unknown foundation '{name}'", suggestion(name, foundations)
                raise ConfigError(what, where=f"{where}.residuals", mend=mend)
        for name in foundations:
            if name not in self.residuals:
                what = f"no residual for '{name}'"
                raise ConfigError(what, where=f"{where}.residuals", mend="add it (0 for none)")
        return self.residuals

    def anchoring_of(self, *, shown: bool) -> float:
        """Anchoring contrast to plant, Elo, where composites can show one or not."""
        if self.anchoring is None:
            return 35.0 if shown else 0.0
        return self.anchoring


#: Columns of judgments that a file of somebody else's may give.
ImportColumn = Literal[
    "judge",
    "first",
    "second",
    "outcome",
    "comparison_id",
    "arena",
    "first_order",
    "second_order",
    "repeat",
    "prompt",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
]


class Import(Section):
    """Judgments that were collected elsewhere (docs/protocol.md, "Importing judgments")."""

    file: str = Field(min_length=1, description="A .csv, .jsonl or .parquet file of judgments.")
    columns: dict[ImportColumn, str] = Field(
        default={},
        description="The file's name of each column that it calls otherwise: "
        "`judge: model`. `judge`, `first`, `second` and `outcome` are needed.",
    )
    outcomes: dict[str, Outcome] = Field(
        default={},
        description="What the file's labels of outcomes mean: `model_a: first`. Labels that are "
        "outcomes already need no entry.",
    )
    winner: Literal["side", "contestant"] = Field(
        "side",
        description="Whether an outcome says which side was chosen, or names the contestant that "
        "was.",
    )
    judges: dict[str, Name] = Field(
        default={}, description="Names to use for the file's judges: `lab/model-1: model-1`."
    )
    composites: str = Field(
        "",
        description="A .csv or .parquet file of the composites that were judged, with "
        "`composite_id`, `scene_a` and `scene_b`; empty for those of the design.",
    )


class Run(Section):
    """One panel of judges; its outputs go to ``results/{run}``."""

    panel: Name | None = Field(None, description="Name of a simulated panel under `panels`.")
    judges: Names = Field((), description="Names of real judges in `judges_file`.")
    import_: Import | None = Field(
        None, alias="import", description="Judgments that were collected elsewhere."
    )
    scenes: str | None = Field(
        None, min_length=1, description="The run's own corpus; `null` for `scenes` below."
    )
    language: Language | None = Field(
        None, description="Language of the run's corpus and prompts; `null` for `language` below."
    )
    prompts: Names = Field(
        (), description="The run's own prompt templates; `[]` for those of `design.prompts`."
    )
    budget: float | None = Field(
        None,
        gt=0,
        description="Most that all real judges of the run may cost together, USD; `null` for no "
        "bound.",
    )
    judge_budget: float | None = Field(
        None,
        gt=0,
        description="Most that each of them may cost, USD, unless `judges_file` gives it a "
        "`budget` of its own.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Run:
        if [self.panel is not None, bool(self.judges), self.import_ is not None].count(True) != 1:
            raise ValueError("give one of `panel`, `judges` and `import`")
        if not self.judges and (self.budget or self.judge_budget):
            raise ValueError("only a run of real `judges` has a budget; remove it")
        return self

    @property
    def origin(self) -> Origin:
        """Where this run's judgments come from."""
        if self.import_ is not None:
            return Origin.IMPORTED
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
    orders: Literal["one", "both"] = Field(
        "one",
        description="Display orders in which each comparison is asked: `both` doubles what is "
        "asked.",
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
    tune: int = Field(1000, ge=10, description="Tuning iterations a chain.")
    draws: int = Field(1000, ge=10, description="Draws kept a chain.")
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


class Comparing(Section):
    """Which composition rules `snakemake compare` sets side by side, and how."""

    data: Literal["study", "bridged"] = Field("bridged", description="Arenas of the fits.")
    rules: Names = Field(
        ("compressed", "additive"),
        min_length=2,
        description="Composition rules (docs/model.md).",
    )
    prior: Name = Field("default", description="Prior file under config/priors.")
    draws: int = Field(1000, ge=100, description="Draws of each fit that PSIS-LOO reads.")
    folds: int = Field(
        5, ge=0, le=50, description="Folds of profiles that are held out; 0 for none."
    )
    sampler: Sampler = Field(
        Sampler(chains=2, tune=500, draws=500, thin=1),
        description="Sampler of the fits to folds, shorter than that of the fits.",
    )


class Calibration(Section):
    """How `snakemake calibration` simulates and fits (docs/calibration.md)."""

    recovery: int = Field(120, ge=1, description="Simulated data sets for recovery with coverage.")
    ranks: int = Field(
        120, ge=1, description="Simulated data sets for simulation-based calibration."
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

    with_runs: bool = Field(False, description="Whether a plain run makes this audit too.")
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
        0.0,
        ge=0,
        le=1,
        description="Share of intensity labels off by one step, in cells of their own.",
    )
    replicates: int = Field(50, ge=2, description="Replicates of the two-step estimators.")
    joint_replicates: int = Field(3, ge=0, description="Replicates of the joint estimator.")
    share_replicates: int = Field(
        3,
        ge=0,
        description="The same where shares are reported: coverage in the middle of the grid and "
        "by number of judges, alarms where effects are planted or looked for. None below 20.",
    )
    nuts_replicates: int = Field(
        0, ge=0, description="Replicates by NUTS, in the middle and by number of judges."
    )


#: The grid of `snakemake audit`, hours where the default takes minutes.
FULL_AUDIT = Audit(
    betas=(0.6, 0.7, 0.862, 1.0, 1.2),
    consistencies=(1.0, 0.6, 0.8, 1.2, 1.4),
    cross=True,
    battles=(5, 10, 15, 30, 60, 150),
    noises=(0.5, 2.0),
    judges=(10, 3, 5),
    flips=0.2,
    joint_replicates=2,
    share_replicates=20,
    nuts_replicates=2,
)


class Gates(Section):
    """Bounds that a fit must keep; one that breaks any of them is not reported."""

    rhat: float = Field(1.01, gt=1, description="Largest R-hat of any reported quantity.")
    ess: float = Field(400, gt=0, description="Smallest bulk or tail effective sample size.")
    divergences: int = Field(0, ge=0, description="Most divergent transitions after tuning.")
    ebfmi: float = Field(0.3, ge=0, description="Smallest E-BFMI of any chain.")
    pareto_k: float = Field(
        0.7, gt=0, description="Largest Pareto k of any judgment left out (PSIS-LOO)."
    )
    calibration: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="Smallest posterior predictive p-value of any predictive check.",
    )


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
        AfterValidator(_distinct),
    ] = Field(
        ("lapse", "position_by_arena"),
        description="Options of `model` to switch on (off where they are on).",
    )
    leave_out: Annotated[
        tuple[Literal["judge", "foundation", "prompt"], ...], AfterValidator(_distinct)
    ] = Field(
        ("judge", "foundation", "prompt"),
        description="Leave out each judge or each foundation, or keep the answers to one prompt.",
    )
    sampler: Sampler = Field(
        Sampler(chains=2, tune=300, draws=300, thin=1),
        description="Fewer draws than a fit that is reported.",
    )
    gates: Gates = Field(
        Gates(rhat=1.05, ess=50, divergences=6, calibration=1e-6),
        description="Bounds that a refit must keep to be counted.",
    )
    threshold: Positive = Field(
        0.5, description="Shift in posterior sds from which a conclusion counts as moved."
    )


class Judge(Section):
    """One real judge, as in ``config/judges.yaml``."""

    provider: Literal[
        "openai",
        "anthropic",
        "gemini",
        "xai",
        "deepseek",
        "mistral",
        "moonshot",
        "qwen",
        "zhipu",
        "together",
        "openrouter",
        "ollama",
        "vllm",
        "llamacpp",
        "compatible",
        "local",
    ] = Field(
        description="Whose protocol and habits (docs/protocol.md). `compatible`: any other server "
        "that speaks the chat completions protocol. `local`: a llama.cpp server that the run "
        "starts on loopback."
    )
    model: Annotated[str, AfterValidator(_without_blanks)] = Field(
        min_length=1, description="The provider's name of the model."
    )
    base_url: str = Field(
        "",
        description="Address of the API, up to and including its version; empty for the "
        "provider's own.",
    )
    api_key_env: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Environment variable that holds the key; empty where none is needed.",
    )
    settings: Annotated[dict[str, Any], AfterValidator(_sendable)] = Field(
        default={},
        description="Sampling settings (temperature, max_tokens, seed...). Common names are put "
        "into the provider's own, others are sent as they are.",
    )
    thinking: Annotated[Literal["default", "off"], BeforeValidator(_off)] = Field(
        "default", description="`off` asks the provider to answer without reasoning first."
    )
    transport: Literal["live", "batch"] = Field(
        "live",
        description="`batch`: the batch interface of OpenAI or Anthropic, at half the price and "
        "within a day.",
    )
    concurrency: int = Field(8, ge=1, le=512, description="Most requests in flight at once.")
    requests_per_minute: int | None = Field(
        None, ge=1, description="Most requests a minute; `null` for no bound."
    )
    tokens_per_minute: int | None = Field(
        None, ge=1, description="Most tokens a minute, in and out; `null` for no bound."
    )
    budget: float | None = Field(
        None, gt=0, description="Most that this judge may cost in a run, USD; `null` for no bound."
    )
    reasoning_tokens: int = Field(
        0, ge=0, description="Reasoning tokens to reckon with for each judgment in the estimate."
    )
    timeout: Positive | None = Field(
        None, description="Seconds until a request is given up; `null` for the provider's default."
    )
    tries: int = Field(6, ge=1, le=50, description="Tries of one request, the first included.")
    unanswered: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Largest share of comparisons that may stay without an answer before the "
        "judge's job fails.",
    )


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
