"""Strengths of scenes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moralscale.estimands import Estimands
from moralscale.records import INTENSITIES, intensities_of
from moralscale.simulate.spreads import (
    CELL_SD,
    CONSISTENCY_SD,
    FOUNDATION_SLOPE_SD,
    JUDGE_SD,
    SCENE_SD,
    centred,
)

Array = NDArray[np.float64]

#: Strength of a scene by intensity, log-odds, from -2 to +2; other scales are stretched to that.
#: +2 and -1 together weigh as much as +1 and +1.
INTENSITY_CURVE = (-1.50, -0.60, 0.0, 0.45, 1.50)
#: Share of the anchoring contrast that is taken off a scene, by intensity.
ANCHORING_SHARE = {-1: 1 / 6, 1: -1 / 3, 2: 1 / 6}


def scene_strengths(
    rng: np.random.Generator, scenes: pd.DataFrame, estimands: Estimands, n_judges: int
) -> dict[str, Array]:
    """Scene strengths, shared (scene,) and per judge (judge, scene), each summing to zero.

    Intensities are shifted, as little as can be, so that +2/-1 and +1/+1 composites have the same
    mean component sum: that is what makes their contrast one of anchoring.
    """
    foundations, intensities = estimands.foundation_names, intensities_of(scenes["intensity"])
    foundation = scenes["foundation"].map(foundations.index).to_numpy()
    level = scenes["intensity"].map(intensities.index).to_numpy()
    slopes = 1 + FOUNDATION_SLOPE_SD * centred(rng, len(foundations))
    cells = np.outer(slopes, _curve(intensities))
    cells += CELL_SD * rng.standard_normal(cells.shape)
    mu = cells[foundation, level] + SCENE_SD * rng.standard_normal(len(scenes))
    share = np.array([ANCHORING_SHARE.get(i, 0.0) for i in intensities])
    mu -= share[level] * np.nan_to_num(estimands.anchoring(estimands.component_sum(mu)))
    mu -= mu.mean()
    consistency = np.exp(CONSISTENCY_SD * centred(rng, n_judges))
    theta = consistency[:, None] * mu + JUDGE_SD * rng.standard_normal((n_judges, len(scenes)))
    theta -= theta.mean(axis=1, keepdims=True)
    return {"mu": mu, "consistency": consistency, "theta": theta}


def _curve(intensities: Sequence[int]) -> Array:
    """Mean strength of each intensity, log-odds: (intensity,)."""
    furthest = max(map(abs, intensities)) or 1
    return np.interp(np.array(intensities) * (2 / furthest), INTENSITIES, INTENSITY_CURVE)
