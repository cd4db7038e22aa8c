"""Pairing by information: contestants of like expected strength meet.

A judgment tells most where its outcome is open. Intensity labels say beforehand about how strong a
contestant is; seconds are exchanged between comparisons, as in `moralscale.design.graphs`, so that
who is shown how often, first and second, stays as dealt.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import PCG64
from numpy.typing import NDArray

from moralscale.design.bits import Ints, below
from moralscale.design.graphs import Bools

#: Steps of intensity by which two options may differ and still count as alike. Some distance is
#: left in on purpose: without it nothing would tie the levels of intensity to each other.
SLACK = 1


def expected_strengths(
    ids: NDArray[np.object_], scenes: pd.DataFrame, composites: pd.DataFrame
) -> Ints:
    """Give the intensity of a scene, and the sum of both of a composite: (contestant,)."""
    known = dict(zip(scenes["id"], scenes["intensity"], strict=True))
    sums = composites["intensity_a"] + composites["intensity_b"]
    known |= dict(zip(composites["composite_id"], sums, strict=True))
    return np.array([known[name] for name in ids], dtype=np.int64)


def draw_near(first: Ints, second: Ints, allowed: Bools, strength: Ints, bits: PCG64) -> Ints:
    """Reorder `second` so that options of like strength meet.

    Exchanges that lower the sum of distances beyond `SLACK`, bar nobody's way and make no pair meet
    again are taken; about 40 a comparison are tried.

    Parameters
    ----------
    first, second : array, shape (m,)
        Contestants of each comparison.
    allowed : array, shape (n, n)
        Who may meet whom.
    strength : array, shape (n,)
        Expected strengths.
    bits : PCG64
        Random bits for the choice of rows.

    Returns
    -------
    array, shape (m,)
        `second`, reordered.
    """
    ones, others = first.tolist(), second.tolist()
    level: list[int] = strength.tolist()
    free = allowed.tolist()
    met = {frozenset(pair) for pair in zip(ones, others, strict=True)}

    def far(a: int, b: int) -> int:
        return max(abs(level[a] - level[b]) - SLACK, 0)

    pick = below(bits, len(ones))
    for _ in range(40 * len(ones)):
        i, k = next(pick), next(pick)
        a, b, c, d = ones[i], others[i], ones[k], others[k]
        if far(a, d) + far(c, b) >= far(a, b) + far(c, d) or not (free[a][d] and free[c][b]):
            continue
        new = {frozenset((a, d)), frozenset((c, b))}
        if len(new) < 2 or new & met:
            continue
        met -= {frozenset((a, b)), frozenset((c, d))}
        met |= new
        others[i], others[k] = d, b
    return np.array(others, dtype=np.int64)
