"""Sample the posterior, and keep it with what is needed to trust and repeat it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import nutpie
import pandas as pd
import pymc as pm
import xarray as xr

from moralscale.arrays import Arrays, make_arrays
from moralscale.composition import Rule, get_rule
from moralscale.config import Sampler
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.judgments import read_judgments
from moralscale.model import REPORTED, build_model
from moralscale.priors import Priors, load_priors
from moralscale.scenes import load_scenes

#: Packages whose versions are kept with every posterior.
VERSIONED = ("moralscale", "pymc", "nutpie", "pytensor", "numpy", "xarray", "arviz")
KEPT_STATS = ("energy", "diverging", "n_steps", "tree_depth", "depth", "step_size", "lp", "logp")
LOG = logging.getLogger(__name__)


def fit(
    arrays: Arrays,
    *,
    rule: Rule,
    priors: Priors,
    sampler: Sampler,
    seed: int,
    cores: int,
    attrs: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Sample the posterior of the joint model.

    Parameters
    ----------
    arrays : Arrays
        Judgments and what they are about.
    rule, priors, sampler
        What to fit, and how.
    seed : int
        Seed of the sampler.
    cores : int
        Chains at a time.
    attrs : mapping, optional
        What else to keep about the fit (run, data, origin, digests).

    Returns
    -------
    DataTree
        Groups ``posterior`` (reported and latent quantities, dims chain and draw first),
        ``sample_stats`` (of every iteration, those between the kept draws too),
        ``observed_data`` (judgments, by their places in the strength table) and ``constant_data``
        (what scenes and composites are, for `estimands_of`).
    """
    model = build_model(arrays, priors, rule)
    names = [name for name in REPORTED if name in model.named_vars]
    sample = _sample_nutpie if sampler.backend == "nutpie" else _sample_pymc
    tree = sample(model, names, sampler, seed, cores)
    stats = tree["sample_stats"].to_dataset()
    stats = stats[[name for name in KEPT_STATS if name in stats]]
    provenance = {
        "rule": rule.name,
        "prior": priors.name,
        "seed": seed,
        "sampler": sampler.model_dump_json(),
        "versions": ", ".join(f"{name} {version(name)}" for name in VERSIONED),
        **(attrs or {}),
    }
    result = xr.DataTree.from_dict(
        {
            "posterior": _thinned(tree["posterior"].to_dataset()[names], sampler.thin),
            "sample_stats": stats.drop_attrs(),
            "observed_data": _observed(arrays),
            "constant_data": _constant(arrays),
        }
    )
    result.attrs.update(provenance)
    return result


def fit_from_files(
    *,
    judgments: str,
    scenes: str,
    composites: str,
    priors: str,
    data: str,
    rule: str,
    sampler: Mapping[str, Any],
    seed: int,
    cores: int,
    attrs: Mapping[str, Any],
) -> xr.DataTree:
    """Fit a table of judgments; arguments are paths, names and settings."""
    table = read_judgments(judgments)
    arrays = make_arrays(table, load_scenes(scenes), pd.read_parquet(composites), data=data)
    return fit(
        arrays,
        rule=get_rule(rule),
        priors=load_priors(priors),
        sampler=Sampler(**sampler),
        seed=seed,
        cores=cores,
        attrs={"data": data, "origin": ", ".join(sorted(table["origin"].unique())), **attrs},
    )


