"""The study's estimators: two steps, from ratings of each arena to a line between them.

``ESTIMATORS[name](arenas, settings, rng)`` rates; `lines`, or `projections.quantities` on the
strengths, gives the study's figures. Modules: `battles` (data and resamples), `likelihood`
(penalised Bradley-Terry), `estimators`, `lines`, `bootstrap`.
"""

from moralscale.twostep.bootstrap import bootstrap
from moralscale.twostep.estimators import (
    ESTIMATORS,
    Strengths,
    StudyArenas,
    elo_over_orders,
    study_arenas,
    together,
)
from moralscale.twostep.lines import Lines, lines

__all__ = [
    "ESTIMATORS",
    "Lines",
    "Strengths",
    "StudyArenas",
    "bootstrap",
    "elo_over_orders",
    "lines",
    "study_arenas",
    "together",
]
