"""Widths of intervals at one design, from the expected information of the joint model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from moralscale.arrays import Arrays, make_arrays
from moralscale.composition import get_rule
from moralscale.config import Panel
from moralscale.elo import ELO_PER_LOGIT
from moralscale.errors import ModelError
from moralscale.laplace import Expansion, Problem, strengths
from moralscale.priors import Priors
from moralscale.projections import quantities
from moralscale.simulate import simulate_panel, spreads

Array = NDArray[np.float64]

#: What a width can be wanted for, and its unit.
TARGETS = {"beta": "ratio", "anchoring": "Elo", "residual": "Elo"}
#: Share of scene battles among those of the study's two arenas.
SINGLE_SHARE = 17_134 / 29_134
#: Length of a 94% interval in standard deviations.
LENGTH = 2 * 1.8808
_DRAWS = 1000


def expected_widths(
    panel: Panel,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    priors: Priors,
    *,
    size: int,
    share: float,
    seed: int,
) -> dict[str, float]:
    """Reckon the widths of 94% intervals at one design.

    Parameters
    ----------
    panel : Panel
        The judges to expect.
    scenes, composites : DataFrame
    priors : Priors
        Of the joint model.
    size : int
        Judgments of a judge in all arenas together.
    share : float
        Share of them that are bridge battles, above 0 and below 1.
    seed : int

    Returns
    -------
    dict
        Width by name of `TARGETS`; of the residual, the mean over foundations; of the anchoring
        contrast not a number where the composites do not have one.

    Raises
    ------
    ModelError
        The share leaves an arena without judgments.
    """
    counts = arena_counts(size, share)
    if min(counts.values()) < 1:
        raise ModelError(
            f"{size} judgments with a share of {share:g} leave an arena empty",
            mend="use a share above 0 and below 1, and more judgments",
        )
    rng = np.random.default_rng([seed, size, round(1e6 * share)])
    judges = [f"simulated-{j:02d}" for j in range(1, panel.judges + 1)]
    truth = simulate_panel(panel, scenes, composites, judges, seed=seed)
    table = random_pairs(counts, judges, scenes, composites, rng)
    arrays = make_arrays(table, scenes, composites, data="bridged")
    problem = Problem(arrays, priors, get_rule("compressed"))
    x, log_sd = _planted(problem, truth, arrays)
    # The same noise for every design, so that their widths compare.
    spread = Expansion(problem, x, log_sd).arrow.draw(np.random.default_rng(seed), _DRAWS)
    draws = quantities(
        strengths(problem, (x[:, None] + spread).T, np.tile(log_sd, (_DRAWS, 1))), arrays.estimands
    )
    residual = draws["foundation_residual"].std(("chain", "draw")).mean()
    contrast = draws["anchoring_adjusted"].std() if "anchoring_adjusted" in draws else np.nan
    return {
        "beta": LENGTH * float(draws["slope"].std()),
        "anchoring": LENGTH * ELO_PER_LOGIT * float(contrast),
        "residual": LENGTH * ELO_PER_LOGIT * float(residual),
    }


def arena_counts(size: int, share: float) -> dict[str, int]:
    """Split a judge's judgments over the arenas, those of the study in the study's proportion."""
    bridge = round(size * share)
    single = round((size - bridge) * SINGLE_SHARE)
    return {"single": single, "composite": size - bridge - single, "bridge": bridge}


def random_pairs(
    counts: Mapping[str, int],
    judges: Sequence[str],
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Comparisons at random; who wins does not enter the information."""
    pools = {
        "single": (scenes["id"], scenes["id"]),
        "composite": (composites["composite_id"], composites["composite_id"]),
        "bridge": (scenes["id"], composites["composite_id"]),
    }
    tables = []
    for arena, count in counts.items():
        n = count * len(judges)
        one, other = (rng.integers(len(pool), size=n) for pool in pools[arena])
        if arena != "bridge":
            other = np.where(one == other, (other + 1) % len(pools[arena][1]), other)
        pair = [
            pool.to_numpy(dtype=object)[k]
            for pool, k in zip(pools[arena], (one, other), strict=True)
        ]
        turn = rng.random(n) < 0.5
        tables.append(
            pd.DataFrame(
                {
                    "arena": arena,
                    "judge": np.repeat(np.array(judges, dtype=object), count),
                    "first": np.where(turn, pair[0], pair[1]),
                    "second": np.where(turn, pair[1], pair[0]),
                    "outcome": "first",
                }
            )
        )
    table = pd.concat(tables, ignore_index=True)
    table["comparison_id"] = np.arange(len(table)).astype(str)
    return table


def _planted(problem: Problem, truth: xr.Dataset, arrays: Arrays) -> tuple[Array, Array]:
    """Parameters and log spreads of a simulated panel, where the information is taken."""
    at, x = problem.layout, problem.start()
    x[at.of("mu")] = truth["mu"].values
    x[at.every("t")] = truth["theta"].values
    x[at.every("p")] = truth["phi"].values
    for local, name in (("bias", "position_bias"), ("beta", "beta"), ("alpha", "alpha")):
        x[at.every(local)[:, 0]] = truth[f"{name}_judge"].values
        x[at.of(name)] = float(truth[name])
    for name in ("composite_consistency", "bridge_consistency"):
        x[at.of(name)] = np.log(float(truth[name]))
    x[at.of("log_consistency")] = problem.judge_basis.T @ np.log(truth["consistency"].values)
    sums = arrays.estimands.component_sum(truth["theta"].values)
    residual = arrays.estimands.line(sums, truth["phi"].values)[2]
    own = (residual - residual.mean(axis=0)).std()
    planted = {
        "judge_sd": spreads.JUDGE_SD,
        "composite_sd": max(own, 0.02),
        "scene_sd": spreads.SCENE_SD,
        "intensity_slope_sd": spreads.FOUNDATION_SLOPE_SD,
        "cell_sd": spreads.CELL_SD,
        "consistency_sd": spreads.CONSISTENCY_SD,
        "profile_sd": spreads.PROFILE_SD,
        "gamma_judge_sd": spreads.FOUNDATION_JUDGE_SD,
        "beta_sd": spreads.SLOPE_SD,
        "position_bias_sd": spreads.POSITION_SD,
        "alpha_sd": spreads.INTERCEPT_SD,
    }
    typical = [prior.typical for prior in problem.spread_priors]
    known = [planted.get(k, v) for k, v in zip(problem.spreads, typical, strict=True)]
    return x, np.log(known)
