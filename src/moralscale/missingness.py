"""Which comparisons are missing from the likelihood, and whether that depends on what they say.

A comparison that was refused, blocked, unreadable or never answered tells nothing about strengths.
Left out at random, it costs precision only; left out because of its content, it also moves what is
estimated. `count_missing` shows where comparisons are missing, `content_tests` asks whether at
random.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moralscale.judgments import VALID
from moralscale.records import USED, Arena, Outcome, foundations_of, intensities_of

Floats = NDArray[np.float64]

#: Kinds of answers that are no verdict.
KINDS: Mapping[str, tuple[Outcome, ...]] = MappingProxyType(
    {
        "declined": (Outcome.REFUSAL, Outcome.BLOCKED),
        "unreadable": (Outcome.TRUNCATED, Outcome.EMPTY, Outcome.AMBIGUOUS, Outcome.INVALID),
    }
)
DRAWS = 9_999
_CELL = ["judge", "arena", "foundation", "intensity"]
_COUNTS = ["planned", "attempted", "valid", "used", *KINDS, "unanswered"]


def acts_of(
    judgments: pd.DataFrame, scenes: pd.DataFrame, composites: pd.DataFrame
) -> pd.DataFrame:
    """List every act that a comparison shows.

    Returns
    -------
    DataFrame
        row (position in `judgments`), foundation, intensity; one row an act, of either option.
    """
    parts = [pd.DataFrame({"contestant": scenes["id"], "scene": scenes["id"]})]
    parts += [
        pd.DataFrame({"contestant": composites["composite_id"], "scene": composites[side]})
        for side in ("scene_a", "scene_b")
    ]
    content = pd.concat(parts).merge(scenes, left_on="scene", right_on="id")
    shown = pd.concat(
        pd.DataFrame({"row": np.arange(len(judgments)), "contestant": judgments[side].to_numpy()})
        for side in ("first", "second")
    )
    acts = shown.merge(content[["contestant", "foundation", "intensity"]], on="contestant")
    return acts.drop(columns="contestant").sort_values("row", kind="stable", ignore_index=True)


def count_missing(
    judgments: pd.DataFrame, scenes: pd.DataFrame, composites: pd.DataFrame
) -> pd.DataFrame:
    """Count comparisons by judge, arena, foundation and intensity of their acts.

    Parameters
    ----------
    judgments : DataFrame
        A table of judgments (docs/data.md).
    scenes, composites : DataFrame
        The corpus and the composites that were judged.

    Returns
    -------
    DataFrame
        judge, arena, foundation, intensity; planned, attempted, valid (verdicts: first, second,
        tie), used (first, second: what the likelihood reads), declined (refusal, blocked),
        unreadable (truncated, empty, ambiguous, invalid), unanswered. A comparison counts once in
        each cell that any of its acts belongs to, so that cells do not add up to comparisons.
    """
    flags = _flags(judgments)
    cells = acts_of(judgments, scenes, composites).drop_duplicates(ignore_index=True)
    table = pd.concat([cells, flags.iloc[cells["row"].to_numpy()].reset_index(drop=True)], axis=1)
    table = table.groupby(_CELL, as_index=False)[_COUNTS].sum()
    foundations = foundations_of(scenes["foundation"])
    order = {name: n for n, name in enumerate([*map(str, Arena), *foundations])}
    return table.sort_values(
        _CELL, key=lambda column: column.map(order) if column.name in _CELL[1:3] else column
    ).reset_index(drop=True)


def content_tests(
    judgments: pd.DataFrame,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    *,
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Test, for every judge, whether what is missing depends on what the acts are.

    Under the null hypothesis every answered comparison of a judge and arena is as likely to be
    declined as any other of that judge and arena. The statistic is the stratified score statistic
    of a logistic regression on the number of acts of each level (Cochran, Mantel and Haenszel),
    strata being arenas; its p-value is exact up to simulation: declined comparisons are drawn anew
    within arenas, without replacement.

    Parameters
    ----------
    judgments, scenes, composites : DataFrame
        As of `count_missing`.
    seed : int
        Seed of the draws.
    draws : int
        How many; the smallest p-value is ``1 / (draws + 1)``.

    Returns
    -------
    DataFrame
        judge, kind (``"declined"``, ``"unreadable"``), content (``"foundation"``,
        ``"intensity"``), answered, events, statistic, df, p_value, p_adjusted (Holm, over the whole
        table), level (where there is most excess), share_with and share_without (events among
        comparisons that show an act of that level, and among others). Without an event, or with
        nothing but events, there is nothing to test and the last columns are missing.
    """
    rows = []
    answered = judgments["outcome"].notna().to_numpy()
    acts = acts_of(judgments, scenes, composites)
    contents: dict[str, tuple[Any, ...]] = {
        "foundation": foundations_of(scenes["foundation"]),
        "intensity": intensities_of(scenes["intensity"]),
    }
    shown = {
        name: _shown(acts["row"].to_numpy(), acts[name], levels, len(judgments))
        for name, levels in contents.items()
    }
    for judge in sorted(judgments["judge"].unique()):
        own = answered & (judgments["judge"] == judge).to_numpy()
        arena = judgments["arena"].to_numpy()[own]
        for kind, outcomes in KINDS.items():
            event = judgments["outcome"].isin(outcomes).to_numpy()[own]
            for content, levels in contents.items():
                rng = np.random.default_rng([seed, *f"{judge} {kind} {content}".encode()])
                found = _test(shown[content][own], event, arena, levels, rng, draws)
                head = {"judge": judge, "kind": kind, "content": content}
                rows.append(
                    {**head, "answered": int(own.sum()), "events": int(event.sum())} | found
                )
    columns = ["statistic", "df", "p_value", "p_adjusted", "level", "share_with", "share_without"]
    table = pd.DataFrame(rows, columns=["judge", "kind", "content", "answered", "events", *columns])
    return table.assign(p_adjusted=holm(table["p_value"].to_numpy(dtype=float)))


