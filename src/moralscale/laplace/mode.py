"""The joint model's most likely spreads, and the Gaussian around everything else.

Spreads maximise their marginal density, from which the Gaussian integrates strengths out (Breslow
and Clayton 1993; Kristensen et al. 2016). Parameters sit where the *expected* gradient is zero, to
first order (`moralscale.laplace.skew`), and not at their joint mode: slopes multiply strengths that
are themselves uncertain, and the joint mode is off by several posterior sds in beta (measured:
docs/estimators.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from moralscale.errors import ModelError
from moralscale.laplace.arrow import Arrow
from moralscale.laplace.problem import Problem
from moralscale.laplace.skew import skew

Array = NDArray[np.float64]

#: Most steps of the search, and the share of each that is taken: the corrections lag by one step.
MOST_STEPS, DAMPING = 40, 0.6
#: Spreads stay where they are until parameters would gain less than this.
SETTLED = 5.0
#: Predicted gains in log density, of parameters and of spreads, below which the search has arrived:
#: no combination of them is then further from its place than a third of a posterior sd.
GAIN = np.array([0.05, 0.35])
#: Random directions for the curvature over spreads of blocks too wide to go through one by one.
PROBES = 12


@dataclass(frozen=True, eq=False)
class Laplace:
    """Mode and curvature of the joint model.

    Attributes
    ----------
    problem : Problem
    x : (size,)
        Parameters at the mode (`Problem.layout`).
    log_sd : (spread,)
        Logarithms of the spreads (`Problem.spreads`) at their marginal mode.
    log_sd_cov : (spread, spread)
        Their covariance.
    x_by_log_sd : (size, spread)
        How the mode of the parameters moves with the spreads.
    curvature : Arrow
        Precision of the parameters at these spreads.
    """

    problem: Problem
    x: Array
    log_sd: Array
    log_sd_cov: Array
    x_by_log_sd: Array
    curvature: Arrow

    def draws(self, n: int, *, seed: int) -> xr.Dataset:
        """Draw strengths and structural parameters from the approximation.

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
        root = np.linalg.cholesky(self.log_sd_cov)
        moved = root @ rng.standard_normal((len(root), n))
        x = self.x[:, None] + self.curvature.draw(rng, n) + self.x_by_log_sd @ moved
        return strengths(self.problem, x.T, (self.log_sd[:, None] + moved).T)


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


def solve(problem: Problem, *, seed: int = 0) -> Laplace:
    """Find the spreads that the judgments make most likely, and everything else given them.

    Parameters
    ----------
    problem : Problem
    seed : int, optional
        Seed of the directions in which curvature over the spreads is measured.

    Raises
    ------
    ModelError
        The search did not arrive.
    """
    z = np.array([np.log(prior.typical) for prior in problem.spread_priors])
    x = _approach(problem, problem.start(), z)
    damping, before = np.full(len(z), DAMPING), np.zeros(len(z))
    for _ in range(MOST_STEPS):
        weights = np.exp(-2 * z)
        gradient, arrow, blocks = _derivatives(problem, x, weights)
        inverse = arrow.inverse()
        gradient += skew(problem, x, weights, blocks, inverse)
        step = -arrow.solve(gradient[:, None])[:, 0]
        slope, curvature, moved = _over_spreads(problem, z, arrow, inverse, blocks, seed)
        z_step = np.linalg.solve(curvature, slope)
        gains = np.array([-gradient @ step / 2, slope @ z_step / 2])
        if (gains < GAIN).all():
            return Laplace(problem, x, z, np.linalg.inv(curvature), moved, arrow)
        # A spread whose steps turn round is taken more slowly: corrections lag by one step.
        damping = np.where(z_step * before < 0, damping / 2, np.minimum(1.5 * damping, DAMPING))
        before = z_step
        z_step = damping * np.clip(z_step, -0.5, 0.5) * (gains[0] < SETTLED)
        x = _move(problem, x, DAMPING * step + moved @ z_step, blocks)
        z = z + z_step
    raise ModelError(
        f"the mode was not found in {MOST_STEPS} steps", mend="give more judgments, or sample"
    )


def _approach(problem: Problem, x: Array, z: Array) -> Array:
    """Come near by a few steps of Gauss and Newton that lower the objective."""
    weights = np.exp(-2 * z)
    value = _objective(problem, x, weights)
    for _ in range(3):
        gradient, arrow, blocks = _derivatives(problem, x, weights)
        step = -arrow.solve(gradient[:, None])[:, 0]
        for size in 0.5 ** np.arange(20):
            there = _move(problem, x, size * step, blocks)
            if (reached := _objective(problem, there, weights)) < value:
                x, value = there, reached
                break
    return x


