"""Bounds on what comes over the wire: bytes and depth."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

#: Largest response body, and longest line of a file of results, that is read; bytes.
MAX_BYTES = 4_000_000
#: Largest file of results, bytes.
MAX_FILE = 4_000_000_000
#: Deepest nesting of a response body.
MAX_DEPTH = 64


def decoded(text: str, redact: Callable[[str], str]) -> Any:
    """Decode JSON; the first characters of the text where it is not JSON or too deep.

    `redact` cuts secrets out of a text: of one that is cut itself, half of a secret might be left.
    """
    try:
        body = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return redact(text)[:2000]
    return body if _is_shallow(body, MAX_DEPTH) else redact(text)[:2000]


def _is_shallow(body: Any, depth: int) -> bool:
    level = [body]
    for _ in range(depth):
        if not level:
            return True
        level = [child for node in level for child in _children(node)]
    return not level


def _children(node: Any) -> list[Any]:
    values = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [value for value in values if isinstance(value, (dict, list))]
