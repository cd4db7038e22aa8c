"""How far each alternative moves each conclusion, and what follows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.config import Gates, Reporting
from moralscale.errors import ModelError
from moralscale.inspection import key_rows
from moralscale.posterior_file import load_groups
from moralscale.printing import number
from moralscale.summaries import moments, summarise

#: What alternatives of each kind exchange, for verdicts.
FAMILIES = {
    "prior": "prior",
    "model": "likelihood",
    "judge": "data",
    "foundation": "data",
    "prompt": "data",
}
_KEYS = ["quantity", "index", "unit", "label"]


def read_refits(paths: Iterable[str | Path]) -> list[xr.DataTree]:
    """Read refits; a folder stands for all of them that lie in it.

    Raises
    ------
    ModelError
        There are none, or one cannot be read.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        found = sorted(path.glob("*.nc")) if path.is_dir() else [path]
        if not found:
            raise ModelError("no refits here", where=str(path), mend="delete the folder and go on")
        files += found
    return [load_groups(file, "refit", "base", "alternative") for file in files]


def shifts(refits: Iterable[xr.DataTree], reporting: Reporting, gates: Gates) -> pd.DataFrame:
    """Measure how far alternatives move the key quantities.

    Parameters
    ----------
    refits : iterable of DataTree
        As `refits.refits` yields them.
    reporting : Reporting
        Intervals and regions of no effect.
    gates : Gates
        Bounds that a refit must keep to be counted.

    Returns
    -------
    DataFrame
        One row a quantity and alternative: kind, alternative, quantity, index, unit, label;
        base_mean, base_sd; mean, sd, hdi_low, hdi_high; shift, the change of the mean in posterior
        sds of the base, and mcse_shift, its Monte Carlo error; sd_ratio; by_chance, the sd of the
        shift that less data make where nothing is peculiar about what is left out (the posterior
        variance that they add; 0 where nothing is); ess_bulk, rhat, divergences, iterations (chains
        times kept draws) and passed, whether the refit kept the gates. A refit that did not is in
        the table and in no verdict.
    """
    return pd.concat([_shift(refit, reporting, gates) for refit in refits], ignore_index=True)


def _shift(refit: xr.DataTree, reporting: Reporting, gates: Gates) -> pd.DataFrame:
    base = moments(refit["base"].to_dataset())
    base = base.rename(columns={name: f"base_{name}" for name in ("mean", "sd", "mcse")})
    other = _keyed(summarise(refit["alternative"].to_dataset(), reporting))
    # The residual of a foundation that is left out is no quantity of either side.
    table = other.merge(base.dropna(subset="base_mean"), on=["quantity", "index", "unit"])
    table["shift"] = (table["mean"] - table["base_mean"]) / table["base_sd"]
    table["mcse_shift"] = np.hypot(table["mcse"], table["base_mcse"]) / table["base_sd"]
    table["sd_ratio"] = table["sd"] / table["base_sd"]
    fewer = FAMILIES[str(refit.attrs["kind"])] == "data"
    table["by_chance"] = fewer * np.sqrt(np.maximum(table["sd_ratio"] ** 2 - 1, 0))
    sampler = json.loads(refit.attrs["sampler"])
    table["iterations"] = sampler["chains"] * sampler["draws"]
    table["divergences"] = int(refit.attrs["divergences"])
    table["passed"] = _passed(table, gates)
    table.insert(0, "kind", str(refit.attrs["kind"]))
    table.insert(1, "alternative", str(refit.attrs["alternative"]))
    columns = ["kind", "alternative", *_KEYS, "base_mean", "base_sd", "mean", "sd", "hdi_low"]
    columns += ["hdi_high", "shift", "mcse_shift", "sd_ratio", "by_chance", "ess_bulk", "rhat"]
    return table[[*columns, "divergences", "iterations", "passed"]]


def _keyed(estimates: pd.DataFrame) -> pd.DataFrame:
    """Key rows with their Monte Carlo errors."""
    rows = key_rows(estimates)
    errors = estimates[["quantity", "index", "unit", "mcse"]]
    return rows.merge(errors, on=["quantity", "index", "unit"], how="left")


def _passed(table: pd.DataFrame, gates: Gates) -> bool:
    return bool(
        (table["rhat"] <= gates.rhat).all()
        and (table["ess_bulk"] >= gates.ess).all()
        and (table["divergences"] <= gates.divergences).all()
    )


def passing(refits: Iterable[xr.DataTree], shifts: pd.DataFrame) -> list[xr.DataTree]:
    """Leave out the refits that broke their gates.

    Parameters
    ----------
    refits : iterable of DataTree
        As `refits.refits` yields them.
    shifts : DataFrame
        As `shifts` returns it of them.
    """
    kept = shifts[shifts["passed"]]
    names = set(zip(kept["kind"], kept["alternative"], strict=True))
    return [refit for refit in refits if (refit.attrs["kind"], refit.attrs["alternative"]) in names]


def verdicts(shifts: pd.DataFrame, *, threshold: float) -> pd.DataFrame:
    """Say in a sentence how much each quantity depends on priors, likelihood and data.

    Parameters
    ----------
    shifts : DataFrame
        As `shifts` returns it.
    threshold : float
        Shift in posterior sds from which a quantity counts as depending on what was exchanged;
        where data are left out, no less than two sds of what less data do by chance.

    Returns
    -------
    DataFrame
        One row a quantity and family: quantity, index, unit, label, family (prior, likelihood or
        data), largest_shift (signed), alternative (the one with it), robust, verdict (a sentence),
        counted and failed (numbers of refits).
    """
    rows = []
    family = shifts["kind"].map(FAMILIES)
    for (*keys, name), group in shifts.groupby([*_KEYS, family], sort=False):
        counted = group[group["passed"]]
        row = dict(zip(_KEYS, keys, strict=True)) | {
            "family": name,
            "counted": len(counted),
            "failed": len(group) - len(counted),
        }
        rows.append(row | _verdict(counted, str(name), threshold))
    columns = [*_KEYS, "family", "largest_shift", "alternative", "robust", "verdict"]
    return pd.DataFrame(rows)[[*columns, "counted", "failed"]]


def _verdict(counted: pd.DataFrame, family: str, threshold: float) -> dict[str, object]:
    if counted.empty:
        says = f"nothing can be said of the {family}: no refit kept its gates"
        return {"largest_shift": np.nan, "alternative": "", "robust": False, "verdict": says}
    bound = np.maximum(2 * counted["by_chance"], threshold)
    share: pd.Series = counted["shift"].abs() / bound
    row, robust = counted.iloc[int(share.argmax())], bool(share.max() < 1)
    unit = str(row["unit"])
    moved = (
        f"{row['kind']} {row['alternative']} moves it by {abs(row['shift']):.1f} posterior sd, "
        f"from {number(row['base_mean'], unit)} to {number(row['mean'], unit)}"
    )
    if row["by_chance"]:
        moved += f" (less data alone: {row['by_chance']:.1f})"
    says = (
        f"robust to the {family}: at most, {moved}"
        if robust
        else f"depends on the {family}: {moved}"
    )
    return {
        "largest_shift": row["shift"],
        "alternative": f"{row['kind']} {row['alternative']}",
        "robust": robust,
        "verdict": says,
    }
