"""Fit judgments of the arenas that lie in a file, with what they are about beside them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import xarray as xr

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Observation, Sampler
from moralscale.errors import ConfigError, ModelError, suggestion
from moralscale.fit import fit
from moralscale.importing import load_composites, read_any
from moralscale.priors import Priors, load_priors
from moralscale.records import Arena
from moralscale.resources import find
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
        A table of judgments (docs/data.md). A file is .parquet, .csv or .jsonl; where it has no
        column ``origin``, judge, first, second and outcome are enough
        (`importing.import_judgments`).
    scenes : path or DataFrame, optional
        The corpus that they are about; the package's own where there is no file of that name.
    composites : path or DataFrame, optional
        The composites, as ``design/composites.parquet`` of a run or any .parquet, .csv or .jsonl
        file with composite_id, scene_a, scene_b; those of the run when `judgments` is its table.
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
        As `fit.fit` returns it; `posterior_file.save` writes it.

    Raises
    ------
    MoralscaleError
        A file is missing or not valid, or judgments and model do not fit each other.
    """
    rule_found, priors = get_rule(rule, where="rule"), _priors(prior)
    corpus = scenes if isinstance(scenes, pd.DataFrame) else load_scenes(find(scenes))
    made_of = _composites(judgments, composites, corpus)
    if isinstance(judgments, pd.DataFrame):
        table = judgments
    else:
        table = read_any(judgments, corpus, made_of)
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
        path = find(f"config/priors/{prior}.yaml")
    if not path.is_file():
        known = [other.stem for other in find(path.parent).glob("*.yaml")]
        mend = "give a prior file, or the name of one in config/priors"
        if known:
            mend += f"; {suggestion(path.stem, sorted(known))}"
        raise ConfigError("file not found", where=str(path), mend=mend)
    return load_priors(path)


def _composites(
    judgments: str | Path | pd.DataFrame,
    composites: str | Path | pd.DataFrame | None,
    corpus: pd.DataFrame,
) -> pd.DataFrame:
    if isinstance(composites, pd.DataFrame):
        return composites
    if composites is None:
        if isinstance(judgments, pd.DataFrame):
            raise ModelError("no composites", where="composites", mend="give their table or file")
        composites = Path(judgments).resolve().parent.parent / "design/composites.parquet"
    path = Path(composites)
    if not path.is_file():
        mend = "name the file of those that were judged: `--composites`, or composites= in Python"
        raise ModelError("no file of composites", where=str(path), mend=mend)
    return load_composites(path, corpus)
