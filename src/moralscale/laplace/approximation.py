"""The approximation itself: draws of strengths and parameters, as a posterior has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from moralscale.laplace.expansion import Expansion
from moralscale.laplace.mode import Found, find
from moralscale.laplace.problem import Problem
from moralscale.laplace.response import Response, respond
from moralscale.laplace.spreads import followed

Array = NDArray[np.float64]

#: Draws of the spreads at which the curvature is factored anew.
GROUPS = 8


@dataclass(frozen=True, eq=False)
class Laplace:
    """Approximate posterior of the joint model.

    Attributes
    ----------
    problem : Problem
    found : Found
        Where the search arrived; ``found.place.at.x`` are the parameters (`Problem.layout`).
    followed : (size, spread)
        How the parameters move with the log spreads.
    response : Response
        Correction of draws along beta and what is tied to it.
    """

    problem: Problem
    found: Found
    followed: Array
    response: Response

    def draws(self, n: int, *, seed: int) -> xr.Dataset:
        """Draw strengths and structural parameters from the approximation.

        Spreads are drawn first, parameters given them: around where they follow the spreads, with
        the curvature at one of `GROUPS` draws of the spreads, the one whose spread of composites,
        the least certain one, is nearest.

        Parameters
        ----------
        n : int
            Draws; they are independent.
        seed : int

        Returns
        -------
        Dataset
            As `moralscale.fit` keeps a posterior, with one chain: theta, phi, beta, beta_judge,
            consistency, position_bias, the spreads and, of bridged data, alpha and the
            consistencies.
        """
        rng = np.random.default_rng(seed)
        log_sd = self.found.spreads.draws(rng.standard_normal((len(self.problem.spreads), n)))
        x = self.found.place.at.x[:, None] + self.followed @ self.found.spreads.reached(log_sd)
        order = np.argsort(log_sd[self.problem.spreads.index("composite_sd")])
        for group in np.array_split(order, GROUPS):
            if len(group):
                one = log_sd[:, group[len(group) // 2]]
                there = Expansion(self.problem, self._centre(one), one, self.found.place.variances)
                x[:, group] += there.arrow.draw(rng, len(group))
        off = self.response.quantities.T @ (x - x.mean(axis=1, keepdims=True))
        x += self.response.x @ off
        shuffled = rng.permutation(n)
        return strengths(self.problem, x.T[shuffled], log_sd.T[shuffled])

    def _centre(self, log_sd: Array) -> Array:
        """Parameters where they follow the spreads, strengths as slopes make them."""
        reached = self.found.spreads.reached(log_sd[:, None])
        return self.found.place.at.moved((self.followed @ reached)[:, 0])


def solve(problem: Problem, *, seed: int = 0) -> Laplace:
    """Approximate the posterior of a problem.

    Parameters
    ----------
    problem : Problem
    seed : int, optional
        Seed of the directions in which curvature over the spreads is measured.

    Raises
    ------
    ModelError
        The search for the mode did not arrive.
    """
    found = find(problem, seed=seed)
    moved = followed(found.place.at)
    return Laplace(problem, found, moved, respond(found, moved))


def strengths(problem: Problem, x: Array, log_sd: Array) -> xr.Dataset:
    """Name and centre parameters: rows of x (draw, size) and log_sd (draw, spread)."""
    at = problem.layout
    t, p = x[:, at.every("t")], x[:, at.every("p")]
    beta = x[:, at.every("beta")[:, 0]]
    mean = t.mean(axis=-1)
    effects = x[:, at.of("gamma")] @ problem.zero_sum.T
    by_judge = x[:, at.every("gamma")] @ problem.zero_sum.T
    judge = ("chain", "draw", "judge")
    out = {
        "theta": ((*judge, "scene"), t - mean[..., None]),
        "phi": ((*judge, "composite"), p - (2 * beta * mean)[..., None]),
        "beta_judge": (judge, beta),
        "position_bias_judge": (judge, x[:, at.every("bias")[:, 0]]),
        "consistency": (judge, np.exp(x[:, at.of("log_consistency")] @ problem.judge_basis.T)),
        "gamma": (("chain", "draw", "foundation"), effects),
        "gamma_judge": ((*judge, "foundation"), effects[:, None] + by_judge),
        "delta_config": (
            ("chain", "draw", "config"),
            x[:, at.of("delta")] @ problem.config_basis.T,
        ),
    }
    if problem.bridged:
        out["alpha_judge"] = (judge, x[:, at.every("alpha")[:, 0]])
    scalars = {name: x[:, at.of(name)[0]] for name in problem.tops}
    scalars |= {k: np.exp(v) for k, v in scalars.items() if k.endswith("_consistency")}
    scalars |= dict(zip(problem.spreads, np.exp(log_sd.T), strict=True))
    out |= {name: (("chain", "draw"), values) for name, values in scalars.items()}
    coords = {
        k: problem.arrays.coords[k] for k in ("judge", "scene", "composite", "foundation", "config")
    }
    return xr.Dataset({name: (dims, value[None]) for name, (dims, value) in out.items()}, coords)
