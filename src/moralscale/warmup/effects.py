"""What the parameters of a compiled model are: spreads, effects that they scale, a judge's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from scipy.linalg import block_diag

from moralscale.warmup.curvature import Layout
from moralscale.warmup.density import Density

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Effects of judges about which the data say less than this, over what the prior says, are weak.
WEAK = 0.15
NONE = np.empty(0, dtype=int)


@dataclass(frozen=True, eq=False)
class Effects:
    """Standardised effects, their spreads, and what the data say of them.

    Attributes
    ----------
    place, spread : (effect,)
        Places of effects and of the logarithms of their spreads.
    score, information : (effect,)
        As in `coordinates.Coordinates`.
    """

    place: Index
    spread: Index
    score: Array
    information: Array

    def at_spreads(self, x: Array, spreads: Index, log_sd: Array) -> Array:
        """Take points, (n, size), to other spreads, with all that is observed left as it is.

        Parameters
        ----------
        x : (n, size)
        spreads : (spread,)
            Places of the logarithms of spreads.
        log_sd : (spread,)
            Logarithms of the spreads to take them to.
        """
        out = x.copy()
        out[:, spreads] = log_sd
        out[:, self.place] *= np.exp(x[:, self.spread] - out[:, self.spread])
        return out

    def told(self, mean: Array, variance: Array, *, but: Index = NONE) -> Effects:
        """Read what the data say off mean and variances of the posterior.

        Parameters
        ----------
        mean, variance : (size,)
        but : (n, ...), optional
            Places of effects that are left as they are.
        """
        sd = np.exp(mean[self.spread])
        more = np.maximum(1 / variance[self.place], 1)
        same = np.isin(self.place, but)
        score = np.where(same, self.score, mean[self.place] * more / sd)
        return replace(
            self,
            score=score,
            information=np.where(same, self.information, (more - 1) / sd**2),
        )

    def scale(self, x: Array) -> Array:
        """Width of effects given the spreads of a point, 1 for all others: (size,)."""
        out = np.ones(len(x))
        out[self.place] = 1 / np.sqrt(1 + self.information * np.exp(2 * x[self.spread]))
        return out

    def axes(self, at: Layout, covariance: Array) -> tuple[Index, Array]:
        """Find the axes of what the data say of shared effects of one spread.

        Parameters
        ----------
        at : Layout
        covariance : (shared, shared)
            Of what is shared, at given spreads.

        Returns
        -------
        places : (turned,)
            Places of effects that share their spread with others.
        turn : (turned, turned)
            A rotation, one block a spread.
        """
        groups, blocks = [], []
        for one in np.unique(self.spread):
            found = np.flatnonzero(np.isin(at.shared, self.place[self.spread == one]))
            if len(found) > 1:
                groups.append(at.shared[found])
                blocks.append(np.linalg.eigh(covariance[np.ix_(found, found)]).eigenvectors)
        return np.concatenate([NONE, *groups]), block_diag(*blocks) if blocks else np.empty((0, 0))

    def first(self, places: Sequence[Index]) -> Effects:
        """Put those at some places first, in their order."""
        rank = {place: k for k, place in enumerate(np.concatenate(places).tolist())}
        order = sorted(
            range(len(self.place)), key=lambda k: rank.get(int(self.place[k]), len(rank))
        )
        return Effects(
            self.place[order], self.spread[order], self.score[order], self.information[order]
        )


def survey(density: Density, model: pm.Model) -> tuple[Layout, Effects]:
    """Sort the parameters of a model, and find effects of which the data say nothing yet.

    Spreads are free variables ``X_sd``; ``X_z`` are the standardised effects that one scales. What
    a judge has of its own has ``judge`` as its first dim, or is called ``X_judge_z``.
    """
    values = {str(rv.name): str(model.rvs_to_values[rv].name) for rv in model.free_RVs}
    at = {
        name: np.arange(*density.places[value].indices(density.size))
        for name, value in values.items()
    }
    n_judges = len(model.coords["judge"])
    own = [
        at[name].reshape(n_judges, -1)
        for name in values
        if n_judges > 1
        and (name.endswith("_judge_z") or model.named_vars_to_dims.get(name, ())[:1] == ("judge",))
    ]
    local = np.concatenate(own, axis=1) if own else np.empty((n_judges, 0), dtype=int)
    spreads = [name for name in at if name.endswith("_sd")]
    spread_at = np.array([at[name][0] for name in spreads], dtype=int)
    shared = np.setdiff1d(np.arange(density.size), np.concatenate([spread_at, local.ravel()]))
    # Where the prior bounds a spread from above its value is not a logarithm.
    scaled = {
        name: at[effect]
        for name in spreads
        if (effect := f"{name.removesuffix('_sd')}_z") in at and values[name].endswith("_log__")
    }
    place = np.concatenate([NONE, *scaled.values()])
    spread = np.concatenate([NONE, *(np.full(len(z), at[name][0]) for name, z in scaled.items())])
    nothing = np.zeros(len(place))
    return Layout(density.size, spread_at, shared, local), Effects(place, spread, nothing, nothing)


def weakest(at: Layout, effects: Effects, mean: Array) -> NDArray[np.bool_]:
    """Find those of a judge that are many and that the data hardly tell one by one: (local,).

    Parameters
    ----------
    at, effects : Layout, Effects
    mean : (size,)
        Where the posterior is.
    """
    told = np.full(at.size, np.inf)
    told[effects.place] = effects.information * np.exp(2 * mean[effects.spread])
    spread = np.full(at.size, -1)
    spread[effects.place] = effects.spread
    spread_of = spread[at.local[0]]
    found = np.zeros(len(spread_of), dtype=bool)
    for one in set(spread_of.tolist()) - {-1}:
        same = spread_of == one
        if told[at.local[:, same]].mean() < WEAK and same.sum() > found.sum():
            found = same
    return found
