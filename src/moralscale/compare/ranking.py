"""Rank fits by predictive density, with stacking weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import arviz_stats
import numpy as np
import pandas as pd
import xarray as xr
from arviz_stats.utils import ELPDData

from moralscale.checks.predictive import check_predictive
from moralscale.compare.kfold import combine
from moralscale.compare.loo import psis_loo
from moralscale.config import Gates
from moralscale.errors import ModelError
from moralscale.posterior import check_content
from moralscale.posterior_file import load

#: Columns of a comparison, in order.
COLUMNS = (
    "method",
    "rule",
    "rank",
    "elpd",
    "se",
    "elpd_diff",
    "dse",
    "weight",
    "p",
    "units",
    "bad_k",
    "config_p",
)


def compare_posteriors(
    posteriors: Sequence[str | Path] | Mapping[str, xr.DataTree],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare fits of the same judgments by PSIS-LOO over judgments.

    Parameters
    ----------
    posteriors : sequence of path, or mapping of DataTree
        ``posterior.nc`` of every fit; or fits by name.
    draws : int, optional
        Draws of each posterior that are read.
    seed : int, optional
        Seed of the predictive check by configuration.

    Returns
    -------
    DataFrame
        One row a fit, the best first: method (``loo``), rule, rank, elpd (expected log density of
        the judgments), se, elpd_diff and dse (from the best), weight (stacking; Yao et al. 2018),
        p (effective parameters), units (judgments), bad_k (judgments whose Pareto k is above the
        bound at which the estimate can be trusted), config_p (posterior predictive p-value of the
        win rates by configuration).

    Raises
    ------
    ModelError
        Fewer than two fits, or fits of different judgments.
    """
    trees = posteriors if isinstance(posteriors, Mapping) else _read(posteriors)
    if len(trees) < 2:
        raise ModelError("a comparison needs two posteriors", mend="name another one")
    _check_same_judgments(trees)
    table = rank({name: psis_loo(tree, draws=draws) for name, tree in trees.items()}, method="loo")
    table["config_p"] = [_config_p(trees[name], seed) for name in table["rule"]]
    return table


def rank(found: Mapping[str, ELPDData], *, method: str) -> pd.DataFrame:
    """Rank fits by what was found of their predictive density.

    Parameters
    ----------
    found : mapping
        Estimates by name, with ``elpd_i`` over the same units.
    method : {"loo", "kfold"}
        How they were estimated.

    Returns
    -------
    DataFrame
        As `compare_posteriors` returns it; what this method has not is not a number.
    """
    # Densities of units that hold many judgments would underflow. What is common to all fits
    # changes neither differences nor weights.
    common = np.max([elpd.elpd_i.values for elpd in found.values()], axis=0)
    shifted = {name: _shift(elpd, common) for name, elpd in found.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*selection", module="arviz")
        table: pd.DataFrame = arviz_stats.compare(shifted, method="stacking", round_to="none")
    table = table.rename_axis("rule").reset_index()
    table["method"] = method
    for column in ("elpd", "se", "p"):
        table[column] = [float(getattr(found[name], column)) for name in table["rule"]]
    table["units"] = [found[name].n_data_points for name in table["rule"]]
    table["bad_k"] = [_bad_k(found[name]) for name in table["rule"]]
    return table.assign(config_p=np.nan)[list(COLUMNS)]


def comparison_from_files(
    rules: Sequence[str],
    *,
    posteriors: Sequence[str],
    folds: Sequence[pd.DataFrame],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Compare the rules of a run: by PSIS-LOO and, where there are folds, by K-fold.

    Parameters
    ----------
    rules : sequence of str
        The rules.
    posteriors : sequence of path
        A posterior for each.
    folds : sequence of DataFrame
        What was foretold with each (`kfold.folds_from_files`); none to leave it out.
    draws, seed : int
        As of `compare_posteriors`.
    """
    trees = {rule: load(path) for rule, path in zip(rules, posteriors, strict=True)}
    tables = [compare_posteriors(trees, draws=draws, seed=seed)]
    if folds:
        found = {rule: combine(table) for rule, table in zip(rules, folds, strict=True)}
        tables.append(rank(found, method="kfold"))
    return pd.concat(tables, ignore_index=True)


def _shift(elpd: ELPDData, common: np.ndarray) -> ELPDData:
    return replace(elpd, elpd=elpd.elpd - common.sum(), elpd_i=elpd.elpd_i - common)


def _bad_k(elpd: ELPDData) -> float:
    return np.nan if elpd.pareto_k is None else float((elpd.pareto_k > elpd.good_k).sum())


def _config_p(tree: xr.DataTree, seed: int) -> float:
    table = check_predictive(tree, Gates(), seed=seed).table.set_index("quantity")
    return float(table["value"].to_dict()["win rate by configuration"])


def _read(paths: Sequence[str | Path]) -> dict[str, xr.DataTree]:
    """Read posteriors, named by their rules where that tells them apart, else by their files."""
    trees = {str(path): load(path) for path in paths}
    rules = {path: str(tree.attrs.get("rule", path)) for path, tree in trees.items()}
    distinct = len(set(rules.values())) == len(rules)
    return {rules[path] if distinct else path: tree for path, tree in trees.items()}


def _contestants(tree: xr.DataTree) -> dict[str, xr.DataArray]:
    """Names of judges, scenes and composites."""
    draws = tree["posterior"].to_dataset()
    return {name: draws[name] for name in ("judge", "scene", "composite")}


def _check_same_judgments(trees: Mapping[str, xr.DataTree]) -> None:
    first, *others = trees
    for name, tree in trees.items():
        check_content(tree, where=name)
    judged = {name: tree["observed_data"].to_dataset() for name, tree in trees.items()}
    # The same places in other corpora, composites or panels are other judgments.
    about = {
        name: tree["constant_data"].to_dataset().assign_coords(_contestants(tree))
        for name, tree in trees.items()
    }
    for other in others:
        same = judged[first].equals(judged[other]) and about[first].equals(about[other])
        if not same:
            raise ModelError(
                "these posteriors are of different judgments",
                where=f"{first}, {other}",
                mend="compare fits of the same judgments and the same data (study or bridged)",
            )
