"""How judgments follow from strengths: the likelihood as a PyTensor graph, in worths.

Bradley and Terry's own form, P(first) = worth_first / (worth_first + worth_second), needs one
exponential an entry of the strength table, not one a judgment. Plain choices of one of two go
through `fused`; `likelihood` says the same again in plain numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.shape_utils import rv_size_is_none

from moralscale.arrays import Arrays, Index
from moralscale.config import Observation
from moralscale.fused import log_likelihood

#: Name of the data container that holds what was observed.
OBSERVED = "observed"


@dataclass(frozen=True, eq=False)
class Observed:
    """What the likelihood reads of the outcomes, and in which form.

    Attributes
    ----------
    name : str
        Name of the observed variable: ``outcome`` (code) of every judgment, or ``counts`` of every
        comparison, where comparisons were asked twice or more on average.
    row : (comparison,)
        A judgment of each comparison.
    comparison : (judgment,)
        The comparison that each judgment answers.
    n_outcomes : int
        2, or 3 with ties.
    """

    name: str
    row: Index
    comparison: Index
    n_outcomes: int

    @classmethod
    def of(cls, arrays: Arrays, options: Observation, *, counted: bool | None = None) -> Observed:
        """Choose the form, unless `counted` does."""
        row, comparison = arrays.repeats
        n_outcomes = 3 if options.ties == "davidson" else 2
        if counted or (counted is None and 2 * len(row) <= len(comparison)):
            return cls("counts", row, comparison, n_outcomes)
        everyone = np.arange(len(comparison))
        return cls("outcome", everyone, everyone, n_outcomes)

    def values(self, outcome: NDArray[np.integer]) -> NDArray[Any]:
        """Put outcomes of judgments, (judgment,), into this form.

        A code of -1 leaves a judgment out.
        """
        if self.name == "outcome":
            return outcome.astype(np.int8)
        kept = outcome >= 0
        place = self.comparison[kept] * self.n_outcomes + outcome[kept]
        counts = np.bincount(place, minlength=len(self.row) * self.n_outcomes)
        return counts.reshape(-1, self.n_outcomes).astype(float)


def observe(
    arrays: Arrays,
    options: Observation,
    observed: Observed,
    table: Any,
    bias: Any,
    over_judges: Callable[..., Any],
    draw: Callable[[str], Any],
) -> None:
    """Add the judgments to the model on the context stack.

    Parameters
    ----------
    arrays, options, observed
        Judgments, the options of the model, and the form of what was observed.
    table : (judge, slot)
        Strengths as each arena shows them, log-odds.
    bias : (judge,)
        Position bias, log-odds.
    over_judges, draw : callable
        Make a parameter with a value for every judge, and one with a prior, by name.
    """
    first, second = _as_shown(arrays, options, table, bias, over_judges, draw)
    if observed.n_outcomes == 2 and not options.lapse:
        _observe_choices(arrays, observed, first, second)
    else:
        _observe_worths(arrays, options, observed, first, second, over_judges)


def _observe_choices(arrays: Arrays, observed: Observed, first: Any, second: Any) -> None:
    """Add choices of one of two, which follow from nothing but the strengths shown."""
    first_idx, second_idx = arrays.first_idx[observed.row], arrays.second_idx[observed.row]

    def log_probability(values: Any, first: Any, second: Any) -> Any:
        if observed.name == "counts":
            won, lost = values[:, 0], values[:, 1]
        else:
            won, lost = pt.eq(values, 0), pt.eq(values, 1)
        return log_likelihood(first, second, first_idx, second_idx, won, lost)

    def distribution(first: Any, second: Any, size: Any) -> Any:
        worths = [pt.exp(first).ravel()[first_idx], pt.exp(second).ravel()[second_idx]]
        if not rv_size_is_none(size):
            size = pt.concatenate([size, worths[0].shape])
        return _distribution(observed)(*worths, size)

    pm.CustomDist(
        observed.name,
        first,
        second,
        logp=log_probability,
        dist=distribution,
        observed=pm.Data(OBSERVED, observed.values(arrays.outcome)),
        ndim_supp=2 if observed.name == "counts" else 1,
        signature="(j,s),(j,s)->(n,k)" if observed.name == "counts" else "(j,s),(j,s)->(n)",
    )


def _observe_worths(
    arrays: Arrays,
    options: Observation,
    observed: Observed,
    first: Any,
    second: Any,
    over_judges: Callable[..., Any],
) -> None:
    """Add outcomes with ties or lapses, in worths: the chance of one is its share of the sum."""
    judge = arrays.judge_idx[observed.row]
    places = arrays.first_idx[observed.row], arrays.second_idx[observed.row]
    if observed.n_outcomes == 2:
        worths = [
            pt.exp(side).ravel()[place] for side, place in zip((first, second), places, strict=True)
        ]
    else:
        roots = [
            pt.exp(side / 2).ravel()[place]
            for side, place in zip((first, second), places, strict=True)
        ]
        tie = _positive("tie", pt.exp, "tie_log", over_judges)[judge]
        worths = [roots[0] ** 2, roots[1] ** 2, tie * roots[0] * roots[1]]
    if options.lapse:
        lapse = _positive("lapse", pm.math.sigmoid, "lapse_logit", over_judges)[judge]
        total = _sum(worths)
        worths = [(1 - lapse) * worth for worth in worths]
        worths[:2] = [worth + lapse / 2 * total for worth in worths[:2]]
    data = pm.Data(OBSERVED, observed.values(arrays.outcome))
    pm.CustomDist(
        observed.name,
        *worths,
        logp=_log_probability(observed.name),
        dist=_distribution(observed),
        observed=data,
        ndim_supp=int(observed.name == "counts"),
        signature=",".join(["()"] * len(worths)) + "->(k)" if observed.name == "counts" else None,
    )


def _as_shown(
    arrays: Arrays,
    options: Observation,
    table: Any,
    bias: Any,
    over_judges: Callable[..., Any],
    draw: Callable[[str], Any],
) -> tuple[Any, Any]:
    """Strengths of what is shown first and of what is shown second: two of (judge, slot)."""
    bias = bias[:, None]
    if options.position_by_arena:
        bias = bias + _arena_bias(arrays, draw)[:, arrays.slot_arena]
    if not options.position_by_strength:
        return table + bias, table
    growth = over_judges("position_bias_slope")[:, None]
    share = growth * _over_arena_mean(arrays, table) / 2
    return table + bias + share, table - share


def _over_arena_mean(arrays: Arrays, table: Any) -> Any:
    """Strengths over the mean of what an arena shows: (judge, slot)."""
    member = arrays.slot_arena[:, None] == np.arange(len(arrays.coords["arena"]))
    return table - (table @ (member / member.sum(axis=0)))[:, arrays.slot_arena]


def _arena_bias(arrays: Arrays, draw: Callable[[str], Any]) -> Any:
    """Position bias over that in the single arena: (judge, arena), 0 in the single arena."""
    shared = pm.Deterministic(
        "position_bias_arena",
        draw("position_bias_arena_sd") * pm.Normal("position_bias_arena_z", dims="other_arena"),
        dims="other_arena",
    )
    by_judge = pt.tile(shared[None, :], (len(arrays.coords["judge"]), 1))
    if len(arrays.coords["judge"]) > 1:
        own = pm.Normal("position_bias_arena_judge_z", dims=("judge", "other_arena"))
        by_judge += draw("position_bias_arena_judge_sd") * own
    by_judge = pm.Deterministic(
        "position_bias_arena_judge", by_judge, dims=("judge", "other_arena")
    )
    return pt.concatenate([pt.zeros((by_judge.shape[0], 1)), by_judge], axis=1)


def _positive(name: str, link: Any, on_line: str, over_judges: Callable[..., Any]) -> Any:
    """Make a parameter of every judge that is hierarchical on another scale: (judge,)."""
    values = over_judges(on_line)
    model = pm.modelcontext(None)
    pm.Deterministic(name, link(model[on_line]))
    return pm.Deterministic(f"{name}_judge", link(values), dims="judge")


def _sum(terms: Sequence[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _log_probability(name: str) -> Callable[..., Any]:
    """Take the log-probability of what was observed, given the worths of the outcomes."""

    def of_counts(counts: Any, *worths: Any) -> Any:
        total = _sum(worths)
        return _sum([counts[..., k] * pt.log(worth / total) for k, worth in enumerate(worths)])

    def of_outcome(outcome: Any, *worths: Any) -> Any:
        total = _sum(worths)
        observed = total  # of a judgment that is left out: it has probability 1
        for code, worth in enumerate(worths):
            observed = pt.switch(pt.eq(outcome, code), worth, observed)
        return pt.log(observed / total)

    return of_counts if name == "counts" else of_outcome


def _distribution(observed: Observed) -> Callable[..., Any]:
    """Draw as the model would, given the worths of the outcomes and, last, a size."""

    def probabilities(worths: Sequence[Any]) -> Any:
        return pt.stack([worth / _sum(worths) for worth in worths], axis=-1)

    if observed.name == "outcome":
        return lambda *given: pm.Categorical.dist(probabilities(given[:-1]), size=given[-1]).astype(
            "int8"
        )
    asked = np.bincount(observed.comparison, minlength=len(observed.row))
    return lambda *given: pm.Multinomial.dist(
        asked, probabilities(given[:-1]), size=given[-1]
    ).astype("float64")
