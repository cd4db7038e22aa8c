"""Posteriors as files. Nothing here loads the modelling libraries, which take seconds."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import xarray as xr

from moralscale.errors import ModelError
from moralscale.posterior import check_content


def save(tree: xr.DataTree, path: str | Path) -> None:
    """Write a posterior as compressed NetCDF with single-precision draws.

    Parameters
    ----------
    tree : DataTree
        As `fit` returns it.
    path : path
        Where to write; a file there is replaced as a whole, so that it is never half of one.
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
    # Through memory: HDF5 ends the process where the disk is full.
    content = tree.to_netcdf(engine="h5netcdf", encoding=encoding)
    partial = Path(f"{path}.partial")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def save_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write draws in the same way as `save`, without groups."""
    save(xr.DataTree(dataset), path)


def load(path: str | Path) -> xr.DataTree:
    """Read a posterior that `save` wrote, into memory.

    Raises
    ------
    ModelError
        There is no such file, or it cannot be read, or it holds something else.
    """
    loaded = load_groups(path, "posterior")
    check_content(loaded, groups=["posterior"], where=str(path))
    return loaded


def load_dataset(path: str | Path, what: str = "draws") -> xr.Dataset:
    """Read draws that `save_dataset` wrote, into memory; raises as `load_groups` does."""
    return load_groups(path, what).to_dataset()


def load_groups(path: str | Path, what: str, *groups: str) -> xr.DataTree:
    """Read what `save` wrote, into memory.

    Parameters
    ----------
    path : path
    what : str
        What the file should hold, for messages.
    *groups : str
        Groups that have to be there.

    Raises
    ------
    ModelError
        There is no such file, or it cannot be read, or a group is not there.
    """
    if not Path(path).exists():
        raise ModelError("no such file", where=str(path), mend="check the path")
    if not h5py.is_hdf5(path):
        raise ModelError(f"no {what} in this file", where=str(path), mend="check the path")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            loaded = tree.load()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        mend = "the file may be cut short: copy or fit it again"
        raise ModelError(f"cannot be read: {reason}", where=str(path), mend=mend) from None
    if not set(groups) <= set(loaded.children):
        raise ModelError(f"no {what} in this file", where=str(path), mend="fit it again")
    return loaded
