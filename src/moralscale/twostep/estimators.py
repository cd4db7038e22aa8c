"""The study's two steps: rate each arena by itself, then regress one on the other.

An estimator is the first step, a way to rate; the second is the linear algebra of `estimands`, the
same for all of them and for the joint model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from moralscale.arrays import Arrays
from moralscale.config import TwoStep
from moralscale.elo import ELO_PER_LOGIT, online_elo_lanes
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.records import Arena
from moralscale.twostep.battles import Battles, make_battles, side_by_side
from moralscale.twostep.likelihood import penalised_strengths

Array = NDArray[np.float64]

#: Sequences of battles that `online_elo_lanes` takes at once, for speed.
_LANES = 256


@dataclass(frozen=True, eq=False)
class StudyArenas:
    """The battles of the study's two arenas, and what its composites are made of."""

    single: Battles
    composite: Battles
    estimands: Estimands


@dataclass(frozen=True, eq=False)
class Strengths:
    """What the first step found, in log-odds, each judge and arena with mean zero.

    Attributes
    ----------
    theta : (..., judge, scene)
    phi : (..., judge, composite)
        An Elo rating is ``1000 + 173.7 * strength``.
    """

    theta: Array
    phi: Array


type Estimator = Callable[[StudyArenas, TwoStep, np.random.Generator], Strengths]


def study_arenas(arrays: Arrays) -> StudyArenas:
    """Read the study's two arenas out of the arrays of a fit.

    Parameters
    ----------
    arrays : Arrays
        Of either data; bridge battles are left aside.

    Raises
    ------
    ModelError
        A judge has no decided judgment in one of the two arenas.
    """
    judges = arrays.coords["judge"]
    first, second = arrays.slots
    parts = {}
    offset = 0
    for arena, dim in ((Arena.SINGLE, "scene"), (Arena.COMPOSITE, "composite")):
        here = arrays.arena_idx == arrays.coords["arena"].index(arena)
        parts[dim] = make_battles(
            first[here] - offset,
            second[here] - offset,
            arrays.first_won[here],
            arrays.judge_idx[here],
            n_judges=len(judges),
            n_contestants=len(arrays.coords[dim]),
        )
        offset += len(arrays.coords[dim])
        for judge, count in zip(judges, parts[dim].count, strict=True):
            if not count:
                raise ModelError(
                    f"judge '{judge}' has no decided judgment in the {arena} arena, so the two "
                    "steps cannot be taken",
                    where="judgments",
                    mend="collect some, or leave the judge out of the run",
                )
    return StudyArenas(parts["scene"], parts["composite"], arrays.estimands)


def elo_orders(
    battles: Battles, settings: TwoStep, rng: np.random.Generator, *, orders: int
) -> Array:
    """Rate by online Elo in several random orders of each judge's battles.

    Returns
    -------
    (order, judge, contestant)
        Log-odds, with mean zero.
    """
    first, second, score = battles.lanes()
    n_judges, width = first.shape
    found = []
    at_once = max(1, _LANES // n_judges)
    for done in range(0, orders, at_once):
        now = min(at_once, orders - done)
        order = rng.permuted(np.tile(np.arange(width), (now * n_judges, 1)), axis=1)
        judge = np.tile(np.arange(n_judges), now)[:, None]
        rated = online_elo_lanes(
            first[judge, order],
            second[judge, order],
            score[judge, order],
            battles.n_contestants,
            k=settings.k,
            start=settings.start,
        )
        found.append(rated.reshape(now, n_judges, -1))
    return (np.concatenate(found) - settings.start) / ELO_PER_LOGIT


def elo(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Online Elo over one random order of the battles: the study's way."""
    return _elo_over(arenas, settings, rng, orders=1)


def elo_averaged(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Online Elo, averaged over random orders of the same battles."""
    return _elo_over(arenas, settings, rng, orders=settings.orders)


def _elo_over(
    arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator, *, orders: int
) -> Strengths:
    theta, phi = (
        elo_orders(battles, settings, rng, orders=orders).mean(axis=0)
        for battles in (arenas.single, arenas.composite)
    )
    return Strengths(theta, phi)


def mle(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Penalised Bradley-Terry maximum likelihood with position bias, arena by arena."""
    theta, phi = (
        penalised_strengths(battles, settings.penalty)[0]
        for battles in (arenas.single, arenas.composite)
    )
    return Strengths(theta, phi)


def mle_split_half(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Maximum likelihood with the slope corrected for unreliable component sums.

    Scene strengths are multiplied by the reliability of the component sums, Kelley's estimate of
    true scores, which divides the slope by it and leaves the residuals of the line as they were.
    """
    found = mle(arenas, settings, rng)
    return replace(found, theta=reliability(arenas, settings, rng)[:, None] * found.theta)


def reliability(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Array:
    """Reliability of a judge's component sums over composites, from split halves.

    The sums from one random half of the single arena's battles are correlated with those from the
    other half, averaged over `settings.splits` splits, and stepped up to the full length by the
    Spearman-Brown formula ``2 r / (1 + r)``.

    Returns
    -------
    (judge,)
        Not a number where the halves do not agree at all (r <= 0): there is nothing to correct by.
    """
    agreement = []
    for _ in range(settings.splits):
        one, other = (
            arenas.estimands.component_sum(penalised_strengths(half, settings.penalty)[0])
            for half in arenas.single.halves(rng)
        )
        pairs = np.stack([one, other], axis=-2)  # (judge, half, composite)
        agreement.append(arenas.estimands.convergence(pairs))
    r = np.mean(agreement, axis=0)
    return np.where(r > 0, 2 * r / (1 + r), np.nan)


#: Two-step estimators by name: (arenas, settings, rng) -> strengths.
ESTIMATORS: MappingProxyType[str, Estimator] = MappingProxyType(
    {
        "elo": elo,
        "elo_averaged": elo_averaged,
        "mle": mle,
        "mle_split_half": mle_split_half,
    }
)


def together(data_sets: list[StudyArenas]) -> StudyArenas:
    """Put data sets of one design side by side, as so many more judges.

    Estimators rate judges apart from each other, so that many resamples or simulated data sets go
    through one call; reshape the result's judge axis to (data set, judge).
    """
    return replace(
        data_sets[0],
        single=side_by_side([each.single for each in data_sets]),
        composite=side_by_side([each.composite for each in data_sets]),
    )
