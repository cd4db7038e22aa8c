"""Elo's online rule, in compiled code."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from moralscale.elo import ELO_PER_LOGIT

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def play(
    first: Index, second: Index, score: Array, orders: Index, ratings: Array, k: float
) -> None:
    """Play battles in one order after the other; arguments as `elo.online_elo` has made them.

    Parameters
    ----------
    first, second, score : (battle,)
    orders : (order, played)
    ratings : (order, contestant)
        Ratings before the first battle, overwritten by those after the last.
    k : float
    """
    for lane in range(len(orders)):
        rating = ratings[lane]
        for battle in orders[lane]:
            one, other = first[battle], second[battle]
            gap = (rating[other] - rating[one]) / ELO_PER_LOGIT
            gain = k * (score[battle] - 1 / (1 + np.exp(gap)))
            rating[one] += gain
            rating[other] -= gain
