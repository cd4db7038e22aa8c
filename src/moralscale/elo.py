"""The Elo scale, a unit for log-odds that readers of arenas know, and Elo's online rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ratings = NDArray[np.float64]

#: Elo points per unit of log-odds: a difference of 400 points is odds of 10 to 1.
ELO_PER_LOGIT = 400 / math.log(10)
#: Mean rating of a judge's contestants in an arena.
ELO_MEAN = 1000.0
#: Position in a lane of `online_elo_lanes` at which there is no battle.
NO_BATTLE = -1


def rating(strength: Any, *, axis: int = -1) -> Any:
    """Put strengths on the Elo scale with mean 1000.

    Parameters
    ----------
    strength : ndarray
        Strengths in log-odds.
    axis : int, optional
        The axis over contestants, whose mean becomes 1000.

    Returns
    -------
    ndarray
        Ratings in Elo, of the same shape.

    Examples
    --------
    A unit of log-odds is 173.7 Elo.

    >>> rating(np.array([0.5, -0.5])).round(1).tolist()
    [1086.9, 913.1]
    """
    return ELO_MEAN + ELO_PER_LOGIT * (strength - strength.mean(axis=axis, keepdims=True))


def online_elo(
    first_idx: ArrayLike,
    second_idx: ArrayLike,
    score: ArrayLike,
    n_contestants: int,
    *,
    k: float = 32.0,
    start: float = ELO_MEAN,
) -> Ratings:
    """Rate contestants by Elo's online rule, battle by battle in the order given.

    Parameters
    ----------
    first_idx, second_idx : (battle,), int
        Positions of the two contestants, below `n_contestants`.
    score : (battle,)
        1 where the first won, 0 where the second did, 1/2 for a draw.
    n_contestants : int
        Contestants in all.
    k : float, optional
        Largest step, Elo. The rule is ``rating += k * (score - expected)``, expected being
        ``1 / (1 + 10 ** ((opponent - rating) / 400))`` (Elo 1978; Chatbot Arena 2023: K = 32).
    start : float, optional
        Rating before the first battle, Elo; one that never fights keeps it.

    Returns
    -------
    (contestant,)
        Ratings in Elo. Their mean is `start`. They depend on the order of the battles.

    Examples
    --------
    >>> online_elo([0, 0], [1, 1], [1, 0.5], n_contestants=2).round(1).tolist()
    [1014.5, 985.5]
    """
    ratings = [float(start)] * n_contestants
    exp, scale = math.exp, 1 / ELO_PER_LOGIT
    rows = (np.asarray(column).tolist() for column in (first_idx, second_idx, score))
    for first, second, won in zip(*rows, strict=True):
        ours, theirs = ratings[first], ratings[second]
        step = k * (won - 1 / (1 + exp((theirs - ours) * scale)))
        ratings[first] = ours + step
        ratings[second] = theirs - step
    return np.array(ratings)


def online_elo_lanes(
    first_idx: ArrayLike,
    second_idx: ArrayLike,
    score: ArrayLike,
    n_contestants: int,
    *,
    k: float = 32.0,
    start: float = ELO_MEAN,
) -> Ratings:
    """Rate many sequences of battles side by side, each as `online_elo` rates one.

    A lane is a judge, an order of the same battles, or a resample of them. Hundreds of lanes cost
    little more than one.

    Parameters
    ----------
    first_idx, second_idx : (lane, battle), int
        Positions of the contestants. Lanes with fewer battles than the longest are filled up with
        `NO_BATTLE` in both.
    score : (lane, battle)
        As in `online_elo`; anything finite where there is no battle.
    n_contestants, k, start
        As in `online_elo`.

    Returns
    -------
    (lane, contestant)
        Ratings in Elo.
    """
    n_lanes, n_battles = np.shape(first_idx)
    width = n_contestants + 1  # the last column is nobody, who absorbs the steps of no battle
    lane = np.arange(n_lanes) * width
    first, second = (_by_step(column, lane, n_contestants) for column in (first_idx, second_idx))
    scores = np.ascontiguousarray(np.asarray(score, dtype=np.float64).T)
    table = np.full(n_lanes * width, float(start))
    for step in range(n_battles):
        ours, theirs = table[first[step]], table[second[step]]
        gain = k * (scores[step] - 1 / (1 + np.exp((theirs - ours) / ELO_PER_LOGIT)))
        table[first[step]] = ours + gain
        table[second[step]] = theirs - gain
    return table.reshape(n_lanes, width)[:, :n_contestants]


def _by_step(column: ArrayLike, lane: NDArray[np.int64], nobody: int) -> NDArray[np.int64]:
    """Places in the raveled table of lanes: (lane, battle) -> (battle, lane)."""
    column = np.asarray(column)
    return np.ascontiguousarray((np.where(column == NO_BATTLE, nobody, column) + lane[:, None]).T)
