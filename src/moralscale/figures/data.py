"""What the figures of one fit draw from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.config import Reporting, load_yaml
from moralscale.elo import ELO_PER_LOGIT
from moralscale.estimands import Estimands
from moralscale.posterior_file import load_dataset
from moralscale.projections import in_elo, read_truth
from moralscale.records import Origin
from moralscale.scenes import load_scenes
from moralscale.summaries import interval_bounds

_SAMPLE = ("chain", "draw")


@dataclass(frozen=True, eq=False)
class FigureData:
    """One fit's reported quantities, and what its contestants are.

    Attributes
    ----------
    quantities : Dataset
        As `projections.quantities` returns them: dims chain, draw, ...
    scenes : DataFrame
        The corpus: id, foundation, intensity, anchor.
    composites : DataFrame
        composite_id, config, intensity_a, intensity_b.
    reporting : Reporting
        Kind and probability of intervals.
    origin : Origin
        Where the judgments come from; simulated data is marked.
    data : str
        ``"study"`` or ``"bridged"``.
    run : str
        Name of the run.
    truth : Dataset or None
        Quantities of the planted truth, where the panel is simulated.
    published : DataFrame
        Published figures to mark: quantity, index, unit, value (``config/published.yaml``).
    beside : tuple of Dataset
        Quantities of the other fits of the run, whose figures stand beside this one's: they share
        the scale of what is estimated.
    """

    quantities: xr.Dataset
    scenes: pd.DataFrame
    composites: pd.DataFrame
    reporting: Reporting
    origin: Origin
    data: str
    run: str
    truth: xr.Dataset | None = None
    published: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["quantity", "index", "unit", "value"])
    )
    beside: tuple[xr.Dataset, ...] = ()

    @classmethod
    def read(
        cls,
        *,
        quantities: str | Path,
        scenes: str | Path,
        composites: str | Path,
        published: str | Path,
        reporting: Mapping[str, Any],
        origin: str,
        fit: str,
        run: str,
        truth: str | Path | None = None,
        beside: Iterable[str | Path] = (),
    ) -> FigureData:
        """Read a fit's files.

        Parameters
        ----------
        quantities, scenes, composites, published, truth : path
            NetCDF, CSV, Parquet, YAML and NetCDF.
        reporting : mapping
            The section of the configuration.
        beside : iterable of path
            NetCDF files of the other fits of the run.
        origin, fit, run : str
            Where judgments come from, ``"{data}/{rule}/{prior}"``, and the run's name.

        Raises
        ------
        ModelError
            A file of draws or of the truth is not there, or cannot be read.
        """
        corpus = load_scenes(scenes)
        options = pd.read_parquet(composites)
        estimands = Estimands.from_composites(corpus, options)
        return cls(
            quantities=load_dataset(quantities, "quantities"),
            scenes=corpus,
            composites=options,
            reporting=Reporting(**reporting),
            origin=Origin(origin),
            data=fit.split("/")[0],
            run=run,
            truth=read_truth(truth, estimands) if truth else None,
            published=pd.DataFrame(load_yaml(published)["figures"]),
            beside=tuple(load_dataset(path, "quantities") for path in beside),
        )

    def summary(self, name: str, *, elo: bool = False) -> xr.Dataset:
        """Posterior mean and interval of a quantity.

        Returns
        -------
        Dataset
            mean, low, high over the quantity's own dims; in Elo where `elo` is set.
        """
        return self.interval(_draws(self.quantities, name, elo=elo))

    def reach(self, *names: str, elo: bool = False, means: bool = False) -> tuple[float, float]:
        """Lowest and highest end of the intervals (or mean) of quantities, in any of the fits."""
        ends: list[xr.DataArray] = []
        for fit in (self.quantities, *self.beside):
            for draws in (_draws(fit, name, elo=elo) for name in names if name in fit):
                ends += [draws.mean(_SAMPLE)] if means else self.interval(draws).values()
        flat = np.concatenate([np.ravel(end) for end in ends])
        return float(np.nanmin(flat)), float(np.nanmax(flat))

    def interval(self, draws: xr.DataArray) -> xr.Dataset:
        """Mean and configured interval of draws (chain, draw, ...)."""
        bounds = interval_bounds(draws, self.reporting)
        return xr.Dataset(
            {
                "mean": draws.mean(_SAMPLE),
                "low": bounds.sel(ci_bound="lower", drop=True),
                "high": bounds.sel(ci_bound="upper", drop=True),
            }
        )

    def planted(self, name: str, *, elo: bool = False) -> xr.DataArray | None:
        """Planted truth of a quantity, or None where there is none."""
        if self.truth is None or name not in self.truth:
            return None
        return _elo(self.truth[name]) if elo else self.truth[name]

    def published_values(self, quantity: str, unit: str) -> dict[str, float]:
        """Look up published values of a quantity by index, ``""`` where it has none."""
        table = self.published
        here = table[(table["quantity"] == quantity) & (table["unit"] == unit)]
        return dict(zip(here["index"].astype(str), here["value"].astype(float), strict=True))

    @property
    def interval_name(self) -> str:
        """Name of the intervals, for legends: ``"94% HDI"``."""
        return self.reporting.interval_name


def _draws(quantities: xr.Dataset, name: str, *, elo: bool) -> xr.DataArray:
    draws = quantities[name].transpose(*_SAMPLE, ...)
    return _elo(draws) if elo else draws


def _elo(variable: xr.DataArray) -> xr.DataArray:
    """Put a quantity on the Elo scale; component sums as Elo points from two average scenes."""
    if variable.attrs["unit"] == "sum":
        return ELO_PER_LOGIT * variable
    elo = in_elo(variable)
    return variable if elo is None else elo
