"""The Elo scale: a unit for log-odds that readers of arenas know."""

from __future__ import annotations

import math
from typing import Any

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
    """
    return ELO_MEAN + ELO_PER_LOGIT * (strength - strength.mean(axis=axis, keepdims=True))
