"""Power-scaling sensitivity: what a slightly stronger or weaker prior or likelihood would do.

Only the priors of hyperparameters are scaled. Scaling the distributions of latent effects as well,
which are part of the model and no prior, gives conflicts where there are none.
"""

from __future__ import annotations

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr

from moralscale.arrays import Arrays
from moralscale.config import Observation
from moralscale.likelihood import blocks, log_probability
from moralscale.printing import KEY
from moralscale.priors import Priors, load_priors
from moralscale.sensitivity.refits import Base

#: Draws that are read; the log-likelihood of more takes long and tells little more.
DRAWS = 500


def power_scaling(base: Base, quantities: xr.Dataset) -> pd.DataFrame:
    """Measure power-scaling sensitivity of the key quantities.

    Parameters
    ----------
    base : Base
        A fit, and what it was made of.
    quantities : Dataset
        Draws of every reported quantity, of the same chains and draws.

    Returns
    -------
    DataFrame
        One row a value: quantity, index, prior and likelihood (sensitivities), diagnosis.

    References
    ----------
    Kallioinen, Paananen, Bürkner and Vehtari (2024), Detecting and diagnosing prior and likelihood
    sensitivity with power-scaling, Statistics and Computing 34.
    """
    posterior = base.posterior["posterior"].to_dataset()
    names = [name for name in dict.fromkeys(name for name, *_ in KEY) if name in quantities]
    quantities = quantities[names]
    step = max(1, posterior.sizes["draw"] * posterior.sizes["chain"] // DRAWS)
    thin = {"draw": slice(None, None, step)}
    posterior, quantities = posterior.isel(thin), quantities.isel(thin)
    tree = xr.DataTree.from_dict(
        {
            "posterior": quantities,
            "log_prior": log_prior(posterior, load_priors(base.priors)),
            "log_likelihood": log_likelihood(posterior, base.arrays(), base.options),
        }
    )
    found = az.psense_summary(tree, var_names=names)
    parts = found.index.str.extract(r"^([^\[]+)(?:\[(.*)\])?$")
    table = pd.DataFrame(
        {
            "quantity": parts[0].to_numpy(),
            "index": parts[1].fillna("").to_numpy(),
            "prior": found["prior"].to_numpy(),
            "likelihood": found["likelihood"].to_numpy(),
            "diagnosis": found["diagnosis"].replace("✓", "none").to_numpy(),
        }
    )
    return table


def log_prior(posterior: xr.Dataset, priors: Priors) -> xr.Dataset:
    """Log-density of every hyperparameter's own prior: variables (chain, draw)."""
    out = {}
    for name in priors:
        if name in posterior and posterior[name].ndim == 2:
            draws = posterior[name].transpose("chain", "draw")
            density = pm.logp(priors.dist(name), draws.values.astype(np.float64)).eval()
            out[name] = (("chain", "draw"), density)
    return xr.Dataset(out, coords={name: posterior[name] for name in ("chain", "draw")})


def log_likelihood(posterior: xr.Dataset, arrays: Arrays, options: Observation) -> xr.Dataset:
    """Log-likelihood of all judgments together: variable ``judgments`` (chain, draw)."""
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    total = np.zeros(shape[0] * shape[1])
    for rows in blocks(arrays, total.size):
        total += log_probability(posterior, arrays, options, rows).sum(axis=1)
    coords = {name: posterior[name] for name in ("chain", "draw")}
    return xr.Dataset({"judgments": (("chain", "draw"), total.reshape(shape))}, coords=coords)
