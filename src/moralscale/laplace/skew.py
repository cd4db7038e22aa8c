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
from scipy.special import expit

from moralscale.laplace.problem import Problem

Array = NDArray[np.float64]


def skew(problem: Problem, x: Array, weights: Array, blocks: list, inverse: tuple) -> Array:
    """Give the expected gradient minus the gradient at the mean, to first order: (size,).

    Parameters
    ----------
    problem : Problem
    x : (size,)
    weights : (spread,)
        Inverse squares of the spreads.
    blocks : list
        Residuals at `x`, from `Problem.residuals`.
    inverse : tuple
        Covariance, from `Arrow.inverse`.
    """
    out = np.zeros(len(x))
    for judge in range(problem.layout.n_judges):
        covariance, places = _joined(problem, inverse, judge)
        _scenes(problem, x, weights[0], blocks[0][1], covariance, places, judge, out)
        _composites(problem, x, weights[1], blocks[1][1], covariance, places, judge, out)
        _judgments(problem, x, covariance, places, judge, out)
    return out


def _joined(problem: Problem, inverse: tuple, judge: int) -> tuple[Array, NDArray[np.int64]]:
    """Covariance of shared parameters and a judge's own, and their places."""
    at = problem.layout
    border, own, across = inverse
    places = np.concatenate(
        [np.arange(at.n_shared), np.arange(at.n_local) + at.n_shared + judge * at.n_local]
    )
    return np.block([[border, across[judge].T], [across[judge], own[judge]]]), places


def _scenes(problem, x, weight, jacobian, covariance, places, judge, out):
    at = problem.layout
    n = len(at.of("mu"))
    rows = jacobian[judge * n : (judge + 1) * n][:, places]
    mu, line = at.of("mu"), problem.judge_basis[judge]
    level = at.of("log_consistency")
    share = np.exp(line @ x[level])
    with_row = rows @ covariance  # covariance of the residuals with every parameter
    with_level = with_row[:, level] @ line
    level_var = line @ covariance[np.ix_(level, level)] @ line
    mu_level = covariance[np.ix_(mu, level)] @ line
    own = with_row[np.arange(n), mu]
    out[mu] -= weight * share * with_level
    out[level] -= weight * share * (own + x[mu] * with_level).sum() * line
    half = -share * (mu_level + 0.5 * x[mu] * level_var)
    out[places] += weight * (rows.T @ half)


def _composites(problem, x, weight, jacobian, covariance, places, judge, out):
    at = problem.layout
    n = len(at.of("profile"))
    rows = jacobian[judge * n : (judge + 1) * n][:, places]
    strengths, beta = at.n_shared + at.local["t"], at.n_shared + at.local["beta"][0]
    with_row = rows @ covariance
    with_beta = with_row[:, beta]
    with_sum = problem.composed.multiply(with_row[:, strengths]).sum(axis=1)
    out[at.of("t", judge)] -= weight * (problem.composed.T @ with_beta)
    out[at.of("beta", judge)] -= weight * with_sum.sum()
    half = -problem.composed @ covariance[strengths, beta]
    out[places] += weight * (rows.T @ half)


def _judgments(problem, x, covariance, places, judge, out):
    at = problem.layout
    eta, jacobian = problem.observed(x, judge)
    jacobian = jacobian[:, :-1]
    columns = problem.columns(judge)
    inside = np.concatenate([at.n_shared + np.arange(at.n_local), columns[at.n_local :]])
    seen = covariance[np.ix_(inside, inside)]
    with_eta = jacobian @ seen
    variance = jacobian.multiply(with_eta).sum(axis=1)
    chance = expit(eta)
    second = chance * (1 - chance)
    out[columns] += jacobian.T @ (0.5 * second * (1 - 2 * chance) * variance)
    if not problem.bridged:
        return
    bias = at.local["bias"][0]
    for k in (-2, -1):
        gap = jacobian[:, [k]].toarray()[:, 0]
        told = gap != 0
        part = np.where(told, second, 0.0)
        scaled = jacobian.multiply((part * with_eta[:, k])[:, None]).tocsr()
        added = np.asarray(scaled.sum(axis=0)).ravel()
        added[bias] = 0.0
        added[k] = (part * (variance - with_eta[:, bias])).sum()
        half = with_eta[:, k] - seen[bias, k] - 0.5 * gap * seen[k, k]
        out[columns] += added + jacobian.T @ (part * half)
