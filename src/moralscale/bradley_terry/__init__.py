"""The Bradley-Terry model with ties and position bias, by maximum likelihood on counts."""

from moralscale.bradley_terry.connectivity import check_estimable
from moralscale.bradley_terry.counts import VERDICTS, Counts, count
from moralscale.bradley_terry.estimate import Errors, Estimate, maximum_likelihood
from moralscale.bradley_terry.quasi_variances import quasi_variances

__all__ = [
    "VERDICTS",
    "Counts",
    "Errors",
    "Estimate",
    "check_estimable",
    "count",
    "maximum_likelihood",
    "quasi_variances",
]
