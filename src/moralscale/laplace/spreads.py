"""What the judgments say about the spreads, once everything else is integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from moralscale.laplace.expansion import Expansion
from moralscale.laplace.problem import Problem

Array = NDArray[np.float64]

#: Random directions for the information of blocks too wide to go through one by one.
PROBES = 6
#: Least curvature of a log spread's prior: that of a normal one with sd 3.
_LEAST = 0.1
#: Log spreads, from the mode, between which their density is looked at, and in how many steps.
_RANGE, _STEPS = (-5.0, 4.0), 400


@dataclass(frozen=True, eq=False)
class Spreads:
    """Log spreads around the mode of their marginal density.

    Attributes
    ----------
    problem : Problem
    log_sd : (spread,)
        Their place.
    slope : (spread,)
        Slope of the log marginal density there.
    curvature : (spread, spread)
        Minus its expected second derivative.
    unseen : (spread,)
        Share of each spread's variance that the judgments leave open: posterior over prior variance
        of its residuals, on average.
    """

    problem: Problem
    log_sd: Array
    slope: Array
    curvature: Array
    unseen: Array

    @property
    def step(self) -> Array:
        """Step of Fisher scoring."""
        return np.linalg.solve(self.curvature, self.slope)

    @property
    def covariance(self) -> Array:
        """Covariance of the log spreads."""
        return np.linalg.inv(self.curvature)

    def draws(self, normal: Array) -> Array:
        """Turn standard normal draws, (spread, draw), into log spreads of this covariance and skew.

        A spread that the judgments tell little about has a skewed density. Its likelihood is taken
        for that of the variance of a sum, of the random effect and the noise through which they see
        it: -m (u + exp(-u)) with u the logarithm of that sum over its value at the mode, and m from
        the curvature there. With the prior this gives each spread's own density; the normal draws
        give ranks and correlations.
        """
        root = np.linalg.cholesky(self.covariance)
        sd = np.sqrt(np.diagonal(self.covariance))
        ranks = ndtr((root @ normal) / sd[:, None])
        out: Array = np.empty_like(ranks)
        grid = np.linspace(*_RANGE, _STEPS)
        for k, prior in enumerate(self.problem.spread_priors):
            slope, bend = prior.slope_and_curvature(self.log_sd[k])
            there = self.log_sd[k] + grid
            log_density = prior.log_density(there)
            u = np.log((np.exp(2 * grid) + self._noise[k]) / (1 + self._noise[k]))
            scale = 2 / (1 + self._noise[k])  # du / dz at the mode
            told = max(1 / sd[k] ** 2 - bend, 0.0)
            log_density = log_density - slope * u / scale - told / scale**2 * (u + np.exp(-u))
            mass = np.cumsum(np.exp(log_density - log_density.max()))
            out[k] = np.interp(ranks[k], mass / mass[-1], there)
        return out

    def reached(self, log_sd: Array) -> Array:
        """How far strengths follow log spreads, as the step that would do the same at the mode.

        A residual keeps variance / (variance + noise) of what the judgments say: (spread, draw).
        """
        noise = self._noise[:, None]
        kept = 1 / (1 + noise * np.exp(-2 * (log_sd - self.log_sd[:, None])))
        at_mode = 1 / (1 + noise)
        return (kept - at_mode) / (2 * at_mode * (1 - at_mode))

    @property
    def _noise(self) -> Array:
        """Noise with which variances are seen, over the variance."""
        return self.unseen / (1 - self.unseen)


def over_spreads(at: Expansion, doubt: Array, *, seed: int) -> Spreads:
    """Slope and expected curvature of the log marginal density of the log spreads.

    The slope is exact for the Gaussian that stands for the likelihood (Fisher's identity); the
    curvature takes its traces from unit vectors of narrow blocks, random directions of wide ones.

    Parameters
    ----------
    at : Expansion
    doubt : (spread,)
        Summed variances of residuals, from `skew`.
    seed : int
        Seed of the directions.
    """
    bend = np.maximum(_priors(at)[1], _LEAST)
    curvature = 2 * _information(at, seed) + np.diag(bend)
    unseen = np.clip(at.weights * doubt / at.problem.counts, 0.01, 0.99)
    return Spreads(at.problem, at.log_sd, slope_over_spreads(at, doubt), curvature, unseen)


def slope_over_spreads(at: Expansion, doubt: Array) -> Array:
    """Slope of the log marginal density of the log spreads, see `over_spreads`."""
    squares = np.array([(residual**2).sum() for residual in at.residuals])
    slope: Array = at.weights * (squares + doubt) - at.problem.counts + _priors(at)[0]
    return slope


def _priors(at: Expansion) -> tuple[Array, Array]:
    """Slopes of the log prior densities, and minus their curvatures."""
    priors = zip(at.problem.spread_priors, at.log_sd, strict=True)
    slope, bend = zip(*(prior.slope_and_curvature(z) for prior, z in priors), strict=True)
    return np.array(slope), np.array(bend)


def followed(at: Expansion) -> Array:
    """How the mode of the parameters moves with the log spreads: (size, spread)."""
    pulls = [
        2 * weight * at.pull(k, residual.reshape(-1, 1))
        for k, (weight, residual) in enumerate(zip(at.weights, at.residuals, strict=True))
    ]
    return at.arrow.solve(np.concatenate(pulls, axis=1))


def _information(at: Expansion, seed: int) -> Array:
    """Squared Frobenius norms of the blocks of I - R C R', R the standardised residuals' Jacobian.

    Half the Fisher information about log spreads of a Gaussian with the curvature of `at`.
    """
    rng = np.random.default_rng(seed)
    roots = np.sqrt(at.weights)
    probes, pulled = [], []
    for k, count in enumerate(at.problem.counts.astype(int)):
        wide = count > PROBES
        signs = rng.choice([-1.0, 1.0], (count, PROBES)) / np.sqrt(PROBES)
        probes.append(signs if wide else np.eye(count))
        pulled.append(roots[k] * at.pull(k, probes[-1]))
    solved = at.arrow.solve(np.concatenate(pulled, axis=1))
    ends = np.cumsum([0, *(probe.shape[1] for probe in probes)])
    norms = np.empty((len(probes), len(probes)))
    for k, probe in enumerate(probes):
        seen = -roots[k] * at.apply(k, solved)
        seen[:, ends[k] : ends[k + 1]] += probe
        norms[k] = np.add.reduceat((seen**2).sum(axis=0), ends[:-1])
    return (norms + norms.T) / 2
