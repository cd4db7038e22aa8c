"""The probability of judgments given strengths, in plain numpy.

The same equations as `observation`, written a second time and in another way (log-odds, not
worths): the reference that the model is tested against, and what cross-validation and predictive
checks read. Nothing here knows composition rules or priors: a draw's `theta` and `phi` are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from moralscale.arrays import Arrays
from moralscale.config import Observation

Array = NDArray[np.float64]
#: Which judgments: their places, or a slice.
Rows = slice | NDArray[np.int64]

SAMPLE_DIMS = ("chain", "draw", "sample")
#: Values of one block of `blocks`: 64 MB.
BLOCK = 8_000_000


@dataclass(frozen=True, eq=False)
class _Draws:
    """Draws by name, with the sample first: (sample, ...)."""

    dataset: xr.Dataset
    n_samples: int

    @classmethod
    def of(cls, dataset: xr.Dataset) -> _Draws:
        dims = [str(dim) for dim in SAMPLE_DIMS if dim in dataset.dims]
        if not dims:
            dataset = dataset.expand_dims("sample")
        elif dims != ["sample"]:
            dataset = dataset.stack(sample=dims)
        return cls(dataset, dataset.sizes["sample"])

    def __call__(self, name: str, *dims: str) -> Array:
        return self.dataset[name].transpose("sample", *dims).values.astype(np.float64)

    def ratio(self, name: str) -> Array:
        """Give a consistency, 1 where the fit took it to be so: (sample, 1, 1)."""
        value = self.dataset[name].values if name in self.dataset else 1.0
        return np.broadcast_to(np.asarray(value, dtype=np.float64), self.n_samples)[:, None, None]


def strength_table(draws: xr.Dataset, arrays: Arrays) -> Array:
    """Strengths as each arena shows them: (sample, judge, slot), as in `arrays.Arrays`.

    Parameters
    ----------
    draws : Dataset
        ``theta`` and ``phi`` and, where they were estimated, the consistencies of arenas; dims
        chain and draw, or sample, or neither (one draw, or a simulated panel's truth).
    """
    get = _Draws.of(draws)
    theta, phi = get("theta", "judge", "scene"), get("phi", "judge", "composite")
    parts = [theta, get.ratio("composite_consistency") * phi]
    if arrays.bridged:
        bridge = get.ratio("bridge_consistency")
        parts += [bridge * theta, bridge * phi]
    return np.concatenate(parts, axis=2)


def log_odds(
    draws: xr.Dataset,
    arrays: Arrays,
    options: Observation | None = None,
    rows: Rows = slice(None),
) -> Array:
    """Log-odds of the option shown first over the other, lapses and ties aside.

    Parameters
    ----------
    draws : Dataset
        As for `strength_table`, with what the options need: ``position_bias_judge`` always,
        ``position_bias_arena_judge``, ``position_bias_slope_judge``.
    arrays : Arrays
        The comparisons.
    options : Observation, optional
        How judgments follow from strengths; without lapses and ties unless given.
    rows : slice or (judgment,), optional
        Which judgments.

    Returns
    -------
    (sample, judgment)
    """
    options = options or Observation()
    get, table = _Draws.of(draws), strength_table(draws, arrays)
    judge, arena = arrays.judge_idx[rows], arrays.arena_idx[rows]
    first, second = (slots[rows] for slots in arrays.slots)
    eta = table[:, judge, first] - table[:, judge, second]
    eta += get("position_bias_judge", "judge")[:, judge]
    if options.position_by_arena:
        shift = get("position_bias_arena_judge", "judge", "other_arena")
        eta += np.pad(shift, ((0, 0), (0, 0), (1, 0)))[:, judge, arena]
    if options.position_by_strength:
        mean = np.stack(
            [
                table[:, :, arrays.slot_arena == place].mean(axis=2)
                for place in range(len(arrays.coords["arena"]))
            ],
            axis=2,
        )
        shown = (table[:, judge, first] + table[:, judge, second]) / 2 - mean[:, judge, arena]
        eta += get("position_bias_slope_judge", "judge")[:, judge] * shown
    return eta


def outcome_probability(
    draws: xr.Dataset,
    arrays: Arrays,
    options: Observation | None = None,
    rows: Rows = slice(None),
) -> Array:
    """Probability of every outcome of every judgment.

    Parameters
    ----------
    draws, arrays, options, rows
        As for `log_odds`; lapses and ties need ``lapse_judge`` and ``tie_judge``.

    Returns
    -------
    (sample, judgment, outcome)
        Outcomes in the order of `records.VERDICTS`; a third one only where ties are modelled.
    """
    options = options or Observation()
    get, judge = _Draws.of(draws), arrays.judge_idx[rows]
    eta = log_odds(draws, arrays, options, rows)
    if options.ties == "davidson":
        # From e^(eta/2) : nu : e^(-eta/2), each divided by the larger of the two wins.
        tie = get("tie_judge", "judge")[:, judge] * np.exp(-np.abs(eta) / 2)
        first, second = np.exp(np.minimum(eta, 0)), np.exp(np.minimum(-eta, 0))
        parts = np.stack([first, second, tie], axis=-1)
        parts /= parts.sum(axis=-1, keepdims=True)
    else:
        parts = np.stack([expit(eta), expit(-eta)], axis=-1)
    if options.lapse:
        lapse = get("lapse_judge", "judge")[:, judge, None]
        parts *= 1 - lapse
        parts[..., :2] += lapse / 2
    return parts


def log_probability(
    draws: xr.Dataset,
    arrays: Arrays,
    options: Observation | None = None,
    rows: Rows = slice(None),
) -> Array:
    """Log-probability of every judgment under every draw.

    Of repeats each is a judgment of its own: the coefficient that counts them in another order is
    not part of this.

    Parameters
    ----------
    draws, arrays, options, rows
        As for `outcome_probability`.

    Returns
    -------
    (sample, judgment)
        In log units; `blocks` gives slices of judgments that keep this small.
    """
    options = options or Observation()
    if options.ties == "left_out" and not options.lapse:
        # Without the detour over probabilities, which round to 0 at log-odds beyond 745.
        eta = log_odds(draws, arrays, options, rows)
        return -np.logaddexp(0, np.where(arrays.first_won[rows], -eta, eta))
    chance = outcome_probability(draws, arrays, options, rows)
    outcome = arrays.outcome[rows].astype(np.int64)
    return np.log(np.take_along_axis(chance, outcome[None, :, None], axis=-1)[..., 0])


def blocks(arrays: Arrays, n_samples: int) -> Iterator[slice]:
    """Cut the judgments so that (sample, judgment) of one slice takes little memory."""
    n, step = len(arrays.outcome), max(1, BLOCK // max(n_samples, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def replicate(
    draws: xr.Dataset,
    arrays: Arrays,
    options: Observation | None,
    rng: np.random.Generator,
    rows: Rows = slice(None),
) -> NDArray[np.int8]:
    """Draw outcomes of the same comparisons: (sample, judgment), places in `records.VERDICTS`."""
    chance = outcome_probability(draws, arrays, options, rows)
    passed = np.cumsum(chance[..., :-1], axis=-1)
    uniform: Any = rng.random(chance.shape[:2])
    outcomes: NDArray[np.int8] = (uniform[..., None] >= passed).sum(axis=-1).astype(np.int8)
    return outcomes
