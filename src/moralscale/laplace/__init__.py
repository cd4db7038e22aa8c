"""The joint model by its mode: a marginal Laplace approximation, fast enough to repeat.

``Problem`` states the model of docs/model.md as sums of squares, ``solve`` finds its mode, and
``Laplace.draws`` gives strengths that `moralscale.projections` reads like a posterior. Modules:
`problem` and `judgments` (residuals, log-odds), `expansion` and `arrow` (curvature), `skew` (mean
against mode), `mode` (the search), `spreads` and `response` (intervals).
"""

from moralscale.laplace.approximation import Laplace, solve, strengths
from moralscale.laplace.expansion import Expansion
from moralscale.laplace.problem import Problem

__all__ = ["Expansion", "Laplace", "Problem", "solve", "strengths"]