def save(tree: xr.DataTree, path: str | Path) -> None:
    """Write a posterior as compressed NetCDF with single-precision draws.

    Parameters
    ----------
    tree : DataTree
        As `fit` returns it.
    path : path
        Where to write.
    """
    encoding = {
        node.path: {
            str(name): {
                "zlib": True,
                "complevel": 4,
                "shuffle": True,
                "dtype": "float32" if variable.dtype.kind == "f" else variable.dtype,
            }
            for name, variable in node.data_vars.items()
            if variable.dtype.kind in "fiub"
        }
        for node in tree.subtree
        if node.data_vars
    }
    tree.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def save_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write draws in the same way as `save`, without groups."""
    save(xr.DataTree(dataset), path)


def load(path: str | Path) -> xr.DataTree:
    """Read a posterior that `save` wrote, into memory.

    Raises
    ------
    ModelError
        There is no such file, or it is not NetCDF.
    """
    if not h5py.is_hdf5(path):
        raise ModelError("no posterior in this file", where=str(path), mend="check the path")
    with xr.open_datatree(path, engine="h5netcdf") as tree:
        return tree.load()


def estimands_of(tree: xr.DataTree) -> Estimands:
    """Tell what the composites of a fit are made of, so that its file alone is enough.

    Raises
    ------
    ModelError
        The file holds draws, but not what they are about.
    """
    if "constant_data" not in tree.children:
        raise ModelError(
            "the posterior does not say what its composites are made of",
            where="group constant_data",
            mend="give a posterior.nc that this package wrote, or fit again",
        )
    constant = tree["constant_data"].to_dataset()
    return Estimands.from_components(
        **{
            name: constant[name].values.astype(np.int64)
            for name in ("foundation_idx", "intensity", "a_idx", "b_idx")
        }
    )


def _sample_nutpie(
    model: pm.Model, names: list[str], sampler: Sampler, seed: int, cores: int
) -> xr.DataTree:
    started = time.monotonic()
    compiled = nutpie.compile_pymc_model(model, var_names=names)
    seconds = time.monotonic() - started
    LOG.info("model of %d parameters compiled in %.0f s", compiled.n_dim, seconds)
    return nutpie.sample(
        compiled,
        draws=sampler.draws * sampler.thin,
        tune=sampler.tune,
        chains=sampler.chains,
        cores=cores,
        seed=seed,
        target_accept=sampler.target_accept,
        save_warmup=False,
        **_progress(sampler),
    )


def _sample_pymc(
    model: pm.Model, names: list[str], sampler: Sampler, seed: int, cores: int
) -> xr.DataTree:
    with model:
        return pm.sample(
            draws=sampler.draws * sampler.thin,
            tune=sampler.tune,
            chains=sampler.chains,
            cores=cores,
            random_seed=seed,
            nuts_sampler="pymc",
            target_accept=sampler.target_accept,
            var_names=names,
            progressbar=sys.stderr.isatty(),
            compute_convergence_checks=False,
        )


def _progress(sampler: Sampler) -> dict[str, Any]:
    """Show a bar on a terminal, and a plain line at every tenth elsewhere."""
    if sys.stderr.isatty():
        return {"progress_bar": True}
    total = sampler.chains * (sampler.tune + sampler.draws * sampler.thin)
    tenths = iter(range(1, 11))
    due = next(tenths)

    def report(chains: list[Any]) -> None:
        nonlocal due
        done = sum(chain.finished_draws for chain in chains)
        if done * 10 >= due * total:
            divergent = sum(chain.divergences for chain in chains)
            LOG.info("sampling: %d of %d iterations, %d divergent", done, total, divergent)
            due = next((tenth for tenth in tenths if tenth * total > done * 10), 11)

    return {"progress_bar": False, "progress_callback": report, "progress_rate": 500}


def _thinned(posterior: xr.Dataset, thin: int) -> xr.Dataset:
    """Keep the last of every `thin` iterations, numbered anew."""
    kept = posterior.isel(draw=slice(thin - 1, None, thin)).drop_attrs()
    return kept.assign_coords(draw=np.arange(kept.sizes["draw"]))


def _observed(arrays: Arrays) -> xr.Dataset:
    data = {
        "first_won": arrays.first_won,
        "first_idx": arrays.first_idx.astype(np.int32),
        "second_idx": arrays.second_idx.astype(np.int32),
        "judge_idx": arrays.judge_idx.astype(np.int16),
        "arena_idx": arrays.arena_idx.astype(np.int8),
    }
    return xr.Dataset({name: (("judgment",), values) for name, values in data.items()})


def _constant(arrays: Arrays) -> xr.Dataset:
    estimands, coords = arrays.estimands, arrays.coords
    return xr.Dataset(
        {
            "foundation_idx": ("scene", arrays.foundation_idx.astype(np.int8)),
            "intensity": ("scene", arrays.intensity.astype(np.int8)),
            "a_idx": ("composite", estimands.a_idx.astype(np.int32)),
            "b_idx": ("composite", estimands.b_idx.astype(np.int32)),
        },
        coords={name: coords[name] for name in ("scene", "composite")},
    )
