"""Anthropic's batch interface: one request of all questions, one file of answers in any order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

#: Seconds that the provider's clock may be behind ours.
CLOCKS = 3600.0


def _size(batch: Mapping[str, Any]) -> int:
    counts = batch.get("request_counts")
    values = counts.values() if isinstance(counts, dict) else ()
    return sum(value for value in values if isinstance(value, int))


def _made(batch: Mapping[str, Any]) -> float:
    """When a batch was made, Unix time; 0 where it does not say."""
    try:
        return datetime.fromisoformat(str(batch.get("created_at"))).timestamp()
    except ValueError:
        return 0.0
