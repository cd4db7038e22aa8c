"""The joint model by its mode: a marginal Laplace approximation, fast enough to repeat.

``Problem`` states the model of docs/model.md as sums of squares, ``solve`` finds its mode, and
``Laplace.draws`` gives strengths that `moralscale.projections` reads like a posterior.
"""

from moralscale.laplace.mode import Laplace, solve
from moralscale.laplace.problem import Problem

__all__ = ["Laplace", "Problem", "solve"]
