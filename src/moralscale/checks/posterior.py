"""Check a posterior that stands alone: its file holds all that is needed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import xarray as xr

from moralscale.checks import check_fit, to_table
from moralscale.config import Gates, Reporting
from moralscale.posterior import arrays_of
from moralscale.posterior_file import load
from moralscale.projections import quantities
from moralscale.summaries import summarise


def check_posterior(
    posterior: str | Path | xr.DataTree,
    *,
    gates: Gates | None = None,
    reporting: Reporting | None = None,
    seed: int = 0,
    where: str | Path = "posterior",
) -> pd.DataFrame:
    """Run every check of a fit on a posterior, projections included.

    Parameters
    ----------
    posterior : path or DataTree
        ``posterior.nc`` of a fit, or what `fit` returned.
    gates : Gates, optional
        The bounds; the defaults of the configuration unless given.
    reporting : Reporting, optional
        Kind and probability of the intervals.
    seed : int, optional
        Seed of the replicated judgments.
    where : path, optional
        The file of a posterior that was read already, for errors.

    Returns
    -------
    DataFrame
        One row a tested value: check, quantity, value, bound, passed, text.

    Raises
    ------
    ModelError
        The file is no posterior, or lacks a part that a check needs.
    """
    if isinstance(posterior, xr.DataTree):
        tree = posterior
    else:
        tree, where = load(posterior), posterior
    estimates = summarise(
        quantities(tree["posterior"].to_dataset(), arrays_of(tree, where=str(where)).estimands),
        reporting or Reporting(),
    )
    return to_table(check_fit(tree, estimates, gates or Gates(), seed=seed))
