"""How far two-step estimates would move with other battles, and with another order of the same."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from moralscale.config import TwoStep
from moralscale.twostep.estimators import ESTIMATORS, Strengths, StudyArenas

LOG = logging.getLogger(__name__)

#: Resamples that are rated side by side, for speed.
_TOGETHER = 10


def bootstrap(
    name: str, arenas: StudyArenas, settings: TwoStep, rng: np.random.Generator
) -> Strengths:
    """Repeat an estimator on resamples of each judge's battles.

    Judges, scenes and composites stay: the spread is what other battles, and for online Elo other
    orders, would have changed. No round lacks a contestant that the data have
    (`Battles.resampled`); how many had to be brought back is logged.

    Parameters
    ----------
    name : str
        One of `ESTIMATORS`.
    arenas : StudyArenas
    settings : TwoStep
        ``settings.rounds`` resamples.
    rng : Generator

    Returns
    -------
    Strengths
        theta (round, judge, scene), phi (round, judge, composite).
    """
    n_judges = arenas.single.n_judges
    theta, phi, returned = [], [], 0
    for done in range(0, settings.rounds, _TOGETHER):
        rounds = min(_TOGETHER, settings.rounds - done)
        (single, lost_scenes), (composite, lost_composites) = (
            battles.resampled(rng, rounds) for battles in (arenas.single, arenas.composite)
        )
        resampled = replace(arenas, single=single, composite=composite)
        found = ESTIMATORS[name](resampled, settings, rng)
        theta.append(found.theta.reshape(rounds, n_judges, -1))
        phi.append(found.phi.reshape(rounds, n_judges, -1))
        returned += lost_scenes + lost_composites
    if returned:
        share = returned / settings.rounds / n_judges
        LOG.info("%s: %.2f contestants a judge and round got a battle back", name, share)
    return Strengths(np.concatenate(theta), np.concatenate(phi))
