"""The study's estimators: two steps, from ratings of each arena to a line between them.

``ESTIMATORS[name](arenas, settings, rng)`` rates; `lines`, or `projections.quantities` on the
strengths, gives the study's figures. Modules: `battles` (data and resamples), `likelihood`
(penalised Bradley-Terry), `estimators`, `regression`, `resampling`.
"""

from moralscale.twostep.estimators import (
    ESTIMATORS,
    Strengths,
    StudyArenas,
    elo_over_orders,
    rate_all,
    study_arenas,
    together,
)
from moralscale.twostep.regression import Lines, lines
from moralscale.twostep.resampling import bootstrap

__all__ = [
    "ESTIMATORS",
    "Lines",
    "Strengths",
    "StudyArenas",
    "bootstrap",
    "elo_over_orders",
    "lines",
    "rate_all",
    "study_arenas",
    "together",
]
