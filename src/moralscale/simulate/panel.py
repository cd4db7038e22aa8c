"""Panels of simulated judges with known truth.

The truth follows the generative equations of docs/model.md. Its free terms are then solved for, so
that the estimands of this very panel (not only their expectations) are the planted ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit, logit

from moralscale.config import Panel
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.records import Arena, Origin, foundations_of
from moralscale.simulate.effects import composite_deviations
from moralscale.simulate.spreads import (
    ARENA_SD,
    GROWTH_SD,
    INTERCEPT_SD,
    LAPSE_SD,
    POSITION_SD,
    TIE_SD,
    centred,
)
from moralscale.simulate.strengths import scene_strengths

Array = NDArray[np.float64]

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
    truth = scene_strengths(rng, scenes, estimands, len(judges))
    sums = estimands.component_sum(truth["theta"])
    shown = composite_deviations(rng, panel, estimands, sums)
    rho = panel.composite_consistency
    truth |= {name: value / rho for name, value in shown.items()}
    truth["alpha_judge"] = panel.intercept + INTERCEPT_SD * centred(rng, len(judges))
    truth["phi"] = (
        truth["alpha_judge"][:, None] + truth["beta_judge"][:, None] * sums + truth.pop("deviation")
    )
    truth["position_bias_judge"] = panel.position_bias + POSITION_SD * centred(rng, len(judges))
    truth |= _observation(rng, panel, len(judges))
    return _dataset(truth, panel, scenes, composites, judges, estimands.config_names, seed)


def _observation(rng: np.random.Generator, panel: Panel, n_judges: int) -> dict[str, Array]:
    """Lapses, ties and further position biases of every judge, of those that are planted."""
    truth: dict[str, Array] = {}
    if panel.lapse:
        logit_rate = logit(panel.lapse) + LAPSE_SD * centred(rng, n_judges)
        truth["lapse_judge"] = expit(logit_rate)
    if panel.tie:
        truth["tie_judge"] = panel.tie * np.exp(TIE_SD * centred(rng, n_judges))
    if panel.position_bias_arena:
        shifts = np.array([panel.position_bias_arena.get(arena, 0.0) for arena in OTHER_ARENAS])
        own = np.stack([centred(rng, n_judges) for _ in OTHER_ARENAS], axis=1)
        truth["position_bias_arena"] = shifts
        truth["position_bias_arena_judge"] = shifts + ARENA_SD * own
    if panel.position_bias_slope:
        spread = GROWTH_SD * centred(rng, n_judges)
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


def _dataset(
    truth: dict[str, Array],
    panel: Panel,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    judges: Sequence[str],
    configs: Sequence[str],
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
        "config": list(configs),
    }
    if panel.position_bias_arena:
        coords["other_arena"] = list(OTHER_ARENAS)
    attrs = {"origin": Origin.SIMULATED.value, "seed": seed, "panel": panel.model_dump_json()}
    return xr.Dataset(variables, coords, attrs)


def _seed(seed: int, purpose: str) -> int:
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
