"""Runs, and the judgments of others that one may import."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from moralscale.config.section import Language, Name, Names, Section
from moralscale.records import Origin, Outcome

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
