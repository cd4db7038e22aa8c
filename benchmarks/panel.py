"""The data of the benchmarks: simulated panels at the study's size and beyond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from moralscale.arrays import Arrays, make_arrays
from moralscale.config import Config, Panel, read_config
from moralscale.design import make_composites, make_schedules
from moralscale.likelihood import replicate
from moralscale.power import random_pairs
from moralscale.priors import Priors, load_priors
from moralscale.records import VERDICTS
from moralscale.scenes import load_scenes
from moralscale.simulate import simulate_panel

ROOT = Path(__file__).parents[1]


def config() -> Config:
    """Read the default configuration."""
    return read_config(ROOT / "config/config.yaml", root=ROOT)


def priors() -> Priors:
    """Read the default priors."""
    return load_priors(ROOT / "config/priors/default.yaml")


def study() -> Arrays:
    """Simulate the default run's panel `compressed`, bridge battles included."""
    settings = config()
    scenes = load_scenes(ROOT / "scenarios/scenes.csv")
    composites = make_composites(scenes, realisations=1, seed=settings.seed)
    panel = settings.panels["compressed"]
    schedule = make_schedules(
        scenes,
        composites,
        names_of(panel.judges),
        judgments=settings.design.judgments.model_dump(),
        repeats=1,
        prompts=["trolley"],
        seed=settings.seed,
    )
    return answered(schedule, scenes, composites, panel, seed=settings.seed)


def larger(judges: int, scenes: int, judgments: int, *, seed: int = 0) -> Arrays:
    """Simulate a panel of any size, with pairs at random.

    Parameters
    ----------
    judges, scenes : int
        Scenes, at least those of the corpus; further ones are copies of them under other names.
    judgments : int
        Of all judges and arenas, in the study's proportions.
    seed : int, optional
        Seed of pairs, truth and answers.
    """
    corpus = load_scenes(ROOT / "scenarios/scenes.csv")
    copies = [corpus.assign(id=corpus["id"] + f"-{k}") for k in range(-(-scenes // len(corpus)))]
    corpus = pd.concat(copies, ignore_index=True).head(scenes)
    composites = make_composites(corpus, realisations=1, seed=seed)
    study = config().design.judgments.model_dump()
    share = judgments / sum(study.values()) / judges
    counts = {arena: round(share * count) for arena, count in study.items()}
    names = names_of(judges)
    pairs = random_pairs(counts, names, corpus, composites, np.random.default_rng(seed))
    panel = Panel(judges=judges)
    return answered(pairs, corpus, composites, panel, seed=seed)


def names_of(judges: int) -> list[str]:
    """Name simulated judges."""
    return [f"judge-{k:03d}" for k in range(1, judges + 1)]


def answered(
    comparisons: pd.DataFrame,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    panel: Panel,
    *,
    seed: int,
) -> Arrays:
    """Let a simulated panel answer comparisons; without lapses, ties and refusals."""
    judges = list(dict.fromkeys(comparisons["judge"]))
    truth = simulate_panel(panel, scenes, composites, judges, seed=seed)
    asked = comparisons.assign(outcome=str(VERDICTS[0]))
    arrays = make_arrays(asked, scenes, composites, data="bridged")
    rng, n = np.random.default_rng(seed), len(arrays.outcome)
    blocks = [slice(k, k + 100_000) for k in range(0, n, 100_000)]
    outcome = np.concatenate([replicate(truth, arrays, None, rng, rows)[0] for rows in blocks])
    return replace(arrays, outcome=outcome)
