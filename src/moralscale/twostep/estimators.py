"""The study's two steps: rate each arena by itself, then regress one on the other.

An estimator is the first step, a way to rate; the second is the linear algebra of `estimands`, the
same for all of them and for the joint model.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from moralscale.arrays import Arrays
from moralscale.config import TwoStep
from moralscale.elo import ELO_PER_LOGIT, online_elo
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.records import Arena
from moralscale.twostep.battles import Battles, make_battles, side_by_side
from moralscale.twostep.likelihood import penalised_strengths

LOG = logging.getLogger(__name__)
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StudyArenas:
    """The battles of the study's two arenas, and what its composites are made of.

    Attributes
    ----------
    single, composite : Battles
        Of the same judges.
    estimands : Estimands
    """

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


def study_arenas(arrays: Arrays) -> tuple[StudyArenas, list[str]]:
    """Read the study's two arenas out of the arrays of a fit.

    Parameters
    ----------
    arrays : Arrays
        Of either data; bridge battles are left aside.

    Returns
    -------
    StudyArenas
    list of str
        The judges, in order. One that decided nothing in one of the two arenas is left out, with a
        warning: there is nothing to regress.

    Raises
    ------
    ModelError
        No judge is left.
    """
    names = arrays.coords["judge"]
    found = {arena: arrays.arena_idx == n for n, arena in enumerate(arrays.coords["arena"])}
    count = {
        arena: np.bincount(arrays.judge_idx[found[arena]], minlength=len(names))
        for arena in (Arena.SINGLE, Arena.COMPOSITE)
    }
    kept = (count[Arena.SINGLE] > 0) & (count[Arena.COMPOSITE] > 0)
    for judge in np.array(names)[~kept]:
        LOG.warning("%s decided nothing in one arena, and is left out of the two steps", judge)
    if not kept.any():
        raise ModelError(
            "no judge has decided judgments in both the single and the composite arena",
            where="judgments",
            mend="collect some in both arenas",
        )
    position = np.cumsum(kept) - 1
    n_scenes = len(arrays.coords["scene"])

    def battles(arena: Arena, offset: int, n_contestants: int) -> Battles:
        here = found[arena] & kept[arrays.judge_idx]
        first, second = arrays.slots
        return make_battles(
            first[here] - offset,
            second[here] - offset,
            arrays.first_won[here],
            position[arrays.judge_idx[here]],
            n_judges=int(kept.sum()),
            n_contestants=n_contestants,
        )

    single = battles(Arena.SINGLE, 0, n_scenes)
    composite = battles(Arena.COMPOSITE, n_scenes, len(arrays.coords["composite"]))
    unmet = int((single.met() == 0).sum() + (composite.met() == 0).sum())
    if unmet:
        LOG.warning("%d contestants, over all judges, met nobody and are rated at the mean", unmet)
    judges = [name for name, keep in zip(names, kept, strict=True) if keep]
    return StudyArenas(single, composite, arrays.estimands), judges


def elo_orders(
    battles: Battles, settings: TwoStep, rng: np.random.Generator, *, orders: int
) -> Array:
    """Rate by online Elo in several random orders of each judge's battles.

    Returns
    -------
    (order, judge, contestant)
        Log-odds, with mean zero.
    """
    counts = battles.count
    ends, places = np.cumsum(counts), np.arange(counts.max())
    found = np.empty((orders, battles.n_judges, battles.n_contestants))
    for turn in range(orders):
        shuffled = rng.permuted(np.tile(places, (battles.n_judges, 1)), axis=1)
        for judge, (end, count) in enumerate(zip(ends, counts, strict=True)):
            own = slice(end - count, end)
            found[turn, judge] = online_elo(
                battles.first_idx[own],
                battles.second_idx[own],
                battles.first_won[own],
                battles.n_contestants,
                order=shuffled[judge][shuffled[judge] < count],
                k=settings.k,
                start=settings.start,
            )
    return (found - settings.start) / ELO_PER_LOGIT


def elo_over_orders(
    arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator, *, orders: int | None = None
) -> Strengths:
    """Online Elo in each of several random orders: theta (order, judge, scene), phi likewise."""
    orders = settings.orders if orders is None else orders
    theta, phi = (
        elo_orders(battles, settings, rng, orders=orders)
        for battles in (arenas.single, arenas.composite)
    )
    return Strengths(theta, phi)


def elo(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Online Elo over one random order of the battles: the study's way."""
    found = elo_over_orders(arenas, settings, rng, orders=1)
    return Strengths(found.theta[0], found.phi[0])


def elo_averaged(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Online Elo, averaged over random orders of the same battles."""
    found = elo_over_orders(arenas, settings, rng)
    return Strengths(found.theta.mean(axis=0), found.phi.mean(axis=0))


def mle(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Penalised Bradley-Terry maximum likelihood with position bias, arena by arena."""
    theta, phi = (
        penalised_strengths(battles, settings.penalty)[0]
        for battles in (arenas.single, arenas.composite)
    )
    return Strengths(theta, phi)


def mle_split_half(arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator) -> Strengths:
    """Maximum likelihood with the slope corrected for unreliable component sums."""
    return corrected(mle(arenas, settings, rng), arenas, settings, rng)


def corrected(
    found: Strengths, arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator
) -> Strengths:
    """Correct the slope that `mle` found for unreliable component sums.

    Scene strengths are multiplied by the reliability of the component sums, Kelley's estimate of
    true scores, which divides the slope by it and leaves the residuals of the line as they were.
    """
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


def rate_all(arenas: StudyArenas, settings: TwoStep, seed: int) -> dict[str, Strengths]:
    """Rate by every one of `ESTIMATORS`; what two of them share is done once."""
    found: dict[str, Strengths] = {}
    for name, estimate in ESTIMATORS.items():
        rng = np.random.default_rng(seed)
        if name == "mle_split_half":
            found[name] = corrected(found["mle"], arenas, settings, rng)
        else:
            found[name] = estimate(arenas, settings, rng)
    return found


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
