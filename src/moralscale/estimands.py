"""The study's estimands as functions of component sums and composite strengths.

Everything here is plain linear algebra on arrays whose last axis is the composite; leading axes
(draws, judges) are carried along. The simulator plants these quantities and the projections report
them, so that both mean the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.linalg import null_space

from moralscale.elo import ELO_MEAN, ELO_PER_LOGIT
from moralscale.errors import ModelError
from moralscale.records import configs_of, foundations_of

Array = NDArray[np.float64]

#: The two configurations of the anchoring contrast: nearly equal component sums.
ANCHORING = ("+2/-1", "+1/+1")
#: What is said where it is left out.
NO_ANCHORING = "No anchoring contrast: this corpus has no +2/-1 composites beside +1/+1 ones."


@dataclass(frozen=True, eq=False)
class Estimands:
    """What composites are made of, and the estimands on it.

    Attributes
    ----------
    a_idx, b_idx : (composite,), int
        Positions of the two components among the scenes.
    foundation : (composite, foundation), 0 or 1
        Which foundations a composite holds.
    config : (composite, config), 0 or 1
        Which configuration a composite has.
    intensity_sum : (composite,), int
        Sum of the two intensity labels.
    config_names : tuple of str
        The configurations that occur, the highest first.
    foundation_names : tuple of str
        The foundations of the corpus.
    """

    a_idx: NDArray[np.int64]
    b_idx: NDArray[np.int64]
    foundation: Array
    config: Array
    intensity_sum: NDArray[np.int64]
    config_names: tuple[str, ...]
    foundation_names: tuple[str, ...]

    @classmethod
    def from_composites(cls, scenes: pd.DataFrame, composites: pd.DataFrame) -> Estimands:
        """Index composites against the corpus.

        Raises
        ------
        ModelError
            A composite holds a scene that the corpus does not have.
        """
        index = pd.Index(scenes["id"])
        a_idx = index.get_indexer(composites["scene_a"])
        b_idx = index.get_indexer(composites["scene_b"])
        missing = (a_idx < 0) | (b_idx < 0)
        if missing.any():
            raise ModelError(
                f"composite '{composites['composite_id'][missing].iloc[0]}' holds a scene that is "
                "not in the corpus",
                mend="use the corpus that the composites were made from",
            )
        foundations = foundations_of(scenes["foundation"])
        first = composites["foundation_a"].to_numpy()[:, None] == np.array(foundations)
        second = composites["foundation_b"].to_numpy()[:, None] == np.array(foundations)
        names = configs_of(composites["config"])
        return cls(
            a_idx=a_idx,
            b_idx=b_idx,
            foundation=(first | second).astype(float),
            config=(composites["config"].to_numpy()[:, None] == np.array(names)).astype(float),
            intensity_sum=(composites["intensity_a"] + composites["intensity_b"]).to_numpy(),
            config_names=names,
            foundation_names=foundations,
        )

    @classmethod
    def from_dataset(cls, dataset: xr.Dataset) -> Estimands:
        """Read what `to_dataset` made, for example from a posterior's ``constant_data``."""
        return cls(
            a_idx=dataset["a_idx"].values.astype(np.int64),
            b_idx=dataset["b_idx"].values.astype(np.int64),
            foundation=dataset["foundation_member"].values.astype(float),
            config=dataset["config_member"].values.astype(float),
            intensity_sum=dataset["composite_intensity"].values.astype(np.int64),
            config_names=tuple(str(name) for name in dataset["config"].values),
            foundation_names=tuple(str(name) for name in dataset["foundation"].values),
        )

    def to_dataset(self) -> xr.Dataset:
        """Put everything into a dataset that can be kept beside draws: dim composite first."""
        variables = {
            "a_idx": (("composite",), self.a_idx.astype(np.int32)),
            "b_idx": (("composite",), self.b_idx.astype(np.int32)),
            "foundation_member": (("composite", "foundation"), self.foundation.astype(np.int8)),
            "config_member": (("composite", "config"), self.config.astype(np.int8)),
            "composite_intensity": (("composite",), self.intensity_sum.astype(np.int8)),
        }
        coords = {"config": list(self.config_names), "foundation": list(self.foundation_names)}
        return xr.Dataset(variables, coords)

    def restricted(self, composites: NDArray[np.bool_]) -> Estimands:
        """Keep some composites (composite,) only, and the configurations that they have."""
        config = self.config[composites]
        occurs = config.any(axis=0)
        return Estimands(
            a_idx=self.a_idx[composites],
            b_idx=self.b_idx[composites],
            foundation=self.foundation[composites],
            config=config[:, occurs],
            intensity_sum=self.intensity_sum[composites],
            config_names=tuple(np.array(self.config_names)[occurs].tolist()),
            foundation_names=self.foundation_names,
        )

    def component_sum(self, theta: Array) -> Array:
        """Sum of the two component strengths: (..., scene) -> (..., composite), log-odds."""
        return theta[..., self.a_idx] + theta[..., self.b_idx]

    def line(self, sums: Array, phi: Array) -> tuple[Array, Array, Array]:
        """Fit phi = intercept + slope * sums by least squares over composites.

        Parameters
        ----------
        sums, phi : (..., composite), log-odds

        Returns
        -------
        slope, intercept : (...)
        residual : (..., composite)
        """
        x = sums - sums.mean(axis=-1, keepdims=True)
        slope = (x * phi).sum(axis=-1) / (x * x).sum(axis=-1)
        intercept = phi.mean(axis=-1) - slope * sums.mean(axis=-1)
        residual = phi - intercept[..., None] - slope[..., None] * sums
        return slope, intercept, residual

    def rated_intercept(self, slope: Array, intercept: Array) -> Array:
        """Put an intercept on ratings: the study's alpha, Elo.

        ``E_c = slope * (E_s1 + E_s2) + alpha`` on ratings whose mean is 1000 in either arena, so
        alpha is near ``1000 * (1 - 2 * slope)``: a rating that no composite is near.

        Parameters
        ----------
        slope, intercept : (...)
            As `line` gives them, of strengths with mean zero in either arena.
        """
        return ELO_MEAN * (1 - 2 * slope) + ELO_PER_LOGIT * intercept

    def r_squared(self, phi: Array, residual: Array) -> Array:
        """Share of the variance of composite strengths on the line: (..., composite) -> (...)."""
        return 1 - residual.var(axis=-1) / phi.var(axis=-1)

    def foundation_residual(self, residual: Array) -> Array:
        """Mean residual over the composites with each foundation: (..., foundation)."""
        count = self.foundation.sum(axis=0)
        total = residual @ self.foundation
        return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)

    def intensity_mean(self, values: Array) -> Array:
        """Mean over the composites with each intensity sum: (..., intensity_sum)."""
        member = (self.intensity_sum[:, None] == self.intensity_sums).astype(float)
        mean: Array = values @ (member / member.sum(axis=0))
        return mean

    @property
    def intensity_sums(self) -> NDArray[np.int64]:
        """The intensity sums that occur, ascending."""
        return np.unique(self.intensity_sum)

    def config_mean(self, values: Array) -> Array:
        """Mean over the composites of each configuration: (..., config)."""
        return values @ (self.config / self.config.sum(axis=0))

    @property
    def has_anchoring(self) -> bool:
        """Whether the composites have both configurations of the anchoring contrast."""
        return set(ANCHORING) <= set(self.config_names)

    def anchoring(self, values: Array) -> Array:
        """Mean over +2/-1 composites minus mean over +1/+1 composites: (...).

        On strengths this is the raw contrast; on the residuals of `line` it is the contrast at
        equal component sum. Not a number where the design lacks one of the two configurations.
        """
        if not self.has_anchoring:
            return np.full(values.shape[:-1], np.nan)
        high, low = (self.config_names.index(name) for name in ANCHORING)
        means = self.config_mean(values)
        return means[..., high] - means[..., low]

    def correlation(self, phi: Array) -> Array:
        """Correlate judges over composites: (..., judge, composite) -> (..., judge, judge)."""
        centred = phi - phi.mean(axis=-1, keepdims=True)
        unit = centred / np.linalg.norm(centred, axis=-1, keepdims=True)
        return unit @ np.swapaxes(unit, -1, -2)

    def convergence(self, phi: Array) -> Array:
        """Mean correlation over the pairs of judges: (..., judge, composite) -> (...)."""
        n_judges = phi.shape[-2]
        upper = np.triu_indices(n_judges, k=1)
        return self.correlation(phi)[..., upper[0], upper[1]].mean(axis=-1)

    def config_basis(self) -> Array:
        """Basis of configuration effects that leave mean and linear intensity trend alone.

        Returns
        -------
        (config, config - 2)
            Orthonormal columns c with sum(c) = sum(c * intensity sum) = 0 over the composites.
        """
        count = self.config.sum(axis=0)
        level = (self.intensity_sum @ self.config) / count
        basis: Array = null_space(np.stack([count, count * level]))
        return basis


def zero_sum_basis(n: int) -> Array:
    """Orthonormal basis of the vectors of length `n` that sum to zero: (n, n - 1)."""
    basis: Array = null_space(np.ones((1, n)))
    return basis