def holm(p: Floats) -> Floats:
    """Adjust p-values for their number by Holm's method; missing ones stay so and do not count."""
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: int(np.isfinite(p).sum())]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1) if len(order) else steps
    return adjusted


def _flags(judgments: pd.DataFrame) -> pd.DataFrame:
    outcome = judgments["outcome"]
    return pd.DataFrame(
        {
            "judge": judgments["judge"].to_numpy(),
            "arena": judgments["arena"].to_numpy(),
            "planned": 1,
            "attempted": (judgments["attempts"] > 0).to_numpy(dtype=int),
            "valid": outcome.isin(VALID).to_numpy(dtype=int),
            "used": outcome.isin(USED).to_numpy(dtype=int),
            **{kind: outcome.isin(of).to_numpy(dtype=int) for kind, of in KINDS.items()},
            "unanswered": outcome.isna().to_numpy(dtype=int),
        }
    )


def _shown(
    rows: NDArray[np.int64], content: pd.Series, levels: tuple[Any, ...], n: int
) -> NDArray[np.int64]:
    """Count the acts of each level in each comparison: (comparison, level)."""
    counts = np.zeros((n, len(levels)), dtype=np.int64)
    np.add.at(counts, (rows, pd.Index(levels).get_indexer(pd.Index(content))), 1)
    return counts


def _test(
    shown: NDArray[np.int64],
    event: NDArray[np.bool_],
    arena: NDArray[Any],
    levels: tuple[Any, ...],
    rng: np.random.Generator,
    draws: int,
) -> dict[str, object]:
    """Score statistic and its p-value by redrawing events within arenas."""
    if event.all() or not event.any():
        return {}
    score = np.zeros(shown.shape[1])
    drawn = np.zeros((draws, shown.shape[1]))
    variance = np.zeros((shown.shape[1],) * 2)
    for stratum in sorted(set(arena)):
        here = arena == stratum
        n, k = int(here.sum()), int(event[here].sum())
        # Comparisons that show the same acts are exchangeable: their numbers are enough.
        patterns, counts = np.unique(shown[here], axis=0, return_counts=True)
        centred = patterns - shown[here].mean(axis=0)
        score += (shown[here][event[here]] - shown[here].mean(axis=0)).sum(axis=0)
        drawn += rng.multivariate_hypergeometric(counts, k, size=draws) @ centred
        if n > 1:
            variance += k * (n - k) / (n * (n - 1)) * (centred.T * counts) @ centred
    inverse = np.linalg.pinv(variance, rcond=1e-9, hermitian=True)
    statistic = float(score @ inverse @ score)
    simulated = np.einsum("di,ij,dj->d", drawn, inverse, drawn)
    spread = np.sqrt(np.diag(variance))
    excess = np.divide(score, spread, out=np.full_like(score, -np.inf), where=spread > 0)
    most = int(excess.argmax())
    holds = shown[:, most] > 0
    return {
        "statistic": statistic,
        "df": int(np.linalg.matrix_rank(variance, tol=1e-9 * variance.max(), hermitian=True)),
        "p_value": (1 + int((simulated >= statistic * (1 - 1e-9)).sum())) / (draws + 1),
        "level": str(levels[most]),
        "share_with": float(event[holds].mean()) if holds.any() else np.nan,
        "share_without": float(event[~holds].mean()) if not holds.all() else np.nan,
    }
