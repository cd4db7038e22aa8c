"""Tables of a run: estimates by topic, against the planted truth, beside published figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.composition import RULE_QUANTITIES, RULES
from moralscale.errors import ModelError
from moralscale.printing import KEY
from moralscale.projections import DEFINITIONS, in_elo
from moralscale.records import BetaMeaning
from moralscale.summaries import labels

#: The quantities of each table of a run; `estimates` holds them all.
TABLES = {
    "beta": (
        *RULE_QUANTITIES,
        *("slope", "slope_judge", "r_squared", "r_squared_judge"),
        *("rated_intercept", "rated_intercept_judge"),
    ),
    "foundation_residuals": ("foundation_residual", "foundation_residual_judge", "gamma"),
    "intensity_sums": ("intensity_mean", "config_mean", "intensity_components"),
    "anchoring": ("anchoring", "anchoring_components", "anchoring_adjusted", "delta_config"),
    "convergence": ("convergence", "correlation"),
    "scenes": ("scene_strength",),
    "composites": ("composite_strength", "component_sum"),
    "position_bias": tuple(name for name in DEFINITIONS if name.startswith("position_bias")),
    "consistency": (
        *("consistency", "composite_consistency", "bridge_consistency", "alpha"),
        *(name for name in DEFINITIONS if name.startswith(("lapse", "tie"))),
    ),
}


#: The key quantities, with what single rules add after beta.
KEY_AND_RULE = (
    KEY[0],
    *dict.fromkeys(
        (name, parameter.unit, parameter.meaning[0].lower() + parameter.meaning[1:])
        for rule in RULES.values()
        for name, parameter in rule.parameters.items()
        if name != KEY[0][0]
    ),
    *KEY[1:],
)
#: What compression and the noise of choices between composites share, without a bridge arena.
IN_CHOICE_NOISE = (
    *(name for name, quantity in RULE_QUANTITIES.items() if quantity.unit == "ratio"),
    *("slope", "slope_judge"),
)


def recovery(estimates: pd.DataFrame, truth: xr.Dataset) -> pd.DataFrame:
    """Hold estimates against what was planted.

    Parameters
    ----------
    estimates : DataFrame
        Estimates of one or more fits.
    truth : Dataset
        `projections.quantities` of the simulated panel.

    Returns
    -------
    DataFrame
        The estimates' rows that have a truth, with columns ``truth`` and ``covered``.
    """
    estimated = estimates[estimates["sd"] > 1e-12]  # a judge's correlation with itself is not
    table = estimated.merge(planted(truth), on=["quantity", "index", "unit"], how="inner")
    table["covered"] = table["truth"].between(table["hdi_low"], table["hdi_high"])
    keys = [column for column in ("data", "rule", "prior", "origin") if column in table]
    return table[
        [*keys, "quantity", "index", "unit", "truth", "mean", "hdi_low", "hdi_high", "covered"]
    ]


def planted(truth: xr.Dataset) -> pd.DataFrame:
    """Tabulate a planted truth: columns quantity, index, unit, truth; Elo beside log-odds."""
    rows = []
    for name, variable in truth.data_vars.items():
        elo = in_elo(variable)
        units = [(variable.attrs["unit"], variable)] + ([("elo", elo)] if elo is not None else [])
        for unit, values in units:
            rows += [
                (str(name), label, unit, float(value))
                for label, value in zip(labels(values), np.ravel(values.values), strict=True)
            ]
    return pd.DataFrame(rows, columns=["quantity", "index", "unit", "truth"])


def published(estimates: pd.DataFrame, figures: pd.DataFrame) -> pd.DataFrame:
    """Set published figures beside what was found.

    Parameters
    ----------
    estimates : DataFrame
        Estimates of one or more fits.
    figures : DataFrame
        Columns analysis, quantity, index, unit, value (``config/published.yaml``).

    Returns
    -------
    DataFrame
        One row a published figure and fit.
    """
    figures = figures.rename(columns={"value": "published"})
    table = figures.merge(estimates, on=["quantity", "index", "unit"], how="left")
    keys = [column for column in ("data", "rule", "prior", "origin") if column in table]
    columns = ["analysis", "quantity", "index", "unit", "published"]
    return table[[*columns, *keys, "mean", "hdi_low", "hdi_high"]]


#: What a table of estimates lacks in places: convergence of a single judge, say.
_MAY_BE_EMPTY = (
    *("mean", "median", "sd", "hdi_low", "hdi_high", "published"),
    *("pd", "rope", "mcse", "ess_bulk", "ess_tail", "rhat"),
)


def read_estimates(path: str | Path) -> pd.DataFrame:
    """Read a table of estimates; labels stay text.

    Raises
    ------
    ModelError
        It is no table.
    """
    try:
        return pd.read_csv(
            path,
            dtype={"index": str, "quantity": str},
            keep_default_na=False,
            na_values={key: [""] for key in _MAY_BE_EMPTY},
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        mend = "remove the file and make it anew"
        raise ModelError(f"not a table: {reason}", where=str(path), mend=mend) from None


def run_tables(
    fits: Mapping[str, pd.DataFrame],
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    figures: pd.DataFrame,
    origin: str,
) -> dict[str, pd.DataFrame]:
    """Make the tables of a run.

    Parameters
    ----------
    fits : mapping
        Estimates by fit, ``"{data}/{rule}/{prior}"``.
    scenes, composites : DataFrame
        The corpus and the composites, for what tables say of each contestant.
    figures : DataFrame
        Published figures.
    origin : str
        Where the judgments come from.

    Returns
    -------
    dict
        Tables by name, each with leading columns data, rule, prior, origin.
    """
    frames = []
    for fit, estimates in fits.items():
        data, rule, prior = fit.split("/")
        frames.append(estimates.assign(data=data, rule=rule, prior=prior, origin=origin))
    keys = ["data", "rule", "prior", "origin"]
    everything = pd.concat(frames, ignore_index=True)
    in_noise = everything["data"].map(BetaMeaning.of) == BetaMeaning.CHOICE_NOISE
    unbridged = in_noise & everything["quantity"].isin(IN_CHOICE_NOISE)
    meaning = str(BetaMeaning.CHOICE_NOISE)
    everything.loc[unbridged, "definition"] += f" {meaning[0].upper()}{meaning[1:]}."
    everything = everything[keys + [name for name in everything if name not in keys]]
    tables = {
        name: everything[everything["quantity"].isin(members)] for name, members in TABLES.items()
    }
    about = scenes.rename(columns={"id": "index"})
    tables["scenes"] = tables["scenes"].merge(about, on="index", how="left")
    about = composites.rename(columns={"composite_id": "index"})
    tables["composites"] = tables["composites"].merge(about, on="index", how="left")
    return tables | {"estimates": everything, "published": published(everything, figures)}


def identification(recoveries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Set beta and the consistency on composites of several simulated runs side by side.

    Parameters
    ----------
    recoveries : mapping
        Tables of `recovery`, by run.

    Returns
    -------
    DataFrame
        run, then the columns of `recovery`, for ``beta`` and ``composite_consistency``.
    """
    table = pd.concat([found.assign(run=run) for run, found in recoveries.items()])
    table = table[table["quantity"].isin(["beta", "composite_consistency"])]
    return table[["run", *(name for name in table if name != "run")]].reset_index(drop=True)
