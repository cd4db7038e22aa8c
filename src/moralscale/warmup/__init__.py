"""Coordinates in which a posterior is nearly a standard normal, learnt from a short first run.

``density`` calls the compiled model, ``curvature`` measures it, ``coordinates`` maps the sampler's
space to the model's, ``learning`` puts the three together. The posterior stays what it is: only the
sampler's path changes (docs/performance.md).
"""

from moralscale.warmup.learning import Learnt, first_run, learn

__all__ = ["Learnt", "first_run", "learn"]
