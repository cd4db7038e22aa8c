"""Where each parameter of a Laplace approximation stands in its vector."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


class Layout:
    """Where each parameter stands: shared ones first, then one stretch a judge.

    Parameters
    ----------
    shared, local : mapping
        Number of values by name; of `local`, for one judge.
    n_judges : int
    """

    def __init__(self, shared: Mapping[str, int], local: Mapping[str, int], n_judges: int) -> None:
        self.n_judges = n_judges
        self.n_shared, self.n_local = sum(shared.values()), sum(local.values())
        self.size = self.n_shared + n_judges * self.n_local
        ends = np.cumsum([0, *shared.values()])
        self.shared = {k: np.arange(a, b) for k, a, b in zip(shared, ends, ends[1:], strict=False)}
        ends = np.cumsum([0, *local.values()])
        self.local = {k: np.arange(a, b) for k, a, b in zip(local, ends, ends[1:], strict=False)}

    def of(self, name: str, judge: int | None = None) -> NDArray[np.int64]:
        """Places of a shared parameter, or of a judge's own."""
        if judge is None:
            return self.shared[name]
        return self.n_shared + judge * self.n_local + self.local[name]

    def every(self, name: str) -> NDArray[np.int64]:
        """Places of a local parameter for all judges: (judge, values)."""
        return np.stack([self.of(name, j) for j in range(self.n_judges)])

    def own(self, judge: int) -> slice:
        """All places of a judge's own parameters."""
        start = self.n_shared + judge * self.n_local
        return slice(start, start + self.n_local)
