"""The joint model around a point: residuals, gradient and curvature of the log density."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from moralscale.laplace.arrow import Arrow
from moralscale.laplace.judgments import Observed
from moralscale.laplace.problem import Problem

Array = NDArray[np.float64]


class Expansion:
    """Second-order expansion of minus the log density in the parameters, at given spreads.

    Gradient and curvature of the judgments are averaged over the uncertainty of log-odds, where
    that is given (a Gaussian variational approximation; Ormerod and Wand 2012). The curvature of
    squared residuals leaves their own second derivatives out (Gauss and Newton), so that it is
    positive definite everywhere.

    Parameters
    ----------
    problem : Problem
    x : (size,)
        Where.
    log_sd : (spread,)
        Logarithms of the spreads.
    variances : list of (judgment,), optional
        Variance of each judge's log-odds, over which the likelihood is averaged; none unless given.

    Attributes
    ----------
    residuals : list of arrays
        `Problem.residuals`.
    weights : (spread,)
        Inverse squares of the spreads.
    """

    def __init__(
        self, problem: Problem, x: Array, log_sd: Array, variances: Sequence[Array] | None = None
    ) -> None:
        self.problem, self.x, self.log_sd = problem, x, log_sd
        self.weights = np.exp(-2 * log_sd)
        self.residuals = problem.residuals(x)
        self.shares = problem.shares(x)
        local = problem.layout.local
        names = ("beta", "gamma", "alpha") if problem.bridged else ("beta", "gamma")
        self.narrow_at = np.concatenate([local[name] for name in names])
        self.narrow, self.slopes = self._narrow(), x[problem.layout.every("beta")][:, 0]
        ratios, at = problem.ratios(x), problem.layout
        self.observed: list[Observed] = [
            mine.observe(x[at.own(j)], ratios) for j, mine in enumerate(problem.judged)
        ]
        over = variances or [np.zeros(1)] * at.n_judges
        self.chances = [seen.chances(v) for seen, v in zip(self.observed, over, strict=True)]

    def apply(self, k: int, x: Array) -> Array:
        """Jacobian of the residuals of spread `k` times columns: (residual, m)."""
        problem = self.problem
        if k > 1:
            residuals: Array = problem.linear[problem.spreads[k]] @ x
            return residuals
        at = problem.layout
        if k == 0:
            mu, levels = x[at.of("mu")], problem.judge_basis @ x[at.of("log_consistency")]
            own = self.x[at.of("mu")]
            return np.concatenate(
                [
                    x[at.of("t", j)] - share * (mu + np.outer(own, levels[j]))
                    for j, share in enumerate(self.shares)
                ]
            )
        common = problem.in_common(x[problem.common_at])
        judges = range(at.n_judges)
        return np.concatenate([self.composed(j, x[at.own(j)]) - common for j in judges])

    def pull(self, k: int, values: Array) -> Array:
        """Transposed Jacobian of the residuals of spread `k` times columns: (size, m)."""
        problem = self.problem
        if k > 1:
            pulled: Array = problem.linear[problem.spreads[k]].T @ values
            return pulled
        at = problem.layout
        out = np.zeros((at.size, values.shape[1]))
        values = values.reshape(at.n_judges, -1, values.shape[1])
        if k == 0:
            for j, mine in enumerate(values):
                out[at.of("t", j)] = mine
            shared = (self.shares[:, None, None] * values).sum(axis=0)
            out[at.of("mu")] = -shared
            levels = self.shares[:, None] * np.einsum("s,jsm->jm", self.x[at.of("mu")], values)
            out[at.of("log_consistency")] = -problem.judge_basis.T @ levels
            return out
        for j, mine in enumerate(values):
            out[at.own(j)] = self.decomposed(j, mine)
        out[problem.common_at] = -problem.common.T @ values.sum(axis=0)
        return out

    def moved(self, step: Array) -> Array:
        """Take a step along which strengths keep to what slopes and consistencies make of them.

        Residuals become what the linear model says they do, and strengths follow. A straight step
        would leave them off by products of steps, which narrow spreads punish out of all
        proportion.
        """
        problem, new = self.problem, self.x + step
        for k, name in enumerate(("t", "p")):
            places = problem.layout.every(name).ravel()
            again = (problem.scene_residuals, problem.composite_residuals)[k](new)
            wanted = self.residuals[k].ravel() + self.apply(k, step[:, None])[:, 0]
            new[places] -= again.ravel() - wanted
        return new

    def composed(self, judge: int, own: Array) -> Array:
        """Jacobian of a judge's composite residuals, by what is the judge's own, times columns."""
        local = self.problem.layout.local
        one, other = (local["t"][component] for component in self.problem.components)
        sums = own[one] + own[other]
        narrow = self.narrow[judge] @ own[self.narrow_at]
        residuals: Array = own[local["p"]] - self.slopes[judge] * sums + narrow
        return residuals

    def decomposed(self, judge: int, values: Array) -> Array:
        """Transpose of `composed`: (n_local, m) of (composite, m)."""
        local = self.problem.layout.local
        out = np.zeros((self.problem.layout.n_local, values.shape[1]))
        out[local["t"]] = -self.slopes[judge] * (self.problem.composed.T @ values)
        out[local["p"]] = values
        out[self.narrow_at] = self.narrow[judge].T @ values
        return out

    def _narrow(self) -> list[Array]:
        """Jacobian of composite residuals by what a judge has few of: beta, gamma, alpha."""
        problem = self.problem
        rest = [-problem.foundation]
        if problem.bridged:
            rest.append(-np.ones((problem.n_composites, 1)))
        return [np.column_stack([-sums, *rest]) for sums in problem.sums(self.x)]

    @cached_property
    def gradient(self) -> Array:
        """Gradient of minus the log density: (size,)."""
        problem, at = self.problem, self.problem.layout
        out = np.zeros(at.size)
        top = problem.top_at
        out[top] = (self.x[top] - problem.top_mean) / problem.top_sd**2
        for k, (weight, residual) in enumerate(zip(self.weights, self.residuals, strict=True)):
            out += weight * self.pull(k, residual.reshape(-1, 1))[:, 0]
        for j, seen in enumerate(self.observed):
            own, ratios = seen.slopes(self.chances[j][0])
            out[at.own(j)] += own
            if problem.bridged:
                out[problem.ratios_at] += ratios
        return out

    @cached_property
    def arrow(self) -> Arrow:
        """Curvature, factored."""
        problem, at = self.problem, self.problem.layout
        n, first = at.n_shared, at.own(0)
        # What is linear is the same for all judges.
        prior = problem.linear_curvature(self.weights)
        shared = prior[:n, :n].toarray()
        shared[problem.top_at, problem.top_at] += problem.top_sd**-2.0
        also, among = prior[first, :n].toarray(), prior[first, first].toarray()
        mu, levels = at.of("mu"), at.of("log_consistency")
        common = np.ix_(problem.common_at, problem.common_at)
        shared[common] += at.n_judges * self.weights[1] * (problem.common.T @ problem.common)
        others = slice(problem.n_scenes, n)
        blocks, couplings = [], []
        for j, seen in enumerate(self.observed):
            own, to_ratios, ratios = seen.curvature(self.chances[j][1])
            own += among
            self._add_composites(j, own)
            coupling = also.copy()
            coupling[:, problem.common_at] -= self.weights[1] * self.decomposed(j, problem.common)
            if problem.bridged:
                coupling[:, problem.ratios_at] += to_ratios
                shared[np.ix_(problem.ratios_at, problem.ratios_at)] += ratios
            weight, share = self.weights[0], self.shares[j]
            t, line = at.local["t"], np.outer(self.x[mu], problem.judge_basis[j])
            own[t, t] += weight
            coupling[np.ix_(t, levels)] -= weight * share * line
            shared[mu, mu] += weight * share**2
            shared[np.ix_(mu, levels)] += weight * share**2 * line
            shared[np.ix_(levels, mu)] += weight * share**2 * line.T
            shared[np.ix_(levels, levels)] += weight * share**2 * (line.T @ line)
            blocks.append(own)
            couplings.append(coupling[:, others])
        return Arrow(shared, blocks, -self.weights[0] * self.shares, couplings)

    def _add_composites(self, judge: int, own: Array) -> None:
        """Add the curvature of a judge's squared composite residuals."""
        local, weight, slope = self.problem.layout.local, self.weights[1], self.slopes[judge]
        t = slice(local["t"][0], local["t"][-1] + 1)
        p = slice(local["p"][0], local["p"][-1] + 1)
        composed = self.problem.composed
        own[t, t] += weight * slope**2 * self.problem.composed_gram
        own[t, p] -= weight * slope * composed.T
        own[p, t] -= weight * slope * composed
        own[local["p"], local["p"]] += weight
        narrow = weight * self.decomposed(judge, self.narrow[judge])
        own[:, self.narrow_at] += narrow
        own[self.narrow_at] += narrow.T
        own[np.ix_(self.narrow_at, self.narrow_at)] -= narrow[self.narrow_at]
