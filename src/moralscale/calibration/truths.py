"""Where the truths of simulated data sets come from: the priors, or the simulator of panels."""

from __future__ import annotations

import numpy as np
import xarray as xr

from moralscale.calibration.design import SmallDesign
from moralscale.config import Panel
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.simulate import simulate_panel

#: Tries to draw a panel whose convergence its judges can show.
TRIES = 50


def planted_truth(design: SmallDesign, *, seed: int) -> xr.Dataset:
    """Simulate a panel whose planted values are drawn at random.

    The simulator is not the model: spreads are fixed, the intensity curve is bent, and estimands
    are solved for. What is planted is drawn anew, over a wide range, so that an interval cannot
    hold the truth by luck of the prior's centre.

    Parameters
    ----------
    design : SmallDesign
        Who judges what.
    seed : int
        Seed of the values and of the panel.

    Returns
    -------
    Dataset
        As `simulate.simulate_panel` returns it.
    """
    rng = np.random.default_rng(seed)
    for _ in range(TRIES):
        panel = _panel(rng, len(design.judges), design.arrays.estimands)
        try:
            return simulate_panel(
                panel,
                design.scenes,
                design.composites,
                design.judges,
                seed=int(rng.integers(2**62)),
            )
        except ModelError:  # this convergence is out of these judges' reach: draw another panel
            continue
    raise ModelError("no panel could be simulated", where="calibration", mend="use more judges")


def _panel(rng: np.random.Generator, judges: int, estimands: Estimands) -> Panel:
    """Draw what to plant.

    Convergence is as high as spreads of composites between judges that the priors expect make it
    here (about 0.1 to 0.3 log-odds): with as few judgments a composite as in these small designs,
    the data cannot say much against the prior of that spread.
    """
    foundations = estimands.foundation_names
    residuals = 12 * rng.standard_normal(len(foundations))
    residuals -= residuals.mean()
    consistency, bridge = np.exp(0.2 * rng.standard_normal(2))
    return Panel(
        judges=judges,
        slope=rng.uniform(0.6, 1.2) * consistency,
        composite_consistency=consistency,
        bridge_consistency=bridge,
        intercept=rng.normal(0.2, 0.4),
        residuals=dict(zip(foundations, residuals.tolist(), strict=True)),
        anchoring=rng.normal(0, 35) if estimands.has_anchoring else None,
        convergence=rng.uniform(0.965, 0.985),
        position_bias=rng.normal(0.15, 0.3),
        lapse=rng.uniform(0.01, 0.12),
    )
