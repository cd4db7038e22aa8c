"""Composition rules side by side: how well each foretells judgments that it has not seen."""
