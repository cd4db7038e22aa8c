"""Opening what a run left behind: posteriors, quantities, tables and the planted truth."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from moralscale.errors import ModelError, suggestion
from moralscale.posterior import estimands_of
from moralscale.posterior_file import load, load_dataset
from moralscale.projections import read_truth
from moralscale.tables import read_estimates


@dataclass(frozen=True)
class RunResults:
    """The results of one run, read when asked for.

    Attributes
    ----------
    path : Path
        Folder of the run, such as ``results/compressed``.
    """

    path: Path

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.path.name

    @property
    def fits(self) -> list[str]:
        """Fits that have a posterior, as ``"{data}/{rule}/{prior}"``."""
        found = self.path.glob("fits/*/*/*/posterior.nc")
        return sorted("/".join(path.parts[-4:-1]) for path in found)

    @property
    def tables(self) -> list[str]:
        """Names of the run's tables."""
        return sorted(path.stem for path in self.path.glob("tables/*.csv"))

    @property
    def origin(self) -> str:
        """Where the judgments come from: ``simulated``, ``live`` or ``imported``."""
        return str(self.posterior().attrs["origin"])

    def posterior(self, fit: str | None = None) -> xr.DataTree:
        """Draws of a fit, an ArviZ tree with its observed data.

        Parameters
        ----------
        fit : str, optional
            ``"{data}/{rule}/{prior}"`` or as much of its beginning as names one; unless given, the
            first of the bridged fits, or of all where there is none.

        Raises
        ------
        ModelError
            There is no such fit, or more than one.
        """
        return load(self._file(fit, "posterior.nc"))

    def quantities(self, fit: str | None = None) -> xr.Dataset:
        """Draws of every reported quantity of a fit (docs/model.md); `fit` as in `posterior`."""
        return load_dataset(self._file(fit, "quantities.nc"), "quantities")

    def estimates(self, fit: str | None = None) -> pd.DataFrame:
        """Every reported quantity of a fit in numbers; `fit` as in `posterior`."""
        return read_estimates(self._file(fit, "estimates.csv"))

    def table(self, name: str) -> pd.DataFrame:
        """One of the run's tables (docs/data.md).

        Raises
        ------
        ModelError
            There is no such table.
        """
        path = self.path / "tables" / f"{name}.csv"
        if not path.is_file():
            raise ModelError(
                f"no table '{name}'", where=str(path.parent), mend=suggestion(name, self.tables)
            )
        return read_estimates(path)

    @property
    def truth(self) -> xr.Dataset | None:
        """The planted truth as the quantities that fits report; None where nothing was planted."""
        path = self.path / "truth.nc"
        return read_truth(path, estimands_of(self.posterior())) if path.is_file() else None

    @property
    def manifest(self) -> dict[str, Any]:
        """Configuration, versions and digests of the run; empty while it is not finished.

        Raises
        ------
        ModelError
            It cannot be read.
        """
        path = self.path / "manifest.json"
        if not path.is_file():
            return {}
        try:
            found = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            mend = "remove it and finish the run again"
            raise ModelError("not a manifest", where=str(path), mend=mend)
        return found

    def _file(self, fit: str | None, name: str) -> Path:
        path = self.path / "fits" / self._fit(fit) / name
        if not path.is_file():
            raise ModelError(f"no {name}", where=str(path.parent), mend="finish the run first")
        return path

    def _fit(self, fit: str | None) -> str:
        if fit is None:
            return next((name for name in self.fits if name.startswith("bridged/")), self.fits[0])
        matches = [name for name in self.fits if f"{name}/".startswith(f"{fit.rstrip('/')}/")]
        if len(matches) == 1:
            return matches[0]
        what = f"several fits begin with '{fit}'" if matches else f"no fit '{fit}'"
        raise ModelError(
            what,
            where=str(self.path / "fits"),
            mend=f"use one of {', '.join(matches or self.fits)}",
        )


def open_run(path: str | Path) -> RunResults:
    """Open the results of a run.

    Parameters
    ----------
    path : path
        Folder of the run, such as ``results/compressed``.

    Raises
    ------
    ModelError
        There is no fit in this folder.
    """
    run = RunResults(Path(path))
    if not run.fits:
        raise ModelError("no finished fit here", where=str(path), mend=_runs_near(Path(path)))
    return run


def _runs_near(path: Path) -> str:
    near: Iterable[Path] = path.parent.iterdir() if path.parent.is_dir() else []
    names = sorted(str(other) for other in near if any(other.glob("fits/*/*/*/posterior.nc")))
    return suggestion(str(path), names) if names else "run `snakemake --cores 8` first"
