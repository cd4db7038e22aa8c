"""Ratings of anything that was compared in pairs."""

from moralscale.rating.comparisons import Comparisons
from moralscale.rating.rate import rate, rate_comparisons
from moralscale.rating.reading import read_comparisons
from moralscale.rating.settings import Method, Settings

__all__ = ["Comparisons", "Method", "Settings", "rate", "rate_comparisons", "read_comparisons"]
