"""Fit judgments of the arenas that lie in a file, with what they are about beside them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow
import xarray as xr

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation, Sampler
from moralscale.errors import ConfigError, JudgmentError, ModelError
from moralscale.fit import fit
from moralscale.judgments import read_judgments
from moralscale.priors import Priors, load_priors
from moralscale.records import Arena
from moralscale.scenes import load_scenes


def fit_judgments(
    judgments: str | Path | pd.DataFrame,
    *,
    scenes: str | Path | pd.DataFrame = "scenarios/scenes.csv",
    composites: str | Path | pd.DataFrame | None = None,
    rule: str = "compressed",
    prior: str | Path | Priors = "default",
    data: str | None = None,
    options: Observation | None = None,
    sampler: Sampler | None = None,
    seed: int = 0,
    cores: int = 1,
) -> xr.DataTree:
    """Sample the joint model of judgments between scenes, composites, or both.

    Parameters
    ----------
    judgments : path or DataFrame
        A table of judgments (docs/data.md), Parquet where it is a file.
    scenes : path or DataFrame, optional
        The corpus that they are about.
    composites : path or DataFrame, optional
        The composites, as ``design/composites.parquet`` of a run; found there when `judgments` is
        the table of a run.
    rule : str, optional
        Composition rule (docs/model.md).
    prior : path or Priors, optional
        A prior file, or the name of one in ``config/priors``.
    data : {"study", "bridged"}, optional
        Which arenas to read; all of those that were judged unless given.
    options : Observation, optional
        How judgments follow from strengths; without lapses and ties unless given.
    sampler : Sampler, optional
        How the posterior is sampled; the defaults of the configuration unless given.
    seed, cores : int, optional
        Seed of the sampler, and chains at a time.

    Returns
    -------
    DataTree
        As `fit.fit` returns it; `fit.save` writes it.

    Raises
    ------
    MoralscaleError
        A file is missing or not valid, or judgments and model do not fit each other.
    """
    rule_found, priors = get_rule(rule, where="rule"), _priors(prior)
    made_of = _composites(judgments, composites)
    table = judgments if isinstance(judgments, pd.DataFrame) else read_judgments(judgments)
    corpus = scenes if isinstance(scenes, pd.DataFrame) else load_scenes(scenes)
    model = options or Observation()
    read = data or _arenas(table)
    arrays = make_arrays(table, corpus, made_of, data=read, ties=model.ties == "davidson")
    return fit(
        arrays,
        rule=rule_found,
        priors=priors,
        sampler=sampler or Sampler(),
        seed=seed,
        cores=cores,
        options=model,
        attrs={"data": read, "origin": _origin(table)},
    )


def _arenas(table: pd.DataFrame) -> str:
    return "bridged" if (table["arena"] == Arena.BRIDGE).any() else "study"


def _origin(table: pd.DataFrame) -> str:
    return ", ".join(sorted(table["origin"].unique())) if "origin" in table else ""


def _priors(prior: str | Path | Priors) -> Priors:
    if isinstance(prior, Priors):
        return prior
    path = Path(prior)
    if path.suffix not in {".yaml", ".yml"}:
        path = Path("config/priors") / f"{prior}.yaml"
    if not path.is_file():
        mend = "give a prior file, or the name of one in config/priors"
        raise ConfigError("file not found", where=str(path), mend=mend)
    return load_priors(path)


def _composites(
    judgments: str | Path | pd.DataFrame, composites: str | Path | pd.DataFrame | None
) -> pd.DataFrame:
    if isinstance(composites, pd.DataFrame):
        return composites
    if composites is None:
        if isinstance(judgments, pd.DataFrame):
            raise ModelError("no composites", where="composites", mend="give their table or file")
        composites = Path(judgments).parents[1] / "design/composites.parquet"
    path = Path(composites)
    if not path.is_file():
        mend = "give the file of the design that was judged (design/composites.parquet of a run)"
        raise ModelError("no file of composites", where=str(path), mend=mend)
    try:
        return pd.read_parquet(path)
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise JudgmentError(f"not a Parquet file: {reason}", where=str(path)) from None
