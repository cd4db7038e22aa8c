"""The joint model as sums of squares: what a Laplace approximation needs of it.

The equations are those of `moralscale.model` for the rule ``compressed``; a test holds the two
densities against each other. Here they are written as residuals that are standard normal once
divided by their spread, since all curvature follows from those. Strengths are kept uncentred
(``t`` and ``p``): only differences within an arena are seen, and the bridge arena gets the judge's
mean strength back as a term of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import null_space

from moralscale.arrays import Arrays
from moralscale.composition import Rule
from moralscale.errors import ModelError
from moralscale.estimands import zero_sum_basis
from moralscale.laplace.judgments import Judged, judged
from moralscale.laplace.layout import Layout
from moralscale.laplace.priors import SpreadPrior, normal_prior, spread_prior
from moralscale.priors import Priors

Array = NDArray[np.float64]


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
        n_judges = len(coords["judge"])
        self.n_scenes, self.n_composites = len(coords["scene"]), len(coords["composite"])
        n_foundations = len(coords["foundation"])
        self.zero_sum = zero_sum_basis(n_foundations)
        self.judge_basis = zero_sum_basis(n_judges)
        self.foundation = estimands.foundation @ self.zero_sum
        self.config_basis = estimands.config_basis()
        self.config = estimands.config @ self.config_basis
        n_sum = self.zero_sum.shape[1]
        n_cells = n_foundations * (len(coords["intensity"]) - 1)  # across the line of a foundation
        self.tops = ("intensity_slope", "beta", "position_bias") + (
            ("alpha", "composite_consistency", "bridge_consistency") if self.bridged else ()
        )
        self.layout = Layout(
            {"mu": self.n_scenes, "profile": self.n_composites}
            | {"gamma": n_sum, "delta": self.config.shape[1]}
            | dict.fromkeys(self.tops, 1)
            | {"tilt": n_sum, "cell": n_cells, "log_consistency": n_judges - 1},
            {"t": self.n_scenes, "p": self.n_composites, "bias": 1, "beta": 1, "gamma": n_sum}
            | ({"alpha": 1} if self.bridged else {}),
            n_judges,
        )
        self.components = estimands.a_idx, estimands.b_idx
        self.composed = np.zeros((self.n_composites, self.n_scenes))
        for component in self.components:
            np.add.at(self.composed, (np.arange(self.n_composites), component), 1.0)
        self.composed_gram = self.composed.T @ self.composed
        #: What all judges share of a composite, and minus its Jacobian.
        self.common_at = np.concatenate(
            [self.layout.of(name) for name in ("profile", "gamma", "delta")]
        )
        self.common = np.hstack([np.eye(self.n_composites), self.foundation, self.config])
        self.linear = self._linear_blocks()
        self.grams = [(block.T @ block).tocsr() for block in self.linear.values()]
        n, first = self.layout.n_shared, self.layout.own(0)
        #: Of each, what is shared, and a judge's own: by itself, and with what is shared. These are
        #: the same for all judges.
        self.gram_parts = [
            tuple(part.tocoo() for part in (gram[:n, :n], gram[first, first], gram[first, :n]))
            for gram in self.grams
        ]
        self.spreads: tuple[str, ...] = ("judge_sd", "composite_sd", *self.linear)
        self.spread_priors: tuple[SpreadPrior, ...] = tuple(
            spread_prior(priors, name) for name in self.spreads
        )
        self.counts = np.array(
            [n_judges * self.n_scenes, n_judges * self.n_composites]
            + [block.shape[0] for block in self.linear.values()],
            dtype=float,
        )
        prior = [normal_prior(priors, name) for name in self.tops]
        self.top_mean, self.top_sd = (np.array(column) for column in zip(*prior, strict=True))
        self.top_at = np.concatenate([self.layout.of(name) for name in self.tops])
        ratios = [name for name in self.tops if name.endswith("_consistency")]
        self.ratios_at = np.array([self.layout.of(name)[0] for name in ratios], dtype=np.int64)
        self.judged: list[Judged] = [judged(arrays, self.layout, j) for j in range(n_judges)]

    def start(self) -> Array:
        """Where the search begins: prior means, and no differences."""
        x = np.zeros(self.layout.size)
        x[self.top_at] = self.top_mean
        x[self.layout.every("beta")] = x[self.layout.of("beta")]
        return x

    def ratios(self, x: Array) -> Array | None:
        """Log consistencies of the composite and bridge arenas, where they are estimated."""
        return x[self.ratios_at] if self.bridged else None

    def linear_curvature(self, weights: Array) -> sparse.csr_array:
        """Curvature of the squares of the linear residuals: (size, size)."""
        total = sparse.csr_array((self.layout.size, self.layout.size))
        for weight, gram in zip(weights[2:], self.grams, strict=True):
            total = total + weight * gram
        return total

    def objective(self, x: Array, weights: Array) -> float:
        """Minus the log density of judgments and parameters at given spreads, up to a constant.

        Parameters
        ----------
        x : (size,)
        weights : (spread,)
            Inverse squares of the spreads.
        """
        total = 0.5 * (((x[self.top_at] - self.top_mean) / self.top_sd) ** 2).sum()
        for weight, residual in zip(weights, self.residuals(x), strict=True):
            total += 0.5 * weight * (residual**2).sum()
        for j, mine in enumerate(self.judged):
            eta = mine.observe(x[self.layout.own(j)], self.ratios(x)).eta
            total += np.logaddexp(0, np.where(mine.won, -eta, eta)).sum()
        return float(total)

    # Residuals

    def residuals(self, x: Array) -> list[Array]:
        """Residuals of each spread, in the order of `spreads`.

        ``t`` around the consistent share of the scenes' strengths, ``p`` around what the rule and
        its effects make of the components (each judge by judge), and the linear ones.
        """
        return [
            self.scene_residuals(x),
            self.composite_residuals(x),
            *(block @ x for block in self.linear.values()),
        ]

    def shares(self, x: Array) -> Array:
        """Consistency of each judge: (judge,)."""
        return np.exp(self.judge_basis @ x[self.layout.of("log_consistency")])

    def scene_residuals(self, x: Array) -> Array:
        """Residuals of ``t``: (judge, scene)."""
        at = self.layout
        return x[at.every("t")] - np.outer(self.shares(x), x[at.of("mu")])

    def composite_residuals(self, x: Array) -> Array:
        """Residuals of ``p``: (judge, composite)."""
        at = self.layout
        expected = x[at.every("beta")] * self.sums(x) + x[at.every("gamma")] @ self.foundation.T
        if self.bridged:
            expected += x[at.every("alpha")]
        return x[at.every("p")] - expected - self.in_common(x[self.common_at])

    def in_common(self, shared: Array) -> Array:
        """Give what judges share of composites, from the parameters at `common_at`."""
        n = self.n_composites
        return shared[:n] + self.common[:, n:] @ shared[n:]

    def sums(self, x: Array) -> Array:
        """Component sums: (judge, composite)."""
        t = x[self.layout.every("t")]
        return t[:, self.components[0]] + t[:, self.components[1]]

    def _linear_blocks(self) -> dict[str, sparse.csr_array]:
        """Jacobians of the residuals that are linear in the parameters, by their spread."""
        blocks = {
            "scene_sd": self._around_cells(),
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
        return blocks

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

    def _around_cells(self) -> sparse.csr_array:
        """Scenes around the mean of their cell."""
        arrays, at = self.arrays, self.layout
        intensities = np.array(arrays.coords["intensity"], dtype=float)
        off_line = null_space(intensities[None, :])
        member = np.eye(len(arrays.coords["foundation"]))[arrays.foundation_idx]
        level = arrays.level
        intensity = intensities[level]
        cell = (member[:, :, None] * off_line[level][:, None, :]).reshape(len(level), -1)
        blocks: Mapping[str, Array] = {
            "mu": np.eye(self.n_scenes),
            "intensity_slope": -intensity[:, None],
            "tilt": -intensity[:, None] * (member @ self.zero_sum),
            "cell": -cell,
        }
        full = np.zeros((self.n_scenes, at.size))
        for name, block in blocks.items():
            full[:, at.of(name)] = block
        return sparse.csr_array(full)


def _refuse(arrays: Arrays, rule: Rule) -> None:
    if rule.name != "compressed":
        mend = "use the rule compressed, or sample"
        raise ModelError(f"no Laplace approximation of the rule '{rule.name}'", mend=mend)
    if len(arrays.coords["judge"]) < 2:
        mend = "give the judgments of two or more judges, or sample"
        raise ModelError("no Laplace approximation for a single judge", mend=mend)
