"""The configuration as types: every key, its default and its bounds stand here and nowhere else.

``workflow/schemas/*.json`` and the tables of ``config/README.md`` are generated from these classes.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from moralscale.errors import ConfigError
from moralscale.records import FOUNDATIONS, Arena, Origin


def _ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] >= bounds[1]:
        raise ValueError(f"{bounds[0]:g} is not below {bounds[1]:g}; write the lower bound first")
    return bounds


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"'{value}' is named twice; name it once")
    return values


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
        "", description="Environment variable that holds the key; empty where none is needed."
    )
    settings: dict[str, Any] = Field(
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
    reporting: Reporting = Field(Reporting(), description="Intervals and regions of no effect.")
    gates: Gates = Field(Gates(), description="Bounds that a fit must keep.")

    def judge_names(self, run: str) -> tuple[str, ...]:
        """Names of the judges of `run`."""
        source = self.runs[run]
        if source.panel is not None:
            judges = self.panels[source.panel].judges
            return tuple(f"simulated-{i:02d}" for i in range(1, judges + 1))
        return source.judges


def load_yaml(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that holds one mapping.

    Raises
    ------
    ConfigError
        The file is missing, is not YAML, or holds something else than a mapping.
    """
    path = Path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(
            "file not found", where=str(path), mend="check the path in the configuration"
        ) from None
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=str(path)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"not valid YAML: {reason}", where=str(path)) from None
    if not isinstance(data, dict):
        raise ConfigError("not a mapping of keys to values", where=str(path))
    return data


def load_config(data: Mapping[str, Any], *, source: str, root: str | Path = ".") -> Config:
    """Validate a configuration and everything that it refers to by name.

    Parameters
    ----------
    data : mapping
        The configuration, as Snakemake or YAML gives it.
    source : str
        The file or files that it came from, for error messages.
    root : path, optional
        Folder that relative paths start from.

    Raises
    ------
    ConfigError
        A key is unknown, a value has the wrong type, or a panel, judge, prompt, prior or file that
        is referred to does not exist.
    """
    config = validate(Config, data, source=source)
    _check_references(config, source, Path(root))
    return config


def load_judges(path: str | Path) -> dict[str, Judge]:
    """Read the descriptions of real judges, by name.

    Raises
    ------
    ConfigError
        The file cannot be read, a name cannot become a file name, or a description is not valid.
    """
    judges = load_yaml(path)
    for name in judges:
        try:
            TypeAdapter(Name).validate_python(name)
        except ValidationError as error:
            raise _as_config_error(error, Judge, f"{path}, {name}") from None
    return {
        name: validate(Judge, value, source=f"{path}, {name}") for name, value in judges.items()
    }


def validate[S: Section](section: type[S], data: Any, *, source: str) -> S:
    """Validate `data` as a `section`; the first fault becomes a `ConfigError`."""
    try:
        return section.model_validate(data)
    except ValidationError as error:
        raise _as_config_error(error, section, source) from None


def _check_references(config: Config, source: str, root: Path) -> None:
    if not (root / config.scenes).is_file():
        raise ConfigError(
            f"no such file: {config.scenes}", where=f"{source}, scenes", mend="check the path"
        )
    counts = config.design.judgments
    needed = {"single": counts.single, "composite": counts.composite}
    if "bridged" in config.fits.data:
        needed["bridge"] = counts.bridge
    for arena, count in needed.items():
        if not count:
            raise ConfigError(
                f"no judgments in the {arena} arena, which a fit in fits.data reads",
                where=f"{source}, design.judgments.{arena}",
                mend="ask for some" + (", or fit `study` alone" if arena == "bridge" else ""),
            )
    for template in config.design.prompts:
        _known(template, _stems(root / "config/prompts"), f"{source}, design.prompts", "prompt")
    for prior in config.fits.priors:
        _known(prior, _stems(root / "config/priors"), f"{source}, fits.priors", "prior")
    for name, run in config.runs.items():
        where = f"{source}, runs.{name}"
        if run.panel is not None:
            _known(run.panel, config.panels, f"{where}.panel", "panel")
        if run.judges:
            library = load_judges(root / config.judges_file)
            for judge in run.judges:
                _known(judge, library, f"{where}.judges", "judge")


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _known(name: str, known: Iterable[str], where: str, kind: str) -> None:
    known = list(known)
    if name not in known:
        raise ConfigError(f"unknown {kind} '{name}'", where=where, mend=suggestion(name, known))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Name the mend for a misspelt name: the nearest known one, or all of them."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"use one of {', '.join(known)}" if known else "there are none yet"


def _as_config_error(error: ValidationError, section: type[Section], source: str) -> ConfigError:
    # A misspelt key is also a missing one: the first says more.
    fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    place = [str(part) for part in fault["loc"]]
    if place[-1:] == ["[key]"]:  # pydantic's way to say that a key is at fault, not its value
        place = place[:-2]
    *parents, key = place or [""]
    where = ", ".join(filter(None, [source, ".".join([*parents, key]).strip(".")]))
    if fault["type"] == "extra_forbidden":
        known = _keys_at(section, parents)
        return ConfigError(f"unknown key '{key}'", where=where, mend=suggestion(key, known))
    if fault["type"] == "missing":
        return ConfigError(f"key '{key}' is missing", where=where, mend="add it")
    message = re.sub(r"^Value error, ", "", fault["msg"])
    message = re.sub(r" or instance of \w+$", "", message)
    message = re.sub(r"(valid )?tuple", "list", message, flags=re.IGNORECASE)
    message = re.sub(r"(valid )?dictionary", "mapping", message, flags=re.IGNORECASE)
    if fault["type"] == "string_pattern_mismatch":
        message = (
            "not a name: use letters, digits, '.', '_' and '-', and begin with one of the first"
        )
    given = "" if fault["type"] == "value_error" else f" (given: {_short(fault['input'])})"
    return ConfigError(message[0].lower() + message[1:] + given, where=where)


def _keys_at(section: type[Section], path: list[str]) -> list[str]:
    """Keys allowed where `path` leads to, from the JSON schema of `section`."""
    schema = section.model_json_schema()
    node: dict[str, Any] = schema
    for part in path:
        by_name = list(node.get("patternProperties", {}).values())
        node = node.get("properties", {}).get(part) or (by_name[0] if by_name else {})
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return list(node.get("properties", {}))


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def arena_judgments(config: Config) -> dict[Arena, int]:
    """Comparisons per arena over all judges."""
    counts = config.design.judgments
    return {arena: getattr(counts, arena.value) for arena in Arena}
