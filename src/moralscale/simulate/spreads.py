"""How far judges, scenes and composites of a simulated panel lie apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FOUNDATION_SLOPE_SD = 0.12
CELL_SD = 0.12
SCENE_SD = 0.35
JUDGE_SD = 0.25
CONSISTENCY_SD = 0.15
SLOPE_SD = 0.04
FOUNDATION_JUDGE_SD = 0.03
PROFILE_SD = 0.15
INTERCEPT_SD = 0.10
POSITION_SD = 0.20
LAPSE_SD = 0.40
TIE_SD = 0.30
ARENA_SD = 0.10
GROWTH_SD = 0.03


def centred(rng: np.random.Generator, n: int) -> Array:
    """Draw standard normals shifted to sum to zero, so that a mean is planted exactly."""
    draws = rng.standard_normal(n)
    return draws - draws.mean()
