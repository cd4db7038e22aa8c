"""How much moral signal the answers of a fit carry, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

#: Below this share of resolved variance the posterior knows scenes less well than they differ.
WEAK = 0.5


@dataclass(frozen=True)
class Signal:
    """What the posterior of scene strengths says about the answers.

    Attributes
    ----------
    resolved : float
        Share of the variance of scene strengths that the answers resolve: the variance of
        posterior means over that plus the mean posterior variance, a reliability. Pure noise gives
        0, since posterior means then shrink to a common value.
    excluding : float
        Share of scenes whose interval excludes the mean of all scenes.
    gap : float
        Typical difference between two scenes, log-odds: root 2 times the sd of posterior means.
    position_bias : float
        Mean absolute position bias of the judges, log-odds.
    graded : bool
        Whether strength rises with the intensity label, its interval excluding 0.
    """

    resolved: float
    excluding: float
    gap: float
    position_bias: float
    graded: bool

    @property
    def weak(self) -> bool:
        """Whether beta and everything after it rests on the prior more than on answers."""
        return self.resolved < WEAK

    @property
    def verdict(self) -> str:
        """One sentence for the reader."""
        if self.weak:
            return (
                "These answers carry hardly any moral signal: the scenes cannot be told apart, so "
                "beta and the analyses built on it show their priors and little else."
            )
        if not self.graded:
            return (
                "The judges tell scenes apart, but not along the intensity labels: beta describes "
                "how whatever they rank by combines, which need not be moral weight."
            )
        return (
            "The answers carry clear moral signal: scenes are told apart, and strength rises with "
            "the intensity label."
        )

    @property
    def bias_verdict(self) -> str:
        """One sentence on position bias against the typical gap."""
        bias = f"Position bias averages {self.position_bias:.2f} log-odds in size"
        if self.position_bias > self.gap:
            return (
                f"{bias}, more than the typical gap of {self.gap:.2f} between two scenes: where "
                "an option stands decides more often than what it says."
            )
        return f"{bias}, against a typical gap of {self.gap:.2f} between two scenes."


def signal(estimates: pd.DataFrame) -> Signal:
    """Judge the signal of one fit from its estimates.

    Parameters
    ----------
    estimates : DataFrame
        Rows of one fit, as `summaries.summarise` returns them.
    """
    scenes = _rows(estimates, "scene_strength", "strength")
    slope = _rows(estimates, "intensity_slope", "log-odds")
    bias = _rows(estimates, "position_bias_judge", "log-odds")
    between = float(scenes["mean"].var(ddof=1))
    within = float((scenes["sd"] ** 2).mean())
    return Signal(
        resolved=between / (between + within),
        excluding=float(((scenes["hdi_low"] > 0) | (scenes["hdi_high"] < 0)).mean()),
        gap=float(np.sqrt(2 * between)),
        position_bias=float(bias["mean"].abs().mean()),
        graded=bool((slope["hdi_low"] > 0).all()),
    )


def _rows(estimates: pd.DataFrame, quantity: str, unit: str) -> pd.DataFrame:
    return estimates[(estimates["quantity"] == quantity) & (estimates["unit"] == unit)]
