"""Whole profiles held out: how well a rule foretells composites that it has not seen.

A fold holds a share of the profiles out: every judgment of the composite and bridge arenas that
involves one of them is left out of the fit, and foretold. The strength of a composite that was held
out comes from its components, the rule and the effects; what is its own, from its prior. A judgment
of two composites is foretold twice, once for each, and counts half each time, so that the sum is of
every judgment once and the units, which are profiles, are as independent as they can be.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import arviz_stats
import numpy as np
import pandas as pd
import xarray as xr
from arviz_stats.utils import ELPDDataLOOKFold
from numpy.typing import NDArray
from scipy.special import logsumexp

from moralscale.arrays import Arrays, make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation, Sampler
from moralscale.fit import Compiled, compile
from moralscale.judgments import read_judgments
from moralscale.likelihood import blocks, log_probability
from moralscale.posterior import n_draws, spread, take_draws
from moralscale.priors import load_priors
from moralscale.scenes import load_scenes

LOG = logging.getLogger(__name__)
#: Attributes of `Arrays` with a value for every judgment.
_PER_JUDGMENT = ("first_idx", "second_idx", "outcome", "judge_idx", "arena_idx")
Index = NDArray[np.int64]


def assign_folds(composites: pd.DataFrame, *, folds: int, seed: int) -> Index:
    """Deal the profiles out to folds, those of each configuration as evenly as can be.

    Returns
    -------
    (composite,), int
        Fold of each composite, from 0; composites of one profile share a fold.
    """
    profiles = composites[["profile", "config"]].drop_duplicates("profile")
    shuffled = profiles.sample(frac=1, random_state=seed).sort_values("config", kind="stable")
    fold = pd.Series(np.arange(len(shuffled)) % folds, index=shuffled["profile"])
    return fold.loc[composites["profile"]].to_numpy(dtype=np.int64)


def held_out(arrays: Arrays, fold: Index, number: int) -> pd.DataFrame:
    """Find the judgments that involve composites of a fold.

    Returns
    -------
    DataFrame
        One row a judgment and such composite: judgment, composite (places) and weight (1/2 where
        two composites meet, 1 where a scene meets one).
    """
    n_scenes, once = len(arrays.coords["scene"]), _once(arrays)
    places = np.stack(arrays.slots) % once - n_scenes  # negative for scenes
    weight = 1 / (places >= 0).sum(axis=0).clip(1)
    rows = []
    for place in places:
        inside = (place >= 0) & (fold[place.clip(0)] == number)
        judgment = np.flatnonzero(inside)
        rows.append(
            pd.DataFrame(
                {"judgment": judgment, "composite": place[inside], "weight": weight[inside]}
            )
        )
    return pd.concat(rows, ignore_index=True)


def foretell(
    compiled: Compiled,
    out: pd.DataFrame,
    *,
    sampler: Sampler,
    seed: int,
    cores: int,
    near: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """Fit without the judgments of a fold, and foretell them.

    Parameters
    ----------
    compiled : Compiled
        The model of all judgments.
    out : DataFrame
        As `held_out` returns it.
    sampler, seed, cores
        As of `fit.fit`.
    near : (draw, size), optional
        As of `fit.Compiled.sample`.

    Returns
    -------
    DataFrame
        `out` with columns elpd (log predictive density of the judgment), rhat (largest of the
        structural parameters) and divergences of the fit.
    """
    outcomes = compiled.arrays.outcome.astype(np.int64)
    outcomes[out["judgment"]] = -1
    tree = compiled.sample(sampler=sampler, seed=seed, cores=cores, outcomes=outcomes, near=near)
    rows = np.unique(out["judgment"])
    draws = take_draws(tree, spread(tree, n_draws(tree)))
    unseen = replace(
        compiled.arrays,
        **{name: getattr(compiled.arrays, name)[rows] for name in _PER_JUDGMENT},
    )
    elpd = np.concatenate(
        [
            logsumexp(log_probability(draws, unseen, compiled.options, block), axis=0)
            for block in blocks(unseen, n_draws(tree))
        ]
    ) - np.log(n_draws(tree))
    found = tree["posterior"].to_dataset()
    scalars = found[[name for name in found.data_vars if found[name].dims == ("chain", "draw")]]
    return out.assign(
        elpd=elpd[np.searchsorted(rows, out["judgment"])],
        rhat=float(max(value.max() for value in arviz_stats.rhat(scalars).values())),
        divergences=int(tree["sample_stats"]["diverging"].sum()),
    )


def combine(table: pd.DataFrame) -> ELPDDataLOOKFold:
    """Add up what the folds of one rule foretold.

    Parameters
    ----------
    table : DataFrame
        As `folds_from_files` returns it.

    Returns
    -------
    ELPDDataLOOKFold
        With ``elpd_i`` (profile,).
    """
    elpd = (table["elpd"] * table["weight"]).groupby(table["profile"]).sum()
    return ELPDDataLOOKFold(
        elpd=float(elpd.sum()),
        se=float(np.sqrt(len(elpd) * elpd.var(ddof=0))),
        p=np.nan,
        n_samples=0,
        n_data_points=len(elpd),
        scale="log",
        warning=False,
        good_k=np.nan,
        elpd_i=xr.DataArray(elpd.to_numpy(), dims="profile"),
        n_folds=int(table["fold"].nunique()),
    )


def folds_from_files(
    *,
    judgments: str,
    scenes: str,
    composites: str,
    priors: str,
    data: str,
    rule: str,
    options: Mapping[str, Any],
    sampler: Mapping[str, Any],
    folds: int,
    seed: int,
    cores: int,
) -> pd.DataFrame:
    """Do every fold of a rule with one compiled model; arguments are paths, names and settings.

    Returns
    -------
    DataFrame
        As `foretell` returns it for every fold, stacked, with columns fold and profile.
    """
    model, schedule = Observation(**options), Sampler(**sampler)
    made_of = pd.read_parquet(composites)
    arrays = make_arrays(
        read_judgments(judgments),
        load_scenes(scenes),
        made_of,
        data=data,
        ties=model.ties == "davidson",
    )
    compiled = compile(
        arrays,
        rule=get_rule(rule),
        priors=load_priors(priors),
        options=model,
        backend=schedule.backend,
    )
    fold = assign_folds(made_of, folds=folds, seed=seed)
    how: dict[str, Any] = {"sampler": schedule, "seed": seed, "cores": cores}
    near = compiled.first_run(**how)
    found = []
    for number in range(folds):
        out = held_out(arrays, fold, number)
        found.append(foretell(compiled, out, near=near, **how))
        LOG.info("fold %d of %d: %d judgments foretold", number + 1, folds, len(out))
    table = pd.concat([part.assign(fold=n) for n, part in enumerate(found)], ignore_index=True)
    return table.assign(profile=made_of["profile"].to_numpy()[table["composite"]])


def _once(arrays: Arrays) -> int:
    return len(arrays.coords["scene"]) + len(arrays.coords["composite"])
