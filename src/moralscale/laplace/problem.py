"""The joint model as sums of squares: what a Laplace approximation needs of it.

The equations are those of `moralscale.model` for the rule ``compressed``; a test holds the two
densities against each other. Here they are written as residuals that are standard normal once
divided by their spread, each with its Jacobian, since all curvature follows from those. Strengths
are kept uncentred (``t`` and ``p``): only differences within an arena are seen, and the bridge
arena gets the judge's mean strength back as a term of its own, which keeps every Jacobian sparse.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import null_space
from scipy.special import expit

from moralscale.arrays import Arrays
from moralscale.composition import Rule
from moralscale.errors import ModelError
from moralscale.estimands import zero_sum_basis
from moralscale.laplace.priors import SpreadPrior, normal_prior, spread_prior
from moralscale.priors import Priors

Array = NDArray[np.float64]


class Layout:
    """Where each parameter stands: shared ones first, then one stretch a judge.

    Parameters
    ----------
    shared, local : mapping
        Number of values by name; of `local`, for one judge.
    n_judges : int
    """

    def __init__(self, shared: Mapping[str, int], local: Mapping[str, int], n_judges: int) -> None:
        self.n_judges = n_judges
        self.n_shared, self.n_local = sum(shared.values()), sum(local.values())
        self.size = self.n_shared + n_judges * self.n_local
        ends = np.cumsum([0, *shared.values()])
        self.shared = {k: np.arange(a, b) for k, a, b in zip(shared, ends, ends[1:], strict=False)}
        ends = np.cumsum([0, *local.values()])
        self.local = {k: np.arange(a, b) for k, a, b in zip(local, ends, ends[1:], strict=False)}

    def of(self, name: str, judge: int | None = None) -> NDArray[np.int64]:
        """Places of a shared parameter, or of a judge's own."""
        if judge is None:
            return self.shared[name]
        return self.n_shared + judge * self.n_local + self.local[name]

    def every(self, name: str) -> NDArray[np.int64]:
        """Places of a local parameter for all judges: (judge, values)."""
        return np.stack([self.of(name, j) for j in range(self.n_judges)])


