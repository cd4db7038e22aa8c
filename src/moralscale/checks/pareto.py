"""Whether leaving out one judgment would change the posterior too much to be foretold."""

from __future__ import annotations

import xarray as xr

from moralscale.checks.result import CheckResult
from moralscale.compare.loo import psis_loo
from moralscale.config import Gates

#: Draws that the check reads: enough for a shape parameter, few enough for a minute.
DRAWS = 500


def check_pareto(posterior: xr.DataTree, gates: Gates) -> CheckResult:
    """Check Pareto k of every judgment.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    gates : Gates
        Bound ``pareto_k``: largest k of any judgment.
    """
    k = psis_loo(posterior, draws=DRAWS).pareto_k.values
    largest, bound = float(k.max()), gates.pareto_k
    text = (
        f"largest Pareto k of {len(k)} judgments is {largest:.3g} "
        f"({int((k > bound).sum())} above {bound:g})"
    )
    return CheckResult.of("pareto", [("pareto_k", largest, bound, largest <= bound, text)])
