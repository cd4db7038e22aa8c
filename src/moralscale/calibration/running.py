"""A job's share of the simulated data sets: one compiled model, every replicate kept on disk."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.calibration.design import small_design
from moralscale.calibration.replicate import replicate
from moralscale.calibration.targets import RANKED, RECOVERED
from moralscale.calibration.truths import planted_truth
from moralscale.checks.prior import prior_draws
from moralscale.composition import get_rule
from moralscale.config import Calibration, Observation, Reporting
from moralscale.fit import Compiled, compile
from moralscale.likelihood import replicate as answers
from moralscale.priors import load_priors
from moralscale.scenes import load_scenes

LOG = logging.getLogger(__name__)
#: What each kind looks at, and whether truths are planted (and judges lapse) or prior draws.
KINDS = {"recovery": (RECOVERED, True), "ranks": (RANKED, False)}


def run_job(
    kind: str,
    numbers: Iterable[int],
    *,
    corpus: str,
    priors: str,
    settings: Mapping[str, Any],
    reporting: Mapping[str, Any],
    seed: int,
    code: str,
    folder: str | Path,
) -> pd.DataFrame:
    """Run some of the replicates of a kind; those that are on disk already are read.

    Parameters
    ----------
    kind : {"recovery", "ranks"}
        Truths from the simulator of panels and lapses in the model; or truths from the priors.
    numbers : iterable of int
        Replicates to run; each has its own seeds, whatever the job that runs it.
    corpus, priors : path
        Scenes and prior file.
    settings, reporting : mapping
        Sections ``calibration`` and ``reporting`` of the configuration.
    seed : int
        Seed of everything.
    code : str
        Digest of the code: replicates of other code are not read.
    folder : path
        Where replicates are kept.

    Returns
    -------
    DataFrame
        The replicates, stacked (`replicate.replicate`).
    """
    valid, intervals = Calibration(**settings), Reporting(**reporting)
    key = json.dumps([code, seed, kind, _of_a_fit(valid), Path(priors).read_text("utf-8")])
    kept = Path(folder) / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    paths = {number: kept / f"{number:04d}.csv" for number in numbers}
    missing = [number for number, path in paths.items() if not path.is_file()]
    if missing:
        kept.mkdir(parents=True, exist_ok=True)
        one = _preparation(kind, missing, corpus, priors, valid, intervals, seed)
        for number in missing:
            _write(one(number), paths[number])
            LOG.info("%s: replicate %d of %d to %d", kind, number, min(paths), max(paths))
    return pd.concat(map(_read, paths.values()), ignore_index=True)


def _of_a_fit(settings: Calibration) -> dict[str, Any]:
    """Pick the settings that change a replicate: not how many there are, nor who runs them."""
    return settings.model_dump(mode="json", exclude={"recovery", "ranks", "per_job"})


def _preparation(
    kind: str,
    numbers: list[int],
    corpus: str,
    prior_file: str,
    settings: Calibration,
    reporting: Reporting,
    seed: int,
) -> Callable[[int], pd.DataFrame]:
    """Compile the model, and return what runs one of the replicates `numbers`."""
    names, planted = KINDS[kind]
    design = small_design(load_scenes(corpus), settings, seed=seed)
    options = Observation(lapse=planted)
    compiled = compile(
        design.arrays,
        rule=get_rule(settings.rule),
        priors=load_priors(prior_file),
        options=options,
        backend=settings.sampler.backend,
    )
    # Truths of all replicates up to the last, so that a truth does not depend on who runs it.
    prior = None if planted else prior_draws(compiled.model, draws=max(numbers) + 1, seed=seed)

    def one(number: int) -> pd.DataFrame:
        seeds = np.random.SeedSequence([seed, list(KINDS).index(kind), number])
        of_truth, of_answers, of_fit = (int(s) for s in seeds.generate_state(3))
        if prior is None:
            truth = planted_truth(design, seed=of_truth)
        else:
            truth = prior.isel(chain=0, draw=number)
        drawn = answers(truth, design.arrays, options, np.random.default_rng(of_answers))
        return replicate(
            truth,
            lambda: _fit(compiled, drawn[0], settings, of_fit),
            design.arrays.estimands,
            kind=kind,
            number=number,
            names=names,
            settings=settings,
            reporting=reporting,
        )

    return one


def _fit(compiled: Compiled, outcomes: np.ndarray, settings: Calibration, seed: int) -> xr.DataTree:
    return compiled.sample(sampler=settings.sampler, seed=seed, cores=1, outcomes=outcomes)


def _write(table: pd.DataFrame, path: Path) -> None:
    """Write a replicate whole or not at all."""
    part = path.with_suffix(".part")
    table.to_csv(part, index=False)
    os.replace(part, path)


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False, na_values=["nan"])
