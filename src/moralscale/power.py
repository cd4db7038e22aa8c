"""How many judgments, in which arenas, for an interval of a wanted width.

Widths come from the expected (Fisher) information of the joint model at planted judges, with the
spreads known: no answer is drawn and nothing is fitted, so a design takes about a second. Where
spreads have to be learned from few judgments, these widths are too narrow. Pairs at random stand
for the schedule. docs/power.md holds these widths against simulated fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from moralscale import simulate
from moralscale.arrays import Arrays, make_arrays
from moralscale.composition import get_rule
from moralscale.config import Panel, load_config, load_yaml
from moralscale.elo import ELO_PER_LOGIT
from moralscale.errors import ModelError, suggestion
from moralscale.laplace import Expansion, Problem, strengths
from moralscale.priors import Priors
from moralscale.projections import quantities

Array = NDArray[np.float64]

#: What a width can be wanted for, and its unit.
TARGETS = {"beta": "ratio", "anchoring": "Elo", "residual": "Elo"}
#: Judgments of a judge and shares of them that are bridge battles, at which designs are reckoned.
SIZES = (1000, 2000, 4000, 8000)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)
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
    truth = simulate.simulate_panel(panel, scenes, composites, judges, seed=seed)
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


def power_table(
    panel: Panel,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    priors: Priors,
    *,
    seed: int,
    sizes: Sequence[int] = SIZES,
    shares: Sequence[float] = SHARES,
    usd_a_judgment: float | None = None,
) -> pd.DataFrame:
    """Reckon the widths of intervals over a grid of designs.

    Parameters
    ----------
    panel, scenes, composites, priors, seed
        As for `expected_widths`.
    sizes : sequence of int
        Judgments of a judge.
    shares : sequence of float
        Shares of bridge battles.
    usd_a_judgment : float, optional
        Mean price of a judgment.

    Returns
    -------
    DataFrame
        size, share, single, composite, bridge (judgments of a judge), judgments (of all judges),
        cost (USD, missing without a price), and the width for each of `TARGETS`.
    """
    rows = []
    for size in sizes:
        for share in shares:
            widths = expected_widths(
                panel, scenes, composites, priors, size=size, share=share, seed=seed
            )
            total = size * panel.judges
            cost = np.nan if usd_a_judgment is None else usd_a_judgment * total
            rows.append(
                {"size": size, "share": share, **arena_counts(size, share), "judgments": total}
                | {"cost": cost, **widths}
            )
    return pd.DataFrame(rows)


def needed(table: pd.DataFrame, wanted: Mapping[str, float]) -> pd.DataFrame:
    """Find the smallest design that gives every wanted width.

    Widths fall as a power of the number of judgments, one power for each share; where the wanted
    width lies outside the sizes of the table, the power goes on, and `extrapolated` says so.

    Parameters
    ----------
    table : DataFrame
        As `power_table` returns.
    wanted : mapping
        Largest width by name of `TARGETS`.

    Returns
    -------
    DataFrame
        One row a share, the cheapest first: share, judgments a judge by arena, judgments, cost and
        extrapolated. Shares at which a width is beyond reach (it hardly falls) are left out.

    Raises
    ------
    ModelError
        A target is not known, or no share reaches the widths.
    """
    for name in wanted:
        if name not in TARGETS:
            raise ModelError(f"unknown target '{name}'", mend=suggestion(name, TARGETS))
        if table[name].isna().all():
            raise ModelError(f"these composites have no {name}", mend="leave it out")
    rows = []
    for share, group in table.groupby("share"):
        sizes = [_size_for(group, name, width) for name, width in wanted.items()]
        size = max(sizes)
        if not np.isfinite(size) or size > 1e6:
            continue
        size = int(np.ceil(size))
        judges = group["judgments"].iloc[0] // group["size"].iloc[0]
        usd = group["cost"].iloc[0] / group["judgments"].iloc[0]
        beyond = not group["size"].min() <= size <= group["size"].max()
        rows.append(
            {
                "share": share,
                **arena_counts(size, group["share"].iloc[0]),
                "judgments": size * judges,
            }
            | {"cost": usd * size * judges, "extrapolated": beyond}
        )
    if not rows:
        raise ModelError(
            "no number of judgments reaches these widths",
            mend="want wider intervals, or ask more judges",
        )
    return pd.DataFrame(rows).sort_values("judgments", ignore_index=True)


def usd_a_judgment(config: str | Path, *, root: str | Path = ".") -> float | None:
    """Mean price of a judgment over the real judges of a configuration, USD.

    Answers that are there already count like any other: a design is priced as if it began.

    Parameters
    ----------
    config : path
    root : path, optional
        Folder that paths of the configuration start from, the project's.

    Returns
    -------
    float or None
        None where the configuration has no real judge, or the price of one is not known.
    """
    from moralscale.estimate import estimate_cost

    found = estimate_cost(load_config(load_yaml(config), source=str(config)), root=root, anew=True)
    costs = [one.cost for one in found]
    planned = sum(one.planned for one in found)
    if not planned or any(cost is None for cost in costs):
        return None
    return sum(cost for cost in costs if cost is not None) / planned


def _size_for(group: pd.DataFrame, name: str, width: float) -> float:
    """Judgments of a judge that give a width: a power law through the sizes of a share."""
    power, level = np.polyfit(np.log(group["size"]), np.log(group[name]), 1)
    return float(np.exp((np.log(width) - level) / power)) if power < -0.05 else np.inf


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
    spreads = {
        "judge_sd": simulate.JUDGE_SD,
        "composite_sd": max(own, 0.02),
        "scene_sd": simulate.SCENE_SD,
        "intensity_slope_sd": simulate.FOUNDATION_SLOPE_SD,
        "cell_sd": simulate.CELL_SD,
        "consistency_sd": simulate.CONSISTENCY_SD,
        "profile_sd": simulate.PROFILE_SD,
        "gamma_judge_sd": simulate.FOUNDATION_JUDGE_SD,
        "beta_sd": simulate.SLOPE_SD,
        "position_bias_sd": simulate.POSITION_SD,
        "alpha_sd": simulate.INTERCEPT_SD,
    }
    typical = [prior.typical for prior in problem.spread_priors]
    known = [spreads.get(k, v) for k, v in zip(problem.spreads, typical, strict=True)]
    return x, np.log(known)
