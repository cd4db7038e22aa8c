"""Looking at a posterior: the quantities that answer the study's questions, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import xarray as xr

from moralscale.config import Reporting
from moralscale.errors import ModelError
from moralscale.estimands import NO_ANCHORING
from moralscale.markup import Sheet
from moralscale.posterior import estimands_of
from moralscale.posterior_file import load
from moralscale.printing import (
    JUDGE,
    KEY,
    MEANING,
    UNITS,
    estimate,
    interval,
    number,
    percent,
)
from moralscale.projections import quantities
from moralscale.records import BetaMeaning, Origin
from moralscale.summaries import summarise
from moralscale.tables import KEY_AND_RULE

#: Columns of numbers, as in ``estimates.csv``.
NUMBERS = ("mean", "median", "sd", "hdi_low", "hdi_high", "pd", "rope", "ess_bulk", "rhat")


def summary(
    posterior: str | Path | xr.DataTree,
    *,
    reporting: Reporting | None = None,
    judges: bool = True,
) -> pd.DataFrame:
    """Summarise the quantities that answer the study's questions.

    Parameters
    ----------
    posterior : path or DataTree
        A fit's ``posterior.nc``.
    reporting : Reporting, optional
        Intervals and regions of no effect; the defaults of the configuration unless given.
    judges : bool
        Whether to add a row for each judge's beta, consistency and position bias.

    Returns
    -------
    DataFrame
        One row a quantity: quantity, index, unit, label, mean, median, sd, hdi_low, hdi_high, pd
        (probability of direction), rope (share inside the region of no effect), ess_bulk, rhat.
        ``attrs`` hold run, data, rule, prior, origin, interval and what beta means.

    Raises
    ------
    ModelError
        The file is not a posterior of this package.
    """
    reporting = reporting or Reporting()
    tree = posterior if isinstance(posterior, xr.DataTree) else load(posterior)
    where = "posterior" if isinstance(posterior, xr.DataTree) else str(posterior)
    draws = quantities(tree["posterior"].to_dataset(), estimands_of(tree, where=where))
    wanted = KEY_AND_RULE + JUDGE if judges else KEY_AND_RULE
    names = [name for name in dict.fromkeys(name for name, *_ in wanted) if name in draws]
    table = key_rows(summarise(draws[names], reporting), wanted)
    table.attrs = {
        name: str(tree.attrs.get(name, "")) for name in ("run", "data", "rule", "prior", "origin")
    }
    table.attrs["interval"] = reporting.interval_name
    table.attrs["meaning"] = _meaning(tree, where) if "beta" in draws else ""
    return table


def _meaning(tree: xr.DataTree, where: str) -> str:
    told = str(tree.attrs.get("beta_meaning", ""))
    if told not in list(BetaMeaning):
        what = f"does not say what beta means (beta_meaning: '{told}')"
        raise ModelError(what, where=where, mend="give the posterior.nc of a fit")
    return MEANING[BetaMeaning(told)]


def key_rows(estimates: pd.DataFrame, wanted: Sequence[tuple[str, str, str]] = KEY) -> pd.DataFrame:
    """Pick rows of a table of estimates, in the order and with the labels of `wanted`.

    Parameters
    ----------
    estimates : DataFrame
        Estimates of one fit.
    wanted : sequence of (quantity, unit, label)

    Returns
    -------
    DataFrame
        quantity, index, unit, label and the columns of `NUMBERS`.
    """
    rows = []
    for quantity, unit, label in wanted:
        here = estimates[(estimates["quantity"] == quantity) & (estimates["unit"] == unit)]
        named = [f"{label} {index}".strip() + UNITS.get(unit, "") for index in here["index"]]
        rows.append(here.assign(label=named))
    table = pd.concat(rows, ignore_index=True)
    return table[["quantity", "index", "unit", "label", *NUMBERS]]


def printed(table: pd.DataFrame) -> pd.DataFrame:
    """Print the key rows of `summary` as a reader sees them, with headers to match.

    Returns
    -------
    DataFrame
        Texts: quantity, mean, sd, the interval, direction (its probability), in ROPE (share inside
        the region of no effect).
    """
    key = table[table["quantity"].isin([name for name, *_ in KEY_AND_RULE])]
    rows = [row for _, row in key.iterrows()]
    return pd.DataFrame(
        {
            "quantity": key["label"].to_list(),
            "mean": [number(row["mean"], row["unit"]) for row in rows],
            "sd": [number(row["sd"], row["unit"]) for row in rows],
            table.attrs.get("interval", "interval"): [interval(row) for row in rows],
            "direction": [percent(row["pd"]) for row in rows],
            "in ROPE": [percent(row["rope"]) for row in rows],
        }
    )


def printed_judges(table: pd.DataFrame) -> pd.DataFrame:
    """Print the judges' rows of `summary`: a row a judge, mean and interval in each cell."""
    cells = {
        label: {
            row["index"]: estimate(row) for _, row in table[table["quantity"] == name].iterrows()
        }
        for name, _, label in JUDGE
    }
    cells = {label: column for label, column in cells.items() if column}
    judges = dict.fromkeys(judge for column in cells.values() for judge in column)
    columns = {label: [column.get(j, "-") for j in judges] for label, column in cells.items()}
    return pd.DataFrame({"judge": list(judges), **columns})


def sheet(table: pd.DataFrame) -> Sheet:
    """Prepare a summary for printing."""
    told = table.attrs
    fit = "/".join(told[name] for name in ("data", "rule", "prior") if told.get(name))
    origin = mark(told.get("origin", ""))
    heading = ", ".join(part for part in (told.get("run") or "a fit", fit, origin) if part)
    parts = tuple(part for part in (printed(table), printed_judges(table)) if len(part))
    notes = [f"What beta means here: {told['meaning']}"] if told.get("meaning") else []
    if "anchoring" not in set(table["quantity"]):
        notes.append(NO_ANCHORING)
    return Sheet(heading, parts, table, " ".join(notes))


def mark(origin: str) -> str:
    """Name where judgments come from; simulated data says that it is."""
    return f"{origin} data" if origin == Origin.SIMULATED else origin
