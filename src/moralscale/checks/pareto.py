"""Whether leaving out one judgment would change the posterior too much to be foretold."""

from __future__ import annotations

import numpy as np
import xarray as xr

from moralscale.checks.result import CheckResult
from moralscale.config import Gates
from moralscale.posterior import n_draws

#: Draws that are read for every judgment: few enough for a minute.
DRAWS = 500
#: A shape found from so few errs by 0.2, and the largest of 30,000 by more: where it comes this
#: near to the bound, it is found again from all draws.
DOUBT = 0.2


def check_pareto(posterior: xr.DataTree, gates: Gates) -> CheckResult:
    """Check Pareto k of every judgment.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    gates : Gates
        Bound ``pareto_k``: largest k of any judgment.
    """
    from moralscale.compare.loo import pareto_shapes  # slow, and a gate only reads what was found

    bound = gates.pareto_k
    k = pareto_shapes(posterior, draws=DRAWS)
    near = np.flatnonzero(k > bound - DOUBT)
    if len(near):
        k[near] = pareto_shapes(posterior, draws=n_draws(posterior), judgments=near)
    largest = float(k.max())
    text = (
        f"largest Pareto k of {len(k)} judgments is {largest:.3g} "
        f"({int((k > bound).sum())} above {bound:g})"
    )
    return CheckResult.of("pareto", [("pareto_k", largest, bound, largest <= bound, text)])