class Problem:
    """Judgments and priors of a panel, ready for `solve`.

    Parameters
    ----------
    arrays : Arrays
        Judgments of at least two judges.
    priors : Priors
        Normal for means, log-normal for consistencies; Gamma, HalfNormal, Exponential or LogNormal
        for spreads.
    rule : Rule
        ``compressed``.

    Raises
    ------
    ModelError
        Another rule, a single judge, or a prior of another family.
    """

    def __init__(self, arrays: Arrays, priors: Priors, rule: Rule) -> None:
        _refuse(arrays, rule)
        self.arrays, self.bridged = arrays, arrays.bridged
        coords, estimands = arrays.coords, arrays.estimands
        n_judges, n_scenes = len(coords["judge"]), len(coords["scene"])
        n_composites, n_foundations = len(coords["composite"]), len(coords["foundation"])
        self.zero_sum = zero_sum_basis(n_foundations)
        self.judge_basis = zero_sum_basis(n_judges)
        foundation = estimands.foundation @ self.zero_sum
        self.config_basis = estimands.config_basis()
        config = estimands.config @ self.config_basis
        n_sum, n_config = self.zero_sum.shape[1], config.shape[1]
        n_cells = n_foundations * (len(coords["intensity"]) - 1)  # across the line of a foundation
        self.tops = ("intensity_slope", "beta", "position_bias") + (
            ("alpha", "composite_consistency", "bridge_consistency") if self.bridged else ()
        )
        self.layout = Layout(
            {"mu": n_scenes, "profile": n_composites, "gamma": n_sum, "delta": n_config}
            | dict.fromkeys(self.tops, 1)
            | {"tilt": n_sum, "cell": n_cells, "log_consistency": n_judges - 1},
            {"t": n_scenes, "p": n_composites, "bias": 1, "beta": 1, "gamma": n_sum}
            | ({"alpha": 1} if self.bridged else {}),
            n_judges,
        )
        self._kappa = self._cell_means()
        self.composed = sparse.csr_array(
            (
                np.ones(2 * n_composites),
                (
                    np.tile(np.arange(n_composites), 2),
                    np.concatenate([estimands.a_idx, estimands.b_idx]),
                ),
            ),
            shape=(n_composites, n_scenes),
        )
        self._fixed = (foundation, config)
        self.linear = self._linear_blocks()
        self.spreads: tuple[str, ...] = ("judge_sd", "composite_sd", *self.linear)
        self.spread_priors: tuple[SpreadPrior, ...] = tuple(
            spread_prior(priors, name) for name in self.spreads
        )
        self.counts = np.array(
            [n_judges * n_scenes, n_judges * n_composites]
            + [block.shape[0] for block in self.linear.values()],
            dtype=float,
        )
        prior = [normal_prior(priors, name) for name in self.tops]
        self.top_mean, self.top_sd = (np.array(column) for column in zip(*prior, strict=True))
        self.top_at = np.concatenate([self.layout.of(name) for name in self.tops])
        self._judgments = [self._of_judge(j) for j in range(n_judges)]

    def start(self) -> Array:
        """Where the search begins: prior means, and no differences."""
        x = np.zeros(self.layout.size)
        x[self.top_at] = self.top_mean
        x[self.layout.every("beta")] = x[self.layout.of("beta")]
        return x

    # Likelihood

    def log_odds(self, x: Array, judge: int) -> Array:
        """Log-odds that the option shown first wins each judgment of a judge."""
        return self.observed(x, judge)[0]

    def likelihood(self, x: Array) -> tuple[float, Array, list[sparse.csr_array]]:
        """Minus the log likelihood, its gradient, and each judge's expected curvature.

        Returns
        -------
        value : float
        gradient : (size,)
        curvature : list of (n_columns, n_columns)
            Over the columns of `columns`, the judge's mean strength last.
        """
        value, gradient, curvature = 0.0, np.zeros(len(x)), []
        for judge, (_, _, _, won) in enumerate(self._judgments):
            eta, jacobian = self.observed(x, judge)
            chance = expit(eta)
            value += np.logaddexp(0, np.where(won, -eta, eta)).sum()
            slope = jacobian.T @ (chance - won)
            columns = self.columns(judge)
            gradient[columns] += slope[:-1]
            gradient[self.layout.of("t", judge)] += slope[-1] / self._n_scenes
            weighted = jacobian.multiply((chance * (1 - chance))[:, None])
            curvature.append((jacobian.T @ weighted).tocsr())
        return float(value), gradient, curvature

    def columns(self, judge: int) -> NDArray[np.int64]:
        """Parameters that a judge's answers depend on, but for the mean of ``t``."""
        names = ("composite_consistency", "bridge_consistency") if self.bridged else ()
        own = np.arange(self.layout.n_local) + self.layout.n_shared + judge * self.layout.n_local
        return np.concatenate([own, *(self.layout.of(name) for name in names)])

    def observed(self, x: Array, judge: int) -> tuple[Array, sparse.csr_array]:
        """Log-odds, and their Jacobian over `columns` and the judge's mean strength."""
        arena, first, second, _ = self._judgments[judge]
        own = x[self.columns(judge)]
        local, n = self.layout.local, len(first)
        width = len(own) + 1
        gap = own[first] - own[second]
        rows = np.arange(n)
        if not self.bridged:
            factor = np.ones(n)
            extra: list[tuple[Array, Array, Array]] = []
        else:
            rho = np.exp(np.concatenate([[0.0], own[-2:]]))
            factor, beta = rho[arena], own[local["beta"][0]]
            mean = own[local["t"]].mean()
            # +1 where the scene is shown first in a bridge comparison, -1 where second.
            scene = np.where(arena == 2, np.where(first < second, 1.0, -1.0), 0.0)
            gap = gap - scene * (1 - 2 * beta) * mean
            crossing = rows[arena == 2]
            lean = (factor * scene)[crossing]
            told = rows[arena > 0]
            extra = [
                (told, len(own) - 3 + arena[told], (factor * gap)[told]),
                (crossing, np.full(len(crossing), local["beta"][0]), 2 * mean * lean),
                (crossing, np.full(len(crossing), width - 1), -(1 - 2 * beta) * lean),
            ]
        parts = [
            (rows, first, factor),
            (rows, second, -factor),
            (rows, np.full(n, local["bias"][0]), np.ones(n)),
            *extra,
        ]
        at, column, entry = (np.concatenate(list(part)) for part in zip(*parts, strict=True))
        jacobian = sparse.csr_array((entry, (at, column)), shape=(n, width))
        return factor * gap + own[local["bias"][0]], jacobian

    def _of_judge(self, judge: int) -> tuple:
        """Arena (0 single, 1 composite, 2 bridge), local places of both options, who won."""
        arrays, n_scenes = self.arrays, len(self.arrays.coords["scene"])
        mine = arrays.judge_idx == judge
        first, second = (slot[mine] % (n_scenes + self._n_composites) for slot in arrays.slots)
        # Slots and local parameters share their order: scenes, then composites.
        return arrays.arena_idx[mine], first, second, arrays.first_won[mine].astype(float)

    @property
    def _n_scenes(self) -> int:
        return len(self.arrays.coords["scene"])

    @property
    def _n_composites(self) -> int:
        return len(self.arrays.coords["composite"])

    # Residuals

    def residuals(self, x: Array) -> list[tuple[Array, sparse.csr_array]]:
        """Residuals of each spread and their Jacobians, in the order of `spreads`.

        ``t`` around the consistent share of the scenes' strengths, ``p`` around what the rule and
        its effects make of the components, and the linear ones.
        """
        linear = [(block @ x, block) for block in self.linear.values()]
        return [self.scene_residuals(x), self.composite_residuals(x), *linear]

    def scene_residuals(self, x: Array) -> tuple[Array, sparse.csr_array]:
        """Residuals of ``t``, and their Jacobian."""
        at, n = self.layout, self._n_scenes
        mu = x[at.of("mu")]
        consistency = np.exp(self.judge_basis @ x[at.of("log_consistency")])
        residual, parts = [], []
        for j, share in enumerate(consistency):
            residual.append(x[at.of("t", j)] - share * mu)
            blocks = {
                "mu": -share * sparse.eye_array(n),
                "log_consistency": -share * np.outer(mu, self.judge_basis[j]),
            }
            parts.append(self._rows(blocks, {"t": sparse.eye_array(n)}, j))
        return np.concatenate(residual), sparse.vstack(parts, format="csr")

    def composite_residuals(self, x: Array) -> tuple[Array, sparse.csr_array]:
        """Residuals of ``p``, and their Jacobian."""
        at, n = self.layout, self._n_composites
        foundation, config = self._fixed
        shared = {
            "gamma": -foundation,
            "delta": -config,
            "profile": -sparse.eye_array(n),
        }
        common = sum(block @ x[at.of(name)] for name, block in shared.items())
        residual, parts = [], []
        for j in range(at.n_judges):
            sums = self.composed @ x[at.of("t", j)]
            beta = x[at.of("beta", j)]
            own = x[at.of("p", j)] - beta * sums - foundation @ x[at.of("gamma", j)] + common
            blocks = {
                "p": sparse.eye_array(n),
                "t": -beta[0] * self.composed,
                "beta": -sums[:, None],
                "gamma": -foundation,
            }
            if self.bridged:
                own -= x[at.of("alpha", j)]
                blocks["alpha"] = -np.ones((n, 1))
            residual.append(own)
            parts.append(self._rows(shared, blocks, j))
        return np.concatenate(residual), sparse.vstack(parts, format="csr")

    def _rows(self, shared: Mapping, local: Mapping, judge: int) -> sparse.csr_array:
        """Rows of a Jacobian from its blocks by parameter."""
        blocks = [(self.layout.of(name), b) for name, b in shared.items()]
        blocks += [(self.layout.of(name, judge), b) for name, b in local.items()]
        rows, columns, entries = [], [], []
        for places, block in blocks:
            entry = sparse.coo_array(block)
            rows.append(entry.coords[0])
            columns.append(places[entry.coords[1]])
            entries.append(entry.data)
        shape = (next(iter(local.values())).shape[0], self.layout.size)
        triplets = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_array(triplets, shape=shape)

    def _linear_blocks(self) -> dict[str, sparse.csr_array]:
        """Jacobians of the residuals that are linear in the parameters, by their spread."""
        at = self.layout
        blocks = {
            "scene_sd": self._shared_rows({"mu": sparse.eye_array(self._n_scenes), **self._kappa}),
            "intensity_slope_sd": self._identity("tilt"),
            "cell_sd": self._identity("cell"),
            "consistency_sd": self._identity("log_consistency"),
            "gamma_sd": self._identity("gamma"),
            "config_sd": self._identity("delta"),
            "profile_sd": self._identity("profile"),
            "gamma_judge_sd": self._around("gamma", None),
            "beta_sd": self._around("beta", "beta"),
            "position_bias_sd": self._around("bias", "position_bias"),
        }
        if self.bridged:
            blocks["alpha_sd"] = self._around("alpha", "alpha")
        assert all(block.shape[1] == at.size for block in blocks.values())
        return blocks

    def _shared_rows(self, blocks: Mapping) -> sparse.csr_array:
        at = self.layout
        full = sparse.lil_array((next(iter(blocks.values())).shape[0], at.size))
        for name, block in blocks.items():
            full[:, at.of(name)] = sparse.csr_array(block)
        return full.tocsr()

    def _identity(self, name: str) -> sparse.csr_array:
        places = self.layout.of(name)
        n = len(places)
        return sparse.csr_array((np.ones(n), (np.arange(n), places)), shape=(n, self.layout.size))

    def _around(self, local: str, mean: str | None) -> sparse.csr_array:
        """Judges' own values around the panel's mean."""
        places = self.layout.every(local).ravel()
        rows = np.arange(len(places))
        entries, columns = [np.ones(len(places))], [places]
        if mean is not None:
            entries.append(-np.ones(len(places)))
            columns.append(np.full(len(places), self.layout.of(mean)[0]))
        triplets = (
            np.concatenate(entries),
            (np.tile(rows, len(entries)), np.concatenate(columns)),
        )
        return sparse.csr_array(triplets, shape=(len(places), self.layout.size))

    def _cell_means(self) -> dict[str, Array]:
        """Minus the Jacobian of the scenes' cell means, by parameter."""
        arrays = self.arrays
        intensities = np.array(arrays.coords["intensity"], dtype=float)
        off_line = null_space(intensities[None, :])
        member = np.eye(len(arrays.coords["foundation"]))[arrays.foundation_idx]
        level = arrays.level
        intensity = intensities[level]
        cell = (member[:, :, None] * off_line[level][:, None, :]).reshape(len(level), -1)
        return {
            "intensity_slope": -intensity[:, None],
            "tilt": -intensity[:, None] * (member @ self.zero_sum),
            "cell": -cell,
        }


def _refuse(arrays: Arrays, rule: Rule) -> None:
    if rule.name != "compressed":
        mend = "use the rule compressed, or sample"
        raise ModelError(f"no Laplace approximation of the rule '{rule.name}'", mend=mend)
    if len(arrays.coords["judge"]) < 2:
        mend = "give the judgments of two or more judges, or sample"
        raise ModelError("no Laplace approximation for a single judge", mend=mend)
