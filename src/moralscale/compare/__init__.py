"""Composition rules side by side: how well each foretells judgments that it has not seen."""

from __future__ import annotations

from moralscale.compare.ranking import compare_posteriors, rank

__all__ = ["compare_posteriors", "rank"]
