"""One simulated data set: simulate its answers, fit them, and set truth beside what was found."""

from __future__ import annotations

import time
from collections.abc import Callable

import arviz as az
import numpy as np
import pandas as pd
import xarray as xr

from moralscale.calibration.targets import targets
from moralscale.config import Calibration, Reporting
from moralscale.estimands import Estimands
from moralscale.summaries import interval_bounds

#: Draws of a fit among which a truth is ranked: few enough to be as good as independent.
RANKED_DRAWS = 99
COLUMNS = (
    "kind",
    "replicate",
    "quantity",
    "index",
    "truth",
    "mean",
    "sd",
    "hdi_low",
    "hdi_high",
    "rank",
    "rhat",
    "ess",
    "divergences",
    "passed",
    "seconds",
)


def replicate(
    truth: xr.Dataset,
    fitted: Callable[[], xr.DataTree],
    estimands: Estimands,
    *,
    kind: str,
    number: int,
    names: tuple[str, ...],
    settings: Calibration,
    reporting: Reporting,
) -> pd.DataFrame:
    """Fit one simulated data set.

    Parameters
    ----------
    truth : Dataset
        Where the answers came from.
    fitted : callable
        Samples the posterior of the answers.
    estimands : Estimands
        What the composites are made of.
    kind, number : str, int
        Which replicate this is.
    names : tuple of str
        Quantities to look at (`targets.RECOVERED` or `targets.RANKED`).
    settings, reporting
        Gates of the fit; kind and probability of intervals.

    Returns
    -------
    DataFrame
        One row a quantity and index, columns `COLUMNS`. ``rank`` is the number of draws, of
        `RANKED_DRAWS`, below the truth; ``passed`` says whether the fit passed its gates, over all
        its rows. ``seconds`` is processor time.
    """
    started = time.process_time()
    tree = fitted()
    seconds = time.process_time() - started
    draws = dict(
        ((name, index), value)
        for name, index, value in targets(tree["posterior"].to_dataset(), estimands, names)
    )
    rows = [
        {"quantity": name, "index": index} | _found(float(value), draws[name, index], reporting)
        for name, index, value in targets(truth, estimands, names)
        if (name, index) in draws
    ]
    table = pd.DataFrame(rows)
    divergences = int(tree["sample_stats"]["diverging"].sum())
    passed = (
        table["rhat"].max() <= settings.rhat
        and table["ess"].min() >= settings.ess
        and divergences <= settings.divergences
    )
    return table.assign(
        kind=kind, replicate=number, divergences=divergences, passed=passed, seconds=seconds
    )[list(COLUMNS)]


def _found(truth: float, draws: xr.DataArray, reporting: Reporting) -> dict[str, float]:
    draws = draws.transpose("chain", "draw").astype(float)
    low, high = interval_bounds(draws, reporting).values
    values = draws.values.ravel()
    thinned = values[np.linspace(0, len(values) - 1, RANKED_DRAWS).round().astype(int)]
    return {
        "truth": truth,
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)),
        "hdi_low": float(low),
        "hdi_high": float(high),
        "rank": int((thinned < truth).sum()),
        "rhat": float(az.rhat(draws)),
        "ess": float(az.ess(draws)),
    }
