"""Elo's online rule, in compiled code."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def play(
    first: Index,
    second: Index,
    score: Array,
    orders: Index,
    ratings: Array,
    k: float,
    scale: float,
) -> None:
    """Play battles in one order after the other; arguments as `elo.online_elo` has made them.

    Parameters
    ----------
    first, second, score : (battle,)
    orders : (order, played)
    ratings : (order, contestant)
        Ratings before the first battle, overwritten by those after the last.
    k, scale : float
        Largest step, and points a unit of log-odds, Elo.
    """
    for lane in range(len(orders)):
        rating = ratings[lane]
        for battle in orders[lane]:
            one, other = first[battle], second[battle]
            expected = 1 / (1 + np.exp((rating[other] - rating[one]) / scale))
            gain = k * (score[battle] - expected)
            rating[one] += gain
            rating[other] -= gain
