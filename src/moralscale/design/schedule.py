"""Schedules: which composites are made, and which judge is asked which comparison in which order.

What holds for every schedule, by construction:

- Contestants of a judge meet equally often, to 1 (scenes and composites apart in the bridge arena),
  and so do contestants over all judges: those who get one more pass round from judge to judge.
- For each judge every contestant is shown first and second equally often, to 1, and so it is over
  all judges. With an odd number of bridge comparisons for a judge, the total of a contestant may
  have to differ by 2; with even numbers it never does.
- For each judge, and over all, every composite shows its acts as ``ab`` and ``ba`` equally often,
  to 1, and its place in the display tells nothing about that order.
- Two options share no scene; no pair recurs before all others were used, as far as balance allows.
- A judge with at least as many comparisons as contestants less one has a connected graph. The
  graph of all judges is connected, but for a bridge too small for it: there the other arenas do it.
  Where comparisons are hardly more than contestants over all judges, this may need a few more.

A judge's schedule depends on the seed, the arena, the ids of its contestants, the judge's name and
number of comparisons, and the numbers of the judges before it. It does not depend on their names,
on other arenas, on the order of rows in a file or on a run's name. A judge put last, at the same
number for each, leaves the others as they were; so do more repeats. The one exception: where no
judge alone has enough comparisons for a connected graph, joining the whole may touch any of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.random import PCG64

from moralscale.design.bits import Ints, bits_for, permutation
from moralscale.design.field import Field, make_field
from moralscale.design.graphs import connect, deal, spread
from moralscale.design.pairing import draw_near, expected_strengths
from moralscale.errors import DesignError
from moralscale.records import Arena

type Pairing = Literal["balanced", "information"]
COLUMNS = ("arena", "judge", "first", "second", "first_order", "second_order", "repeat", "prompt")


def make_schedule(
    arena: Arena | str,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    judges: Sequence[str],
    *,
    judgments: int,
    repeats: int,
    prompts: Sequence[str],
    seed: int,
    orders: str = "one",
    pairing: Pairing = "balanced",
) -> pd.DataFrame:
    """Comparisons of one arena for all judges.

    Parameters
    ----------
    arena : Arena or str
        ``"single"``, ``"composite"`` or ``"bridge"``.
    scenes : DataFrame
        The corpus; column ``id``. Anchors and neutral scenes take part too.
    composites : DataFrame
        As `make_composites` returns.
    judges : sequence of str
        Names. Order matters: the first ones get the odd comparisons.
    judgments : int
        Distinct comparisons, summed over judges, before repeats; shared out to within 1.
    repeats : int
        Times each comparison is asked, with the same display and act orders. All comparisons are
        asked once before any is asked again.
    prompts : sequence of str
        Names of prompt templates. They rotate: each comparison has one of them, each equally
        often, to 1, for each judge. They are not crossed with comparisons.
    seed : int
        Seed of the run.
    orders : {"one", "both"}
        Whether each comparison is also asked with first and second exchanged: the same acts in the
        same order within each option, under the same prompt.
    pairing : {"balanced", "information"}
        Whether opponents are drawn at random, or near each other in intensity, where outcomes are
        open. All that holds for every schedule holds for both.

    Returns
    -------
    DataFrame
        comparison_id, arena, judge, first, second, first_order, second_order, repeat, prompt;
        ``judgments * repeats`` rows, twice as many with both orders, judges in the given order,
        random order within a judge. All of a judge's comparisons are asked in one order before any
        is asked in the other.
        Where one judge's pair recurs in just the same form, `repeat` counts on.

    Raises
    ------
    DesignError
        An unknown arena, a number or a list that makes no schedule, or too few comparisons for a
        connected graph.
    """
    arena = _arena(arena)
    _check(arena, judges, judgments, repeats, prompts)
    field = make_field(arena, scenes, composites)
    share, odd = divmod(judgments, len(judges))
    sizes = [share + (j < odd) for j in range(len(judges))]
    near = expected_strengths(field.ids, scenes, composites) if pairing == "information" else None
    pairs = _pair_up(arena, field, judges, sizes, seed, near)
    dealt = np.zeros(len(field.ids), dtype=np.int64)
    opening = bits_for(seed, arena, "acts").random_raw(len(dealt)).astype(np.int64) % 2
    tables, asked = [], 0
    for judge, (first, second) in zip(judges, pairs, strict=True):
        bits = bits_for(seed, arena, judge, "rows")
        acts = _act_orders(first, second, field, opening + dealt, bits)
        turn = (asked + np.argsort(permutation(bits, len(first)))) % len(prompts)
        table = pd.DataFrame(
            {
                "arena": str(arena),
                "judge": judge,
                "first": field.ids[first],
                "second": field.ids[second],
                "first_order": acts[0],
                "second_order": acts[1],
                "prompt": np.array(prompts, dtype=object)[turn],
            }
        )
        shown = [table, _exchanged(table)] if orders == "both" else [table]
        tables += [way.iloc[permutation(bits, len(way))] for _ in range(repeats) for way in shown]
        dealt += np.bincount(np.concatenate([first, second]), minlength=len(dealt))
        asked += len(first)
    schedule = pd.concat(tables, ignore_index=True)
    schedule["repeat"] = schedule.groupby(list(schedule.columns)).cumcount() + 1
    schedule.insert(0, "comparison_id", comparison_ids(schedule))
    return schedule[["comparison_id", *COLUMNS]]


def make_schedules(
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    judges: Sequence[str],
    *,
    judgments: Mapping[str, int],
    **settings: Any,
) -> pd.DataFrame:
    """Comparisons of all arenas that have any, one below the other.

    Parameters
    ----------
    scenes, composites, judges
        As of `make_schedule`.
    judgments : mapping
        Distinct comparisons by arena.
    **settings
        The rest of what `make_schedule` takes, the same for every arena.
    """
    tables = [
        make_schedule(arena, scenes, composites, judges, judgments=judgments[arena], **settings)
        for arena in Arena
        if judgments.get(arena)
    ]
    return pd.concat(tables, ignore_index=True)


def _exchanged(table: pd.DataFrame) -> pd.DataFrame:
    """Show every second option first."""
    sides = {"first": "second", "second": "first"}
    sides |= {f"{one}_order": f"{other}_order" for one, other in sides.items()}
    return table.rename(columns=sides)[table.columns]


def comparison_ids(schedule: pd.DataFrame) -> list[str]:
    """Hash of each row: 16 hex digits of SHA-256 of its design columns as canonical JSON."""
    return [
        hashlib.sha256(
            json.dumps(
                dict(zip(COLUMNS, row, strict=True)),
                sort_keys=True,
                separators=(",", ":"),
                ensure_ascii=False,
            ).encode()
        ).hexdigest()[:16]
        for row in zip(*(schedule[column].tolist() for column in COLUMNS), strict=True)
    ]


def _arena(name: Arena | str) -> Arena:
    if name not in list(Arena):
        mend = f"use one of {', '.join(Arena)}"
        raise DesignError(f"unknown arena {str(name)!r}", where="design", mend=mend)
    return Arena(name)


def _check(
    arena: Arena, judges: Sequence[str], judgments: int, repeats: int, prompts: Sequence[str]
) -> None:
    """Refuse numbers and names that make no schedule."""
    where = f"design, {arena} arena"
    for word, names in (("judge", judges), ("prompt", prompts)):
        if not names:
            raise DesignError(f"no {word}s", where=where, mend=f"name at least one {word}")
        twice = sorted({name for name in names if list(names).count(name) > 1})
        if twice:
            what = f"{word} {twice[0]!r} is named twice"
            raise DesignError(what, where=where, mend=f"name each {word} once")
    if repeats < 1:
        raise DesignError(f"repeats is {repeats}", where=where, mend="use 1 or more")
    if judgments < 0:
        raise DesignError(f"judgments is {judgments}", where=where, mend="use a positive number")
    if judgments < len(judges):
        what = f"{judgments} judgments for {len(judges)} judges"
        raise DesignError(what, where=where, mend=f"use at least {len(judges)}")


def _pair_up(
    arena: Arena,
    field: Field,
    judges: Sequence[str],
    sizes: Sequence[int],
    seed: int,
    near: Ints | None,
) -> list[tuple[Ints, Ints]]:
    """First and second of each judge's comparisons, as contestant indices."""
    where, n, total = f"design, {arena} arena", len(field.ids), sum(sizes)
    if total < n - 1 and arena != Arena.BRIDGE:
        what = f"{total} judgments cannot connect {n} contestants"
        raise DesignError(what, where=where, mend=f"use at least {n - 1}")
    hands = deal(field.sides, sizes, bits_for(seed, arena, "deal"))
    firsts, seconds = [], []
    for judge, hand in zip(judges, hands, strict=True):
        bits = bits_for(seed, arena, judge, "pairs")
        first, second = _pair_up_one(field, hand, bits, f"{where}, judge {judge}", near)
        firsts.append(first)
        seconds.append(second)
    if n - 1 <= total and max(sizes) < n - 1:
        group = np.repeat(np.arange(len(sizes)), sizes)
        bits = bits_for(seed, arena, "join")
        joined, pieces = connect(
            np.concatenate(firsts), np.concatenate(seconds), field.allowed, group, bits
        )
        if pieces > 1 and arena != Arena.BRIDGE:
            mend = f"use more judgments; {len(sizes) * (n - 1)} are enough for certain"
            raise _in_pieces(pieces, total, mend, where)
        seconds = np.split(joined, np.cumsum(sizes)[:-1])
    return list(zip(firsts, seconds, strict=True))


