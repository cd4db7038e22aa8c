"""Panels of simulated judges with known truth.

The truth follows the generative equations of docs/model.md. Its free terms are then solved for, so
that the estimands of this very panel (not only their expectations) are the planted ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from moralscale.config import Panel
from moralscale.elo import ELO_PER_LOGIT
from moralscale.errors import ModelError
from moralscale.estimands import Estimands, zero_sum_basis
from moralscale.records import INTENSITIES, Arena, Origin, foundations_of, intensities_of

Array = NDArray[np.float64]

#: Strength of a scene by intensity, log-odds, from -2 to +2; other scales are stretched to that.
#: +2 and -1 together weigh as much as +1 and +1.
INTENSITY_CURVE = (-1.50, -0.60, 0.0, 0.45, 1.50)
#: Share of the anchoring contrast that is taken off a scene, by intensity.
ANCHORING_SHARE = {-1: 1 / 6, 1: -1 / 3, 2: 1 / 6}
FOUNDATION_SLOPE_SD = 0.12
CELL_SD = 0.12
SCENE_SD = 0.35
JUDGE_SD = 0.25
CONSISTENCY_SD = 0.15
SLOPE_SD = 0.04
FOUNDATION_JUDGE_SD = 0.03
PROFILE_SD = 0.15
INTERCEPT_SD = 0.10
POSITION_SD = 0.20
LAPSE_SD = 0.40
TIE_SD = 0.30
ARENA_SD = 0.10
GROWTH_SD = 0.03
#: Arenas that may have a position bias of their own, beside the single one.
OTHER_ARENAS = (Arena.COMPOSITE.value, Arena.BRIDGE.value)


def simulate_panel(
    panel: Panel,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    judges: Sequence[str],
    *,
    seed: int,
) -> xr.Dataset:
    """Draw a panel of judges from the generative model.

    Parameters
    ----------
    panel : Panel
        What to plant.
    scenes, composites : DataFrame
        The corpus and the composites of the design.
    judges : sequence of str
        Names of the judges.
    seed : int
        Seed. Panels that differ only in `composite_consistency` share every random number.

    Returns
    -------
    Dataset
        ``theta (judge, scene)`` and ``phi (judge, composite)``, strengths in log-odds; the
        structural parameters under the names that the posterior uses (of lapses, ties and further
        position biases those that are planted); what the simulated judge
        needs to read a prompt (``scene_text``, ``composite_scene_a``, ``composite_scene_b``,
        ``refusal_rate``).

    Raises
    ------
    ModelError
        Two composites hold the same scenes, or a planted estimand is beyond what these judges or
        composites can show.
    """
    _refuse_twins(composites)
    rng = np.random.default_rng(_seed(seed, "panel"))
    estimands = Estimands.from_composites(scenes, composites)
    truth = _scene_strengths(rng, scenes, estimands, len(judges))
    sums = estimands.component_sum(truth["theta"])
    shown = _composite_deviations(rng, panel, estimands, sums)
    rho = panel.composite_consistency
    truth |= {name: value / rho for name, value in shown.items()}
    truth["alpha_judge"] = panel.intercept + INTERCEPT_SD * _centred(rng, len(judges))
    truth["phi"] = (
        truth["alpha_judge"][:, None] + truth["beta_judge"][:, None] * sums + truth.pop("deviation")
    )
    truth["position_bias_judge"] = panel.position_bias + POSITION_SD * _centred(rng, len(judges))
    truth |= _observation(rng, panel, len(judges))
    return _dataset(truth, panel, scenes, composites, judges, seed)


def _observation(rng: np.random.Generator, panel: Panel, n_judges: int) -> dict[str, Array]:
    """Lapses, ties and further position biases of every judge, of those that are planted."""
    truth: dict[str, Array] = {}
    if panel.lapse:
        logit_rate = logit(panel.lapse) + LAPSE_SD * _centred(rng, n_judges)
        truth["lapse_judge"] = expit(logit_rate)
    if panel.tie:
        truth["tie_judge"] = panel.tie * np.exp(TIE_SD * _centred(rng, n_judges))
    if panel.position_bias_arena:
        shifts = np.array([panel.position_bias_arena.get(arena, 0.0) for arena in OTHER_ARENAS])
        own = np.stack([_centred(rng, n_judges) for _ in OTHER_ARENAS], axis=1)
        truth["position_bias_arena"] = shifts
        truth["position_bias_arena_judge"] = shifts + ARENA_SD * own
    if panel.position_bias_slope:
        spread = GROWTH_SD * _centred(rng, n_judges)
        truth["position_bias_slope_judge"] = panel.position_bias_slope + spread
    return truth


def _refuse_twins(composites: pd.DataFrame) -> None:
    """Refuse composites that a prompt shows alike: a judge cannot hold two strengths for one."""
    twin = composites.duplicated(["scene_a", "scene_b"])
    if twin.any():
        raise ModelError(
            f"composite '{composites['composite_id'][twin].iloc[0]}' holds the same two scenes as "
            "another one",
            where="design.realisations",
            mend="make fewer realisations, or add scenes to the corpus",
        )


def _scene_strengths(
    rng: np.random.Generator, scenes: pd.DataFrame, estimands: Estimands, n_judges: int
) -> dict[str, Array]:
    """Scene strengths, shared (scene,) and per judge (judge, scene), each summing to zero.

    Intensities are shifted, as little as can be, so that +2/-1 and +1/+1 composites have the same
    mean component sum: that is what makes their contrast one of anchoring.
    """
    foundations, intensities = estimands.foundation_names, intensities_of(scenes["intensity"])
    foundation = scenes["foundation"].map(foundations.index).to_numpy()
    level = scenes["intensity"].map(intensities.index).to_numpy()
    slopes = 1 + FOUNDATION_SLOPE_SD * _centred(rng, len(foundations))
    cells = np.outer(slopes, _curve(intensities))
    cells += CELL_SD * rng.standard_normal(cells.shape)
    mu = cells[foundation, level] + SCENE_SD * rng.standard_normal(len(scenes))
    share = np.array([ANCHORING_SHARE.get(i, 0.0) for i in intensities])
    mu -= share[level] * np.nan_to_num(estimands.anchoring(estimands.component_sum(mu)))
    mu -= mu.mean()
    consistency = np.exp(CONSISTENCY_SD * _centred(rng, n_judges))
    theta = consistency[:, None] * mu + JUDGE_SD * rng.standard_normal((n_judges, len(scenes)))
    theta -= theta.mean(axis=1, keepdims=True)
    return {"mu": mu, "consistency": consistency, "theta": theta}


def _curve(intensities: Sequence[int]) -> Array:
    """Mean strength of each intensity, log-odds: (intensity,)."""
    furthest = max(map(abs, intensities)) or 1
    return np.interp(np.array(intensities) * (2 / furthest), INTENSITIES, INTENSITY_CURVE)


def _composite_deviations(
    rng: np.random.Generator, panel: Panel, estimands: Estimands, sums: Array
) -> dict[str, Array]:
    """Slopes, effects and what is left of composite strengths, as their arena shows them."""
    n_judges, n_composites = sums.shape
    beta = panel.slope + SLOPE_SD * _centred(rng, n_judges)
    n_foundations = len(estimands.foundation_names)
    by_judge = FOUNDATION_JUDGE_SD * rng.standard_normal((n_judges, n_foundations))
    by_judge -= by_judge.mean(axis=0)
    by_judge -= by_judge.mean(axis=1, keepdims=True)
    gamma, delta = _solve_effects(panel, estimands, sums, by_judge)
    effects = (gamma + by_judge) @ estimands.foundation.T + delta @ estimands.config.T

    shared = np.tile(PROFILE_SD * rng.standard_normal(n_composites), (n_judges, 1))
    own = rng.standard_normal((n_judges, n_composites))
    shared, own = (_off_the_estimands(estimands, sums, noise) for noise in (shared, own))

    def deviation(composite_sd: float) -> Array:
        return effects + shared + composite_sd * own

    def excess(composite_sd: float) -> float:
        phi = beta[:, None] * sums + deviation(composite_sd)
        return float(estimands.convergence(phi)) - panel.convergence

    composite_sd = _root(excess, panel) if n_judges > 1 else PROFILE_SD
    return {
        "beta_judge": beta,
        "gamma": gamma,
        "gamma_judge": gamma + by_judge,
        "delta_config": delta,
        "deviation": deviation(composite_sd),
    }


def _solve_effects(
    panel: Panel, estimands: Estimands, sums: Array, by_judge: Array
) -> tuple[Array, Array]:
    """Smallest foundation and configuration effects that show the planted estimands.

    The estimands are linear in the effects: foundation residuals and the anchoring contrast at
    equal component sum, both after each judge's line has been taken off, and no net effect on the
    slope.
    """
    foundations = estimands.foundation_names
    gamma_basis, delta_basis = zero_sum_basis(len(foundations)), estimands.config_basis()
    columns = np.hstack([estimands.foundation @ gamma_basis, estimands.config @ delta_basis])
    residuals = panel.residuals_of(foundations)
    anchoring = panel.anchoring_of(shown=estimands.has_anchoring)
    planted = np.array([residuals[f] for f in foundations] + [anchoring]) / ELO_PER_LOGIT

    def shown(effect: Array) -> Array:  # (judge, composite) -> (foundations + 2,)
        slope, _, residual = estimands.line(sums, effect)
        return np.concatenate(
            [
                estimands.foundation_residual(residual).mean(axis=0),
                [estimands.anchoring(residual).mean(), slope.mean()],
            ]
        )

    n_judges = sums.shape[0]
    design = np.stack([shown(np.tile(c, (n_judges, 1))) for c in columns.T], axis=1)
    target = np.append(planted, 0.0) - shown(by_judge @ estimands.foundation.T)
    told = np.isfinite(target)  # not a foundation or configuration that no composite has
    solution = np.linalg.lstsq(design[told], target[told], rcond=None)[0]
    missed = np.where(told, design @ solution - target, np.append(planted, 0.0))
    if np.abs(missed).max() > 1e-9:
        raise ModelError(
            "these composites cannot show the planted foundation residuals and anchoring contrast",
            where="panels, residuals and anchoring",
            mend="plant 0 for what no composite has, or use composites of all profiles",
        )
    split = gamma_basis.shape[1]
    return gamma_basis @ solution[:split], delta_basis @ solution[split:]


def _root(excess: Callable[[float], float], panel: Panel) -> float:
    upper = 5.0
    if excess(0.0) < 0 or excess(upper) > 0:
        raise ModelError(
            f"a convergence of {panel.convergence:g} cannot be planted: these judges reach from "
            f"{excess(upper) + panel.convergence:.3f} to {excess(0.0) + panel.convergence:.3f}",
            where="panels, convergence",
            mend="choose a value between the two",
        )
    return float(brentq(excess, 0.0, upper, xtol=1e-10))


def _dataset(
    truth: dict[str, Array],
    panel: Panel,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    judges: Sequence[str],
    seed: int,
) -> xr.Dataset:
    dims = {
        "mu": ("scene",),
        "theta": ("judge", "scene"),
        "phi": ("judge", "composite"),
        "gamma": ("foundation",),
        "gamma_judge": ("judge", "foundation"),
        "delta_config": ("config",),
        "position_bias_arena": ("other_arena",),
        "position_bias_arena_judge": ("judge", "other_arena"),
    }
    variables: dict[str, Any] = {
        name: (dims.get(name, ("judge",)), value) for name, value in truth.items()
    }
    variables |= {
        "beta": ((), truth["beta_judge"].mean()),
        "alpha": ((), truth["alpha_judge"].mean()),
        "position_bias": ((), truth["position_bias_judge"].mean()),
        "composite_consistency": ((), panel.composite_consistency),
        "bridge_consistency": ((), panel.bridge_consistency),
        "refusal_rate": ((), panel.refusal_rate),
        "scene_text": (("scene",), scenes["text"].to_numpy(dtype=object)),
        "composite_scene_a": (("composite",), composites["scene_a"].to_numpy(dtype=object)),
        "composite_scene_b": (("composite",), composites["scene_b"].to_numpy(dtype=object)),
    }
    typical = {
        "lapse": panel.lapse,
        "tie": panel.tie,
        "position_bias_slope": panel.position_bias_slope,
    }
    variables |= {name: ((), value) for name, value in typical.items() if value}
    coords = {
        "judge": list(judges),
        "scene": scenes["id"].to_list(),
        "composite": composites["composite_id"].to_list(),
        "foundation": list(foundations_of(scenes["foundation"])),
        "config": list(Estimands.from_composites(scenes, composites).config_names),
    }
    if panel.position_bias_arena:
        coords["other_arena"] = list(OTHER_ARENAS)
    attrs = {"origin": Origin.SIMULATED.value, "seed": seed, "panel": panel.model_dump_json()}
    return xr.Dataset(variables, coords, attrs)


def _centred(rng: np.random.Generator, n: int) -> Array:
    """Draw standard normals shifted to sum to zero, so that a mean is planted exactly."""
    draws = rng.standard_normal(n)
    return draws - draws.mean()


def _off_the_estimands(estimands: Estimands, sums: Array, noise: Array) -> Array:
    """Noise (judge, composite) without its share in lines, foundation and configuration means."""
    columns = np.hstack([estimands.foundation, estimands.config])
    rows = []
    for judge_sums, row in zip(sums, noise, strict=True):
        span = np.column_stack([judge_sums, columns])
        rows.append(row - span @ np.linalg.lstsq(span, row, rcond=None)[0])
    return np.stack(rows)


def _seed(seed: int, purpose: str) -> int:
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
