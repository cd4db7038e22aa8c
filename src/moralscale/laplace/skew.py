"""What moves a mean away from the mode: third derivatives, averaged over the uncertainty.

A posterior mean m solves E[gradient] = 0 and not gradient(m) = 0. To first order in the covariance
C, E[gradient_j] = gradient_j(m) + 1/2 sum_kl f_jkl C_kl (Tierney and Kadane 1986; Shun and
McCullagh 1995). The terms matter where one unknown multiplies another: a slope times a strength
that is itself uncertain (errors in variables), a consistency times a strength; and in the logistic
likelihood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from moralscale.laplace.arrow import Covariance
from moralscale.laplace.expansion import Expansion

Array = NDArray[np.float64]


def skew(at: Expansion, covariance: Covariance) -> tuple[Array, Array, list[Array]]:
    """Average over the uncertainty of the parameters.

    Parameters
    ----------
    at : Expansion
    covariance : Covariance
        Of its arrow.

    Returns
    -------
    gradient : (size,)
        The expected gradient minus the gradient at the mean, to first order.
    doubt : (spread,)
        Summed variances of the residuals of each spread.
    variances : list of (judgment,)
        Variance of each judge's log-odds.
    """
    out = np.zeros(at.problem.layout.size)
    doubt = np.zeros(len(at.weights))
    for part in (_scenes, _composites):
        part(at, covariance, out, doubt)
    judges = range(at.problem.layout.n_judges)
    variances = [_judgments(at, covariance, judge, out) for judge in judges]
    doubt[2:] = _linear(at, covariance)
    return out, doubt, variances


def _scenes(at: Expansion, covariance: Covariance, out: Array, doubt: Array) -> None:
    problem, layout, weight = at.problem, at.problem.layout, at.weights[0]
    mu, level, t = layout.of("mu"), layout.of("log_consistency"), layout.local["t"]
    here, shared = at.x[mu], covariance.shared
    halves = []
    for j, share in enumerate(at.shares):
        line = problem.judge_basis[j]
        mu_level = shared[np.ix_(mu, level)] @ line
        level_var = line @ shared[np.ix_(level, level)] @ line
        t_level = covariance.across[j][np.ix_(t, level)] @ line
        t_mu = covariance.across[j][t, mu]
        # Covariance of the residuals with the level, with mu and with t, scene by scene.
        with_level = t_level - share * (mu_level + here * level_var)
        with_mu = t_mu - share * (shared[mu, mu] + here * mu_level)
        with_t = covariance.own[j][t, t] - share * (t_mu + here * t_level)
        doubt[0] += (with_t - share * (with_mu + here * with_level)).sum()
        out[mu] -= weight * share * with_level
        out[level] -= weight * share * (with_mu + here * with_level).sum() * line
        halves.append(-share * (mu_level + 0.5 * here * level_var))
    out += weight * at.pull(0, np.concatenate(halves)[:, None])[:, 0]


def _composites(at: Expansion, covariance: Covariance, out: Array, doubt: Array) -> None:
    problem, layout, weight = at.problem, at.problem.layout, at.weights[1]
    t, p, beta = layout.local["t"], layout.local["p"], layout.local["beta"][0]
    one, other = (t[component] for component in problem.components)
    common, n = problem.common_at, problem.n_composites
    row = np.arange(n)
    among = problem.in_common(covariance.shared[np.ix_(common, common)])
    halves = []
    for j, (own, across) in enumerate(zip(covariance.own, covariance.across, strict=True)):
        # Covariance of the residuals with the judge's own parameters, and with what is shared.
        to_common = across[:, common]
        with_own = at.composed(j, own) - problem.in_common(to_common.T)
        with_common = at.composed(j, to_common) - among
        with_sum = with_own[row, one] + with_own[row, other]
        variance = with_own[row, p] - at.slopes[j] * with_sum - with_common[row, row]
        variance += (with_own[:, at.narrow_at] * at.narrow[j]).sum(axis=1)
        variance -= (with_common[:, n:] * problem.common[:, n:]).sum(axis=1)
        doubt[1] += variance.sum()
        out[layout.of("t", j)] -= weight * (problem.composed.T @ with_own[:, beta])
        out[layout.of("beta", j)] -= weight * with_sum.sum()
        halves.append(-(own[one, beta] + own[other, beta]))
    out += weight * at.pull(1, np.concatenate(halves)[:, None])[:, 0]


def _judgments(at: Expansion, covariance: Covariance, judge: int, out: Array) -> Array:
    """Consistencies that multiply strengths; gives the variance of a judge's log-odds.

    The mean strength that the bridge arena is given back is taken as known: nothing is better.
    """
    layout, seen = at.problem.layout, at.observed[judge]
    mine, own, factor = seen.judged, covariance.own[judge], seen.factor
    first, second = mine.first, mine.second
    bias, beta = layout.local["bias"][0], layout.local["beta"][0]
    spread = np.diagonal(own)
    gap_bias = own[first, bias] - own[second, bias]
    variance = factor**2 * (spread[first] + spread[second] - 2 * own[first, second])
    variance += 2 * factor * gap_bias + spread[bias]
    if not at.problem.bridged:
        return variance
    ratios = at.problem.ratios_at
    lean, told = seen.extra[:, 0], seen.extra[:, 2:]
    to_ratios = covariance.across[judge][:, ratios]
    among = covariance.shared[np.ix_(ratios, ratios)]

    def with_eta(column: Array) -> Array:
        """Covariance of a parameter with the part of the log-odds that is the judge's own."""
        gap = factor * (column[first] - column[second])
        told_by_judge: Array = gap + column[bias] + lean * column[beta]
        return told_by_judge

    gap_beta = own[first, beta] - own[second, beta]
    variance += lean * (2 * factor * gap_beta + 2 * own[bias, beta] + lean * spread[beta])
    strengths = np.stack([with_eta(column) for column in to_ratios.T], axis=1)
    with_ratio = strengths + told @ among
    variance += (told * (strengths + with_ratio)).sum(axis=1)
    bias_eta = with_eta(own[:, bias]) + told @ to_ratios[bias]
    weight = at.chances[judge][1]
    values = np.zeros_like(weight)
    for k in range(2):
        part = np.where(told[:, k] != 0, weight, 0.0)
        scaled = part * with_ratio[:, k]
        added = seen.pull(scaled)
        added[bias] = 0.0
        added[beta] += lean @ scaled
        out[layout.own(judge)] += added
        out[ratios[k]] += (part * (variance - bias_eta)).sum()
        half = with_ratio[:, k] - to_ratios[bias, k] - 0.5 * told[:, k] * among[k, k]
        values += part * half
    out[layout.own(judge)] += seen.pull(values)
    out[layout.of("beta", judge)] += lean @ values
    out[ratios] += told.T @ values
    return variance


def _linear(at: Expansion, covariance: Covariance) -> Array:
    """Sum the variances of the linear residuals."""
    out = np.zeros(len(at.problem.gram_parts))
    for k, (shared, own, across) in enumerate(at.problem.gram_parts):
        out[k] = shared.data @ covariance.shared[shared.row, shared.col]
        if own.nnz:
            for mine, to_shared in zip(covariance.own, covariance.across, strict=True):
                out[k] += own.data @ mine[own.row, own.col]
                out[k] += 2 * across.data @ to_shared[across.row, across.col]
    return out
