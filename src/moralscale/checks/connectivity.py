"""Whether the comparisons connect everything that a fit puts in one order.

A hierarchical model gives an order across groups that never met, too: that of its priors.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from moralscale.checks.result import CheckResult
from moralscale.posterior import arrays_of

#: Contestants that a text names.
NAMED = 3


def check_connectivity(posterior: xr.DataTree) -> CheckResult:
    """Warn where contestants fall into groups between which nobody judged.

    Judges share strengths, so their comparisons count together. Scenes and composites are one order
    where the bridge arena sets them against each other, and two orders elsewhere.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.

    Returns
    -------
    CheckResult
        One row an order: the number of groups, which should be 1. It warns and never stops a run.
    """
    arrays = arrays_of(posterior)
    scenes, composites = arrays.coords["scene"], arrays.coords["composite"]
    once = len(scenes) + len(composites)
    first, second = (slots % once for slots in arrays.slots)
    everywhere = np.ones(len(first), dtype=bool)
    orders = (
        {"scenes and composites": (0, scenes + composites, everywhere)}
        if arrays.bridged
        else {
            "scenes": (0, scenes, arrays.arena_idx == 0),
            "composites": (len(scenes), composites, arrays.arena_idx == 1),
        }
    )
    rows = []
    for order, (start, names, here) in orders.items():
        groups = _groups(first[here] - start, second[here] - start, names)
        rows.append((f"groups of {order}", len(groups), 1, len(groups) == 1, _text(order, groups)))
    return CheckResult.of("connectivity", rows, warning=True)


def _groups(first: np.ndarray, second: np.ndarray, names: list[str]) -> list[list[str]]:
    """Contestants by connected component, the largest first."""
    shape = (len(names), len(names))
    graph = coo_array((np.ones(len(first)), (first, second)), shape=shape)
    _, label = connected_components(graph, directed=False)
    groups = [list(group) for _, group in pd.Series(names).groupby(label)]
    return sorted(groups, key=len, reverse=True)


def _text(order: str, groups: list[list[str]]) -> str:
    if len(groups) == 1:
        return f"comparisons connect all {order}"
    apart = [name for group in groups[1:] for name in group]
    more = f" and {len(apart) - NAMED} more" if len(apart) > NAMED else ""
    return (
        f"{order} fall into {len(groups)} groups that never met ({', '.join(apart[:NAMED])}{more} "
        "apart from the rest): their order across groups is the prior's"
    )
