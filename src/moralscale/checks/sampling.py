"""Whether the sampler went through the posterior without accidents."""

from __future__ import annotations

import numpy as np
import xarray as xr

from moralscale.checks.result import CheckResult
from moralscale.config import Gates
from moralscale.posterior import require


def check_sampling(posterior: xr.DataTree, gates: Gates) -> CheckResult:
    """Check divergent transitions and E-BFMI.

    Parameters
    ----------
    posterior : DataTree
        With group ``sample_stats``: ``diverging`` and ``energy`` (chain, draw).
    gates : Gates
        Bounds ``divergences`` (most, over all chains) and ``ebfmi`` (smallest of any chain).

    Raises
    ------
    ModelError
        The sampler did not leave both.
    """
    import arviz_stats  # slow, and a gate only reads what was found

    require(posterior, "sample_stats", ("diverging", "energy"))
    divergent = int(posterior["sample_stats"]["diverging"].sum())
    ebfmi = float(np.min(arviz_stats.bfmi(posterior)["energy"].values))
    return CheckResult.of(
        "sampling",
        [
            (
                "divergences",
                divergent,
                gates.divergences,
                divergent <= gates.divergences,
                f"{divergent} divergent transitions (bound <= {gates.divergences})",
            ),
            (
                "ebfmi",
                ebfmi,
                gates.ebfmi,
                ebfmi >= gates.ebfmi,
                f"smallest E-BFMI is {ebfmi:.3g} (bound >= {gates.ebfmi:g})",
            ),
        ],
    )
