"""Leave-one-out prediction of every judgment, by Pareto-smoothed importance sampling."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import arviz_base
import arviz_stats
import numpy as np
import xarray as xr
from arviz_stats.base.array import array_stats
from arviz_stats.utils import ELPDDataLOO
from numpy.typing import NDArray

from moralscale.errors import ModelError
from moralscale.likelihood import log_probability
from moralscale.posterior import arrays_of, options_of, spread, take_draws

#: Judgments at a time: with 1,000 draws 32 MB of log-likelihoods, and as much again to sort.
BLOCK = 4000
#: Fewest draws: a fifth of them is the tail, and its shape needs five.
FEWEST = 25


def psis_loo(
    posterior: xr.DataTree, *, draws: int = 1000, judgments: NDArray[np.int64] | None = None
) -> ELPDDataLOO:
    """Estimate the log density of every judgment given all others (Vehtari et al. 2017).

    Judgments are independent given a draw, so they are treated in blocks and memory stays small.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    draws : int
        Draws to use, evenly spaced over the chains.
    judgments : (judgment,), optional
        Places of the judgments to leave out, each alone; all of them unless given.

    Returns
    -------
    ELPDDataLOO
        With ``elpd_i`` and ``pareto_k`` (judgment,).

    Raises
    ------
    ModelError
        There are fewer draws than `FEWEST`.
    """
    chosen = spread(posterior, draws)
    parts = [_block(density) for density in _log_densities(posterior, chosen, judgments)]
    elpd, k, p = (
        xr.concat([part[name] for part in parts], dim="judgment")
        for name in ("elpd_i", "pareto_k", "p")
    )
    good_k = min(1 - 1 / np.log10(len(chosen)), 0.7)
    return ELPDDataLOO(
        elpd=float(elpd.sum()),
        se=float(np.sqrt(elpd.size * elpd.var())),
        p=float(p.sum()),
        n_samples=len(chosen),
        n_data_points=elpd.size,
        scale="log",
        warning=bool((k > good_k).any()),
        good_k=good_k,
        elpd_i=elpd,
        pareto_k=k,
    )


def evenness(posterior: xr.DataTree, *, draws: int = 500) -> NDArray[np.float64]:
    """Tell how even the weights of draws stay where a judgment is left out.

    A draw weighs the inverse of the probability that it gives to the judgment (Gelfand et al.
    1992). Over even weights the posterior without the judgment is the posterior with it.

    Parameters
    ----------
    posterior, draws
        As in `psis_loo`.

    Returns
    -------
    ndarray
        Of shape (judgment,): effective over actual number of draws (Kish 1965), 1 where all weigh
        the same; 0 where a weight is no number.
    """
    found = []
    for density in _log_densities(posterior, spread(posterior, draws), None):
        with np.errstate(invalid="ignore"):
            weight = np.exp(density.min(axis=0) - density)
        found.append(weight.mean(axis=0) ** 2 / (weight**2).mean(axis=0))
    return np.nan_to_num(np.concatenate(found), nan=0.0)


def pareto_shapes(
    posterior: xr.DataTree, *, draws: int = 1000, judgments: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Estimate Pareto k alone of every judgment, in half of the time.

    Parameters
    ----------
    posterior, draws, judgments
        As in `psis_loo`.

    Returns
    -------
    ndarray
        Of shape (judgment,).
    """
    shapes = [
        array_stats.psislw(density, axis=0)[1]
        for density in _log_densities(posterior, spread(posterior, draws), judgments)
    ]
    return np.concatenate(shapes)


def _log_densities(
    posterior: xr.DataTree, chosen: NDArray[np.int64], judgments: NDArray[np.int64] | None
) -> Iterator[NDArray[np.float64]]:
    """Give the log density of judgments, (draw, judgment), block by block."""
    if len(chosen) < FEWEST:
        raise ModelError(
            f"{len(chosen)} draws, where Pareto-smoothed importance sampling needs {FEWEST}",
            where="posterior",
            mend="sample more draws",
        )
    arrays, options = arrays_of(posterior), options_of(posterior)
    read = take_draws(posterior, chosen)
    places = np.arange(len(arrays.outcome)) if judgments is None else judgments
    for start in range(0, len(places), BLOCK):
        yield log_probability(read, arrays, options, places[start : start + BLOCK])


def _block(log_density: np.ndarray) -> dict[str, Any]:
    """PSIS-LOO of a block: log_density (draw, judgment)."""
    groups = {
        "posterior": {"none": np.zeros((1, len(log_density)))},
        "log_likelihood": {"density": log_density[None]},
    }
    tree = arviz_base.from_dict(groups, dims={"density": ["judgment"]})
    with warnings.catch_warnings():
        # A high Pareto k is reported in a column of its own.
        warnings.filterwarnings("ignore", message=".*shape parameter of Pareto", module="arviz")
        # Thinned draws are as good as independent.
        found = arviz_stats.loo(tree, pointwise=True, reff=1.0)
    names = {"elpd_i": found.elpd_i, "pareto_k": found.pareto_k}
    return {
        **{name: value.drop_vars("judgment", errors="ignore") for name, value in names.items()},
        "p": xr.DataArray([found.p], dims="judgment"),
    }
