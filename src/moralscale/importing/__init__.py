"""Judgments that were collected elsewhere, checked row by row."""

from __future__ import annotations

from moralscale.importing.composites import design_composites, load_composites
from moralscale.importing.judgments import import_from_files, import_judgments, read_any

__all__ = [
    "design_composites",
    "import_from_files",
    "import_judgments",
    "load_composites",
    "read_any",
]
