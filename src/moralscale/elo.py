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
    order: ArrayLike | None = None,
    k: float = 32.0,
    start: float = ELO_MEAN,
) -> Ratings:
    """Rate contestants by Elo's online rule, battle by battle.

    Parameters
    ----------
    first_idx, second_idx : (battle,), int
        Positions of the two contestants, below `n_contestants`.
    score : (battle,)
        1 where the first won, 0 where the second did, 1/2 for a draw.
    n_contestants : int
        Contestants in all.
    order : (played,) or (order, played), int, optional
        Places of the battles as they are played, one order or several, each from the start; as they
        come unless given.
    k : float, optional
        Largest step, Elo. The rule is ``rating += k * (score - expected)``, expected being
        ``1 / (1 + 10 ** ((opponent - rating) / 400))`` (Elo 1978; Chatbot Arena 2023: K = 32).
    start : float, optional
        Rating before the first battle, Elo; one that never fights keeps it.

    Returns
    -------
    (contestant,) or (order, contestant)
        Ratings in Elo. Their mean is `start`. They depend on the order of the battles.

    Raises
    ------
    IndexError
        A contestant or a battle is none of those that there are.

    Examples
    --------
    >>> online_elo([0, 0], [1, 1], [1, 0.5], n_contestants=2).round(1).tolist()
    [1014.5, 985.5]
    """
    from moralscale.elo_online import play  # numba, which readers of the scale need not wait for

    first, second = (np.asarray(side, dtype=np.int64) for side in (first_idx, second_idx))
    scores = np.asarray(score, dtype=np.float64)
    orders = np.arange(len(first)) if order is None else np.asarray(order, dtype=np.int64)
    for places, size in ((first, n_contestants), (second, n_contestants), (orders, len(first))):
        if places.size and not 0 <= places.min() <= places.max() < size:
            raise IndexError(f"places from {places.min()} to {places.max()}, of {size}")
    if not len(first) == len(second) == len(scores):
        raise IndexError(f"{len(first)}, {len(second)} and {len(scores)} sides and scores")
    ratings = np.full((*orders.shape[:-1], n_contestants), float(start))
    lanes = np.atleast_2d(orders), np.atleast_2d(ratings)
    play(first, second, scores, *lanes, float(k), ELO_PER_LOGIT)
    return ratings
