"""The study's own estimators, and the grid on which all are audited."""

from __future__ import annotations

from pydantic import Field

from moralscale.config.section import Positive, Section


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
