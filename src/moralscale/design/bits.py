"""Random bits that are the same on every platform, for schedules that must not change.

They are raw 64-bit words of PCG64, whose stream numpy keeps fixed over platforms and releases; the
methods of `numpy.random.Generator` come without that promise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def bits_for(*key: str | int) -> PCG64:
    """Random bits that depend on `key` alone: seed, arena, judge, purpose."""
    digest = hashlib.sha256(json.dumps(key, ensure_ascii=False).encode()).digest()
    return PCG64(int.from_bytes(digest, "big"))


def permutation(bits: PCG64, size: int) -> Ints:
    """Random order of ``range(size)``, shape (size,)."""
    return np.argsort(bits.random_raw(size), kind="stable")


def below(bits: PCG64, bound: int) -> Iterator[int]:
    """Endless random integers from 0 up to, without, `bound`."""
    while True:
        yield from (bits.random_raw(1024) % np.uint64(bound)).tolist()
