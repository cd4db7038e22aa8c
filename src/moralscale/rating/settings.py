"""How contestants are rated: every setting, its default and its bounds."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from moralscale.bradley_terry import Errors
from moralscale.config import Sampler, Section
from moralscale.elo import ELO_MEAN


class Method(StrEnum):
    """How contestants are rated."""

    MLE = "mle"
    BAYES = "bayes"
    ELO = "elo"


class Settings(Section):
    """Settings of the three methods."""

    method: Method = Field(
        Method.MLE,
        description="`mle`: Bradley-Terry by maximum likelihood. `bayes`: hierarchical"
        " Bradley-Terry. `elo`: online Elo, averaged over random orders of the judgments.",
    )
    position_bias: bool = Field(
        True, description="Whether `first` may have an advantage of its own (mle, bayes)."
    )
    errors: Errors | None = Field(
        None,
        description="Standard errors (mle): `hessian` or `sandwich`; unless given, the sandwich"
        " where there are weights.",
    )
    ci_prob: float = Field(
        0.94, gt=0, lt=1, description="Probability inside highest-density intervals (bayes)."
    )
    seed: int = Field(1, ge=0, lt=2**32, description="Seed of the draws and of the orders.")
    draws: int = Field(2000, ge=100, le=100_000, description="Draws kept a chain (bayes).")
    tune: int = Field(1000, ge=100, le=100_000, description="Tuning iterations a chain (bayes).")
    chains: int = Field(4, ge=2, le=64, description="Chains (bayes).")
    target_accept: float = Field(
        0.98, gt=0.5, lt=1, description="Target acceptance rate of NUTS (bayes)."
    )
    k: float = Field(32.0, gt=0, le=10_000, description="Largest step, in Elo (elo).")
    start: float = Field(
        ELO_MEAN, ge=-1e6, le=1e6, description="First rating of everybody, in Elo (elo)."
    )
    orders: int = Field(
        100, ge=1, le=10_000, description="Random orders that are averaged over (elo)."
    )

    def sampler(self) -> Sampler:
        """How the posterior is sampled."""
        return Sampler(
            chains=self.chains,
            tune=self.tune,
            draws=self.draws,
            thin=1,
            target_accept=self.target_accept,
        )