def _pair_up_one(
    field: Field, hand: tuple[Ints, Ints], bits: PCG64, where: str, near: Ints | None
) -> tuple[Ints, Ints]:
    """First and second of one judge's comparisons.

    The first shuffle serves, but for fields where scenes are shared by most contestants.
    """
    first = np.repeat(np.arange(len(field.ids)), hand[0])
    group = np.zeros(len(first), dtype=np.int64)
    for _ in range(20):
        # Sides in reverse, so that in the bridge arena scenes start out against composites.
        piles = [np.repeat(side, hand[1][side]) for side in reversed(field.sides)]
        second = np.concatenate([pile[permutation(bits, len(pile))] for pile in piles])
        second, pieces = spread(first, second, field.allowed, bits), 1
        if near is not None:
            second = draw_near(first, second, field.allowed, near, bits)
        kept_apart = field.allowed[first, second].all()
        if len(first) >= len(field.ids) - 1:
            second, pieces = connect(first, second, field.allowed, group, bits)
        if kept_apart and pieces == 1:
            return first, second
    if not kept_apart:
        what = f"no balanced schedule of {len(first)} comparisons keeps shared scenes apart"
        raise DesignError(what, where=where, mend="give more scenes a cell")
    mend = "give more scenes a cell, so that fewer contestants share one, or more judgments"
    raise _in_pieces(pieces, len(first), mend, where)


