"""Composites: the profiles and the scenes that realise them, drawn without favour."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np
import pandas as pd

from moralscale.design.bits import below, bits_for, permutation
from moralscale.errors import DesignError
from moralscale.records import config_name, foundations_of, intensities_of

Cell = tuple[str, int]


def make_composites(scenes: pd.DataFrame, *, realisations: int, seed: int) -> pd.DataFrame:
    """Realise every profile by two scenes.

    Profiles are the unordered pairs of the corpus's foundations by ordered pairs of its intensities
    but 0, which is neutral: 10 x 16 = 160 for five foundations and four intensities. Anchors never
    enter. Within a cell (foundation, intensity) scenes are used equally often, to 1, over all
    realisations; which ones get one more use and which scenes come together is seeded random.
    Realisations of a profile differ while its cells hold enough scenes.

    Parameters
    ----------
    scenes : DataFrame
        Columns id, foundation, intensity, anchor; row order does not matter.
    realisations : int
        Composites a profile.
    seed : int
        Seed of the run.

    Returns
    -------
    DataFrame
        composite_id, profile, foundation_a, foundation_b, intensity_a, intensity_b, config,
        scene_a, scene_b; by profile, then realisation.

    Raises
    ------
    DesignError
        No realisations, less than two foundations, or a cell without scenes.

    Examples
    --------
    >>> from moralscale.resources import project_folder
    >>> from moralscale.scenes import load_scenes
    >>> corpus = load_scenes(project_folder() / "scenarios/scenes.csv")
    >>> composites = make_composites(corpus, realisations=1, seed=1)
    >>> len(composites), composites["composite_id"][0]
    (160, 'care-2.fairness-2.r1')
    """
    if realisations < 1:
        what = f"realisations is {realisations}"
        raise DesignError(what, where="design, composites", mend="use 1 or more")
    cells = _cells(scenes)
    foundations = list(dict.fromkeys(foundation for foundation, _ in cells))
    intensities = list(dict.fromkeys(intensity for _, intensity in cells))
    profiles = [
        ((a, i), (b, k))
        for a, b in combinations(foundations, 2)
        for i, k in product(intensities, intensities)
    ]
    drawn = _draw(profiles, cells, realisations, seed)
    rows = []
    for number, ((scene_a, scene_b), turn) in enumerate(
        zip(drawn, list(range(1, realisations + 1)) * len(profiles), strict=True)
    ):
        (a, i), (b, k) = profiles[number // realisations]
        name = f"{a}{i:+d}.{b}{k:+d}"
        rows.append((f"{name}.r{turn}", name, a, b, i, k, config_name(i, k), scene_a, scene_b))
    names = "composite_id profile foundation_a foundation_b intensity_a intensity_b config"
    return pd.DataFrame(rows, columns=[*names.split(), "scene_a", "scene_b"])


def _cells(scenes: pd.DataFrame) -> dict[Cell, list[str]]:
    """Scene ids of each cell that composites need, sorted."""
    where = "design, composites"
    usable = scenes[~scenes["anchor"].astype(bool)]
    foundations = foundations_of(usable["foundation"])
    intensities = [i for i in intensities_of(usable["intensity"]) if i]
    if len(foundations) < 2 or not intensities:
        what = f"{len(foundations)} foundations and {len(intensities)} non-neutral intensities"
        mend = "give scenes, other than anchors, of two foundations and one intensity at least"
        raise DesignError(what, where=where, mend=mend)
    cells = {}
    for cell in product(foundations, intensities):
        inside = (usable["foundation"] == cell[0]) & (usable["intensity"] == cell[1])
        cells[cell] = sorted(usable.loc[inside, "id"])
        if not cells[cell]:
            what = f"no scene in cell {cell[0]} {cell[1]:+d}"
            raise DesignError(what, where=where, mend="add scenes, other than anchors, to it")
    return cells


def _draw(
    profiles: list[tuple[Cell, Cell]], cells: dict[Cell, list[str]], realisations: int, seed: int
) -> list[tuple[str, str]]:
    """Scenes of each composite, by profile, then realisation.

    Each cell's scenes are dealt round by round in one random order and shuffled over the slots
    they fill; slots of a cell then exchange scenes until no profile holds a composite twice.
    """
    slots: dict[Cell, list[int]] = defaultdict(list)
    for number, pair in enumerate(profiles):
        for turn, side in product(range(realisations), range(2)):
            slots[pair[side]].append(2 * (number * realisations + turn) + side)
    scene = np.empty(2 * len(profiles) * realisations, dtype=object)
    for cell, mine in slots.items():
        bits = bits_for(seed, "composites", *cell)
        order = np.array(cells[cell], dtype=object)[permutation(bits, len(cells[cell]))]
        scene[np.array(mine)[permutation(bits, len(mine))]] = np.resize(order, len(mine))
    drawn = scene.tolist()
    _tell_apart(drawn, profiles, slots, realisations, seed)
    return list(zip(drawn[::2], drawn[1::2], strict=True))


def _tell_apart(
    drawn: list[str],
    profiles: list[tuple[Cell, Cell]],
    slots: dict[Cell, list[int]],
    realisations: int,
    seed: int,
) -> None:
    """Exchange scenes within cells, in place, until no profile holds a composite twice."""

    def key(slot: int) -> tuple[int, str, str]:
        composite = slot // 2
        return composite // realisations, drawn[2 * composite], drawn[2 * composite + 1]

    def excess(keys: set[tuple[int, str, str]]) -> int:
        return sum(max(seen[k] - 1, 0) for k in keys)

    seen = Counter(map(key, range(0, len(drawn), 2)))
    pick = below(bits_for(seed, "composites", "exchange"), 2**32)
    twins = [slot for slot in range(0, len(drawn), 2) if seen[key(slot)] > 1]
    for _ in range(50 * len(drawn)):
        if not twins:
            return
        one = twins.pop() + next(pick) % 2
        mine = slots[profiles[one // 2 // realisations][one % 2]]
        other = mine[next(pick) % len(mine)]
        touched = {one // 2 * 2, other // 2 * 2}
        old = [key(slot) for slot in touched]
        seen.subtract(old)
        drawn[one], drawn[other] = drawn[other], drawn[one]
        new = [key(slot) for slot in touched]
        seen.update(new)
        everything = {*old, *new}
        after = excess(everything)
        seen.subtract(new)
        seen.update(old)
        if after > excess(everything):
            drawn[one], drawn[other] = drawn[other], drawn[one]
        else:
            seen.subtract(old)
            seen.update(new)
        twins += [slot for slot in sorted(touched) if seen[key(slot)] > 1]
