"""Sampling that an interrupt ends.

Left to themselves, nutpie and PyMC answer Ctrl-C with the draws that they have, as if these were
all that was asked for. A part of a posterior must never be taken for one.
"""

from __future__ import annotations

from typing import Any

import nutpie
import pymc as pm
import xarray as xr

from moralscale.errors import ModelError
from moralscale.fused import teach_jax


def by_nutpie(machine: Any, **settings: Any) -> xr.DataTree:
    """Sample what nutpie compiled, all of it or nothing.

    Parameters
    ----------
    machine : CompiledModel
        What nutpie compiled.
    **settings
        As of `nutpie.sample`.

    Raises
    ------
    KeyboardInterrupt
        Sampling was interrupted.
    """
    running = nutpie.sample(machine, blocking=False, **settings)
    try:
        tree: xr.DataTree = running.wait()
        return tree
    except BaseException:
        running.cancel()
        raise


def by_pymc(model: pm.Model, *, draws: int, chains: int, **settings: Any) -> xr.DataTree:
    """Sample by PyMC's own sampler, all of it or nothing.

    Parameters
    ----------
    model : Model
    draws, chains : int
        Draws kept a chain, and chains.
    **settings
        As of `pymc.sample`.

    Raises
    ------
    KeyboardInterrupt
        Sampling was interrupted.
    """
    with model:
        tree: xr.DataTree = pm.sample(draws=draws, chains=chains, nuts_sampler="pymc", **settings)
    sizes = tree["posterior"].sizes
    if (sizes["chain"], sizes["draw"]) != (chains, draws):
        raise KeyboardInterrupt
    return tree


def by_numpyro(model: pm.Model, *, chains: int, **settings: Any) -> xr.DataTree:
    """Sample by NumPyro, on the devices that JAX finds: GPUs where there are any.

    Chains have a device each where there are enough, and else share one, step by step.

    Parameters
    ----------
    model : Model
    chains : int
        Chains.
    **settings
        As of `pymc.sampling.jax.sample_numpyro_nuts`.

    Raises
    ------
    ModelError
        JAX or NumPyro is not installed.
    """
    try:
        import jax
        import numpyro  # noqa: F401
        from pymc.sampling.jax import sample_numpyro_nuts
    except ImportError as error:
        raise ModelError(
            f"the package '{error.name}' is not installed",
            where="sampler.backend",
            mend="pip install 'moralscale[jax]', or use `backend: nutpie`",
        ) from None
    teach_jax()
    method: Any = "parallel" if jax.local_device_count() >= chains else "vectorized"
    tree: xr.DataTree = sample_numpyro_nuts(
        model=model,
        chains=chains,
        chain_method=method,
        progressbar=False,
        compute_convergence_checks=False,
        **settings,
    )
    return tree
