"""The small design that every simulated data set of the calibration shares."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from moralscale.arrays import Arrays, make_arrays
from moralscale.config import Calibration
from moralscale.design import make_composites, make_schedules
from moralscale.records import Outcome

#: Intensity pairs of the composites, of every foundation pair: as balanced as all sixteen, and with
#: both configurations of the anchoring contrast.
PAIRS = ((-2, -2), (-1, -2), (2, -1), (1, 1), (2, 2))


@dataclass(frozen=True, eq=False)
class SmallDesign:
    """Corpus, composites and schedule of the simulated data sets.

    Attributes
    ----------
    scenes, composites : DataFrame
        `Calibration.scenes` scenes a cell without anchors, and 50 composites.
    judges : tuple of str
        Names of the judges.
    arrays : Arrays
        The comparisons, with outcomes that stand for nothing.
    """

    scenes: pd.DataFrame
    composites: pd.DataFrame
    judges: tuple[str, ...]
    arrays: Arrays


def small_design(corpus: pd.DataFrame, settings: Calibration, *, seed: int) -> SmallDesign:
    """Make the design.

    Parameters
    ----------
    corpus : DataFrame
        The full corpus, of which the first scenes of each cell are taken.
    settings : Calibration
        Sizes.
    seed : int
        Seed of composites and schedules.
    """
    cells = corpus[~corpus["anchor"].astype(bool)].groupby(["foundation", "intensity"])
    scenes = cells.head(settings.scenes).reset_index(drop=True)
    composites = make_composites(scenes, realisations=1, seed=seed)
    pair = zip(composites["intensity_a"], composites["intensity_b"], strict=True)
    kept = [p in PAIRS for p in pair]
    if {-2, -1, 1, 2} <= set(scenes["intensity"]):  # another scale keeps all its pairs
        composites = composites[kept].reset_index(drop=True)
    judges = tuple(f"judge-{number}" for number in range(1, settings.judges + 1))
    schedule = make_schedules(
        scenes,
        composites,
        judges,
        judgments=settings.judgments.model_dump(),
        repeats=1,
        prompts=["simulated"],
        seed=seed,
    )
    table = schedule.assign(outcome=Outcome.FIRST.value)
    arrays = make_arrays(table, scenes, composites, data="bridged")
    return SmallDesign(scenes, composites, judges, arrays)
