"""Whether leaving out one judgment would change the posterior too much to be foretold."""

from __future__ import annotations

import numpy as np
import xarray as xr

from moralscale.checks.result import CheckResult
from moralscale.config import Gates
from moralscale.posterior import n_draws

#: Judgments whose k is found, from all draws: those that would be missed most. Where weights stay
#: even k is the shape of a tail without a body, and of tens of thousands the largest is error.
INFLUENTIAL = 1000


def check_pareto(posterior: xr.DataTree, gates: Gates) -> CheckResult:
    """Check Pareto k of the judgments that leave the least even weights where they are left out.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    gates : Gates
        Bound ``pareto_k``: largest k of any of them.
    """
    # Slow to import, and a gate only reads what was found.
    from moralscale.compare.loo import evenness, pareto_shapes

    even = evenness(posterior)
    places = np.sort(np.argsort(even, kind="stable")[:INFLUENTIAL])
    k = pareto_shapes(posterior, draws=n_draws(posterior), judgments=places)
    k[np.isnan(k)] = np.inf  # weights that are no numbers, or have no tail
    bound, largest = gates.pareto_k, float(k.max())
    text = (
        f"largest Pareto k of the {len(k)} most influential judgments is {largest:.3g} "
        f"({int((k > bound).sum())} above {bound:g})"
    )
    return CheckResult.of("pareto", [("pareto_k", largest, bound, largest <= bound, text)])
