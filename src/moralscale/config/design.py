"""What is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from moralscale.config.section import Names, Section

#: More comparisons than any memory holds.
MOST = 100_000_000


class JudgmentCounts(Section):
    """Comparisons per arena, over all judges."""

    single: int = Field(17_134, ge=0, le=MOST, description="Scene against scene.")
    composite: int = Field(12_000, ge=0, le=MOST, description="Composite against composite.")
    bridge: int = Field(3_000, ge=0, le=MOST, description="Scene against composite.")


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
        "where outcomes are open; see docs/power.md for what that does to reliability.",
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
