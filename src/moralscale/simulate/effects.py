"""What composites add to the sum of their scenes, solved for the planted estimands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from moralscale.config import Panel
from moralscale.elo import ELO_PER_LOGIT
from moralscale.errors import ModelError
from moralscale.estimands import Estimands, zero_sum_basis
from moralscale.simulate.spreads import FOUNDATION_JUDGE_SD, PROFILE_SD, SLOPE_SD, centred

Array = NDArray[np.float64]


def composite_deviations(
    rng: np.random.Generator, panel: Panel, estimands: Estimands, sums: Array
) -> dict[str, Array]:
    """Slopes, effects and what is left of composite strengths, as their arena shows them."""
    n_judges, n_composites = sums.shape
    beta = panel.slope + SLOPE_SD * centred(rng, n_judges)
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


def _off_the_estimands(estimands: Estimands, sums: Array, noise: Array) -> Array:
    """Noise (judge, composite) without its share in lines, foundation and configuration means."""
    columns = np.hstack([estimands.foundation, estimands.config])
    rows = []
    for judge_sums, row in zip(sums, noise, strict=True):
        span = np.column_stack([judge_sums, columns])
        rows.append(row - span @ np.linalg.lstsq(span, row, rcond=None)[0])
    return np.stack(rows)