def _in_pieces(pieces: int, size: int, mend: str, where: str) -> DesignError:
    what = f"the graph of {size} comparisons falls into {pieces} pieces"
    return DesignError(what, where=where, mend=mend)


def _act_orders(
    first: Ints, second: Ints, field: Field, opening: Ints, bits: PCG64
) -> tuple[np.ndarray, np.ndarray]:
    """Order in which each option of each row shows its acts, shape (m,) each.

    A composite takes ``ab`` and ``ba`` by turns through its showings, those in one place before
    those in the other, so that they are balanced in each place as well as in all. Which place
    comes first is tossed for each judge and composite: else the odd ones would always fall alike.
    """
    m = len(first)
    who = np.concatenate([first, second])
    place = np.repeat([0, 1], m)
    toss = bits.random_raw(len(opening)).astype(np.int64) % 2
    by = np.lexsort((permutation(bits, 2 * m), place ^ toss[who], who))
    times = np.bincount(who, minlength=len(opening))
    rank = np.empty(2 * m, dtype=np.int64)
    rank[by] = np.arange(2 * m) - np.repeat(np.cumsum(times) - times, times)
    words = np.array(["ab", "ba"], dtype=object)[(opening[who] + rank) % 2]
    words[~field.composite[who]] = "a"
    return words[:m], words[m:]
