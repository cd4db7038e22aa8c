"""Whether the sampler went through the posterior without accidents."""

from __future__ import annotations

import numpy as np
import xarray as xr

from moralscale.checks.result import CheckResult
from moralscale.config import Gates
from moralscale.errors import ModelError


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
        The sampler left neither.
    """
    import arviz_stats  # slow, and a gate only reads what was found

    for name in ("diverging", "energy"):
        if name not in posterior["sample_stats"].data_vars:
            what = f"no variable '{name}' in group 'sample_stats'"
            raise ModelError(what, where="posterior", mend="fit it again")
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
