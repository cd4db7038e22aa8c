"""A judge with known strengths: it reads the prompt as rendered and answers from the model.

It knows neither schedule nor identifiers, only the texts in the prompt, so a fault of rendering
shows as a failure to recover what was planted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import xarray as xr

from moralscale.errors import ConfigError, PermanentError
from moralscale.providers.base import Ask, Backend
from moralscale.records import Arena, Reply, Usage

#: Marks a line of the prompt that holds an act.
BULLET = "- "
TIE = "It is a tie."
REFUSAL = "I'm sorry, but I can't make that decision."


@dataclass(frozen=True, slots=True)
class Truth:
    """What one simulated judge knows, keyed by what a prompt shows.

    Attributes
    ----------
    scenes : dict
        Strength of a scene by its text, log-odds.
    composites : dict
        Strength of a composite by the unordered pair of its scenes' texts, log-odds.
    consistency : dict
        Slope of a choice on the difference of strengths, by arena.
    position_bias : float
        Lean to the option shown first, log-odds.
    refusal_rate : float
        Share of comparisons that the judge refuses.
    seed : int
        Seed of the panel.
    lapse : float
        Share of choices made at random.
    tie : float
        Odds of a tie over either win at even strengths.
    arena_bias : dict
        Position bias over that in the single arena, by arena, log-odds.
    bias_slope : float
        Growth of the position bias per log-odds of mean strength shown.
    """

    scenes: dict[str, float]
    composites: dict[frozenset[str], float]
    consistency: dict[str, float]
    position_bias: float
    refusal_rate: float
    seed: int
    lapse: float = 0.0
    tie: float = 0.0
    arena_bias: dict[str, float] = field(default_factory=dict)
    bias_slope: float = 0.0

    def digest(self) -> str:
        """Return 16 hex digits that change with any of the values."""
        composites = sorted((*sorted(pair), value) for pair, value in self.composites.items())
        content: list[Any] = [self.scenes, composites, self.consistency]
        content += [self.position_bias, self.refusal_rate]
        further = [self.lapse, self.tie, self.arena_bias, self.bias_slope]
        if any(further):
            content += further
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def mean_strength(self, arena: Arena) -> float:
        """Mean strength of the contestants of an arena, as it shows them, log-odds."""
        values = [] if arena is Arena.COMPOSITE else [*self.scenes.values()]
        values += [] if arena is Arena.SINGLE else self.composites.values()
        return self.consistency[arena.value] * sum(values) / len(values)


def _chances(eta: float, lapse: float, tie: float) -> tuple[float, float]:
    """Chances of the first and of the second option; the rest is a tie (docs/model.md)."""
    first, second = math.exp(min(eta, 0.0)), math.exp(min(-eta, 0.0))
    total = first + tie * math.exp(-abs(eta) / 2) + second
    return lapse / 2 + (1 - lapse) * first / total, lapse / 2 + (1 - lapse) * second / total


class Simulated(Backend):
    """Provider that answers from known strengths.

    Parameters
    ----------
    judge : str
        Name of the judge.
    truth : Truth
        What it knows.
    """

    name = "simulated"

    def __init__(self, judge: str, truth: Truth) -> None:
        self.model = judge
        self.endpoint = "simulated"
        # A panel with other strengths must not be given the answers of this one.
        self.settings: Mapping[str, Any] = {"seed": truth.seed, "truth": truth.digest()}
        self._truth = truth

    @classmethod
    def from_file(cls, judge: str, path: str | Path) -> Self:
        """Make the provider of `judge` from a ``truth.nc``."""
        with xr.open_dataset(path, engine="h5netcdf") as dataset:
            return cls(judge, truth_of(dataset.load(), judge, source=str(path)))

    async def ask(self, ask: Ask, settings: Mapping[str, Any]) -> Reply:
        """Put one question; see `Provider.ask`."""
        text = self._answer(ask)
        usage = Usage(
            input=len(ask.system.split()) + len(ask.user.split()), output=len(text.split())
        )
        return Reply(text=text, stop="stop", usage=usage, model=self.model)

    def _answer(self, ask: Ask) -> str:
        truth = self._truth
        if truth.refusal_rate and self._uniform("refusal", ask) < truth.refusal_rate:
            return REFUSAL
        first, second = self._options(ask)
        arena = Arena.SINGLE if len(first) == len(second) == 1 else Arena.BRIDGE
        arena = Arena.COMPOSITE if len(first) == len(second) == 2 else arena
        strengths = self._strength(first, ask), self._strength(second, ask)
        eta = truth.consistency[arena.value] * (strengths[0] - strengths[1]) + truth.position_bias
        eta += truth.arena_bias.get(arena.value, 0.0)
        if truth.bias_slope:
            level = truth.consistency[arena.value] * sum(strengths) / 2
            eta += truth.bias_slope * (level - truth.mean_strength(arena))
        first_chance, second_chance = _chances(eta, truth.lapse, truth.tie)
        uniform = self._uniform("choice", ask)
        if uniform < first_chance:
            return ask.labels[0]
        return TIE if truth.tie and uniform < 1 - second_chance else ask.labels[1]

    def _options(self, ask: Ask) -> tuple[list[str], list[str]]:
        """Texts of the acts of both options: the two runs of bullet lines in the prompt."""
        runs: list[list[str]] = []
        inside = False
        for line in ask.user.splitlines():
            bullet = line.startswith(BULLET)
            if bullet and not inside:
                runs.append([])
            if bullet:
                runs[-1].append(line.removeprefix(BULLET).strip())
            inside = bullet
        if len(runs) != 2 or max(map(len, runs)) > 2:
            lengths = [len(run) for run in runs]
            what = f"the prompt shows acts in runs of {lengths}, not two runs of one or two"
            mend = "let the template list the acts of each option as lines '- ...' under its label"
            raise PermanentError(what, where=f"comparison {ask.comparison_id}", mend=mend)
        return runs[0], runs[1]

    def _strength(self, acts: list[str], ask: Ask) -> float:
        known = (
            self._truth.scenes.get(acts[0])
            if len(acts) == 1
            else self._truth.composites.get(frozenset(acts))
        )
        if known is None:
            what = f"the simulated judge does not know {acts}"
            mend = "render scenes word for word, or make truth.nc anew from these scenes"
            raise PermanentError(what, where=f"comparison {ask.comparison_id}", mend=mend)
        return known

    def _uniform(self, purpose: str, ask: Ask) -> float:
        """Draw from [0, 1) by hashing: the same whatever was asked before or beside it."""
        text = f"{self._truth.seed}|{purpose}|{self.model}|{ask.comparison_id}|{ask.repeat}"
        digest = hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
        return (int.from_bytes(digest, "big") >> 11) / 2**53


def truth_of(dataset: xr.Dataset, judge: str, *, source: str) -> Truth:
    """Take one judge's knowledge out of a panel's truth.

    Parameters
    ----------
    dataset : Dataset
        ``theta (judge, scene)``, ``phi (judge, composite)``, ``position_bias_judge (judge)``,
        ``composite_consistency``, ``bridge_consistency``, ``refusal_rate``, ``scene_text (scene)``,
        ``composite_scene_a (composite)``, ``composite_scene_b (composite)``, and ``seed`` among its
        attributes; ``lapse_judge``, ``tie_judge``, ``position_bias_arena_judge`` and
        ``position_bias_slope_judge`` where they were planted.
    judge : str
        Name of the judge.
    source : str
        Where the dataset came from, for the message.

    Raises
    ------
    ConfigError
        The panel has no such judge.
    """
    names = [str(name) for name in dataset["judge"].values]
    if judge not in names:
        raise ConfigError(
            f"no judge '{judge}' in the panel", where=source, mend="make truth.nc anew"
        )
    own = dataset.isel(judge=names.index(judge))
    texts = dict(zip(_strings(own["scene"]), _strings(own["scene_text"]), strict=True))
    pairs = zip(_strings(own["composite_scene_a"]), _strings(own["composite_scene_b"]), strict=True)
    keys = [frozenset((texts[a], texts[b])) for a, b in pairs]
    return Truth(
        scenes=dict(zip(texts.values(), own["theta"].values.tolist(), strict=True)),
        composites=dict(zip(keys, own["phi"].values.tolist(), strict=True)),
        consistency={
            Arena.SINGLE.value: 1.0,
            Arena.COMPOSITE.value: float(own["composite_consistency"]),
            Arena.BRIDGE.value: float(own["bridge_consistency"]),
        },
        position_bias=float(own["position_bias_judge"]),
        refusal_rate=float(own["refusal_rate"]),
        seed=int(dataset.attrs["seed"]),
        lapse=_optional(own, "lapse_judge"),
        tie=_optional(own, "tie_judge"),
        arena_bias=_arena_bias(own),
        bias_slope=_optional(own, "position_bias_slope_judge"),
    )


def _optional(own: xr.Dataset, name: str) -> float:
    """Value of what only some panels have: 0 where it was not planted."""
    return float(own[name]) if name in own else 0.0


def _arena_bias(own: xr.Dataset) -> dict[str, float]:
    if "position_bias_arena_judge" not in own:
        return {}
    values = own["position_bias_arena_judge"].values.tolist()
    return dict(zip(_strings(own["other_arena"]), values, strict=True))


def _strings(array: xr.DataArray) -> list[str]:
    return [str(value) for value in array.values]