def _move(problem: Problem, x: Array, step: Array, blocks: list) -> Array:
    """Take a step along which strengths keep to what slopes and consistencies make of them.

    Residuals become what the linear model says they do, and strengths follow. A straight step would
    leave them off by products of steps, which narrow spreads punish out of all proportion.
    """
    new = x + step
    at = problem.layout
    for places, again, (residual, jacobian) in (
        (at.every("t"), problem.scene_residuals, blocks[0]),
        (at.every("p"), problem.composite_residuals, blocks[1]),
    ):
        new[places.ravel()] -= again(new)[0] - (residual + jacobian @ step)
    return new


def _objective(problem: Problem, x: Array, weights: Array) -> float:
    """Minus the log density of judgments and parameters at given spreads, up to a constant."""
    total = 0.5 * (((x[problem.top_at] - problem.top_mean) / problem.top_sd) ** 2).sum()
    for weight, (residual, _) in zip(weights, problem.residuals(x), strict=True):
        total += 0.5 * weight * (residual @ residual)
    return float(total + problem.likelihood(x)[0])


def _derivatives(problem: Problem, x: Array, weights: Array) -> tuple[Array, Arrow, list]:
    _, gradient, likelihood = problem.likelihood(x)
    at = problem.top_at
    gradient[at] += (x[at] - problem.top_mean) / problem.top_sd**2
    blocks = problem.residuals(x)
    size = len(x)
    prior = sparse.csr_array((problem.top_sd**-2.0, (at, at)), shape=(size, size))
    for weight, (residual, jacobian) in zip(weights, blocks, strict=True):
        gradient += weight * (jacobian.T @ residual)
        prior = prior + weight * (jacobian.T @ jacobian)
    return gradient, Arrow(problem, prior.tocsr(), likelihood), blocks


def _over_spreads(
    problem: Problem, z: Array, arrow: Arrow, inverse: tuple, blocks: list, seed: int
) -> tuple[Array, Array, Array]:
    """Slope and curvature of the log marginal density of log spreads, and how x moves with them.

    The slope is exact for the Gaussian that stands for the likelihood at the mode; the curvature
    takes its traces from unit vectors of narrow blocks and from random directions of wide ones.
    """
    weights = np.exp(-2 * z)
    squares = np.array([weight * (r @ r) for weight, (r, _) in zip(weights, blocks, strict=True)])
    doubt = weights * _traces(problem, inverse, [jacobian for _, jacobian in blocks])
    pulls = np.stack(
        [2 * w * (jacobian.T @ r) for w, (r, jacobian) in zip(weights, blocks, strict=True)], axis=1
    )
    moved = arrow.solve(pulls)
    prior = [
        p.slope_and_curvature(value) for p, value in zip(problem.spread_priors, z, strict=True)
    ]
    prior_slope, prior_curvature = (np.array(column) for column in zip(*prior, strict=True))
    slope = squares + doubt - problem.counts + prior_slope
    overlap = _overlaps(arrow, [jacobian for _, jacobian in blocks], weights, seed)
    curvature = np.diag(2 * squares + 2 * doubt + prior_curvature)
    curvature -= 2 * overlap + pulls.T @ moved
    return slope, _positive(curvature), moved


def _traces(problem: Problem, inverse: tuple, jacobians: list) -> Array:
    """Trace of J C J' of every block, with C the covariance of the parameters."""
    at = problem.layout
    border, own, across = inverse
    out = np.zeros(len(jacobians))
    for k, jacobian in enumerate(jacobians):
        gram = (jacobian.T @ jacobian).tocsr()
        out[k] = gram[: at.n_shared, : at.n_shared].multiply(border).sum()
        for j in range(at.n_judges):
            start = at.n_shared + j * at.n_local
            rows = gram[start : start + at.n_local]
            if rows.nnz:
                out[k] += rows[:, start : start + at.n_local].multiply(own[j]).sum()
                out[k] += 2 * rows[:, : at.n_shared].multiply(across[j]).sum()
    return out


def _overlaps(arrow: Arrow, jacobians: list, weights: Array, seed: int) -> Array:
    """Squared Frobenius norms of w_k w_l J_k C J_l' for all pairs of blocks."""
    rng = np.random.default_rng(seed)
    probes = []
    for jacobian in jacobians:
        n = jacobian.shape[0]
        z = np.eye(n) if n <= PROBES else rng.choice([-1.0, 1.0], (n, PROBES)) / np.sqrt(PROBES)
        probes.append(jacobian.T @ z)
    solved = arrow.solve(np.concatenate(probes, axis=1))
    ends = np.cumsum([0, *(probe.shape[1] for probe in probes)])
    norms = np.stack(
        [np.add.reduceat(((j @ solved) ** 2).sum(axis=0), ends[:-1]) for j in jacobians]
    )
    return np.outer(weights, weights) * (norms + norms.T) / 2


def _positive(curvature: Array) -> Array:
    """Bound the curvature from below: far from the mode, or by chance, it may not be positive."""
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return (vectors * np.maximum(values, 1.0)) @ vectors.T


def information(problem: Problem, x: Array, log_sd: Array) -> Arrow:
    """Factor the expected information about all parameters, spreads known."""
    return _derivatives(problem, x, np.exp(-2 * log_sd))[1]
