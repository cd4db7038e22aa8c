"""Simulated panels of judges."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field, field_validator

from moralscale.config.section import Positive, Section
from moralscale.errors import ConfigError, suggestion
from moralscale.records import FOUNDATIONS, Arena


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
