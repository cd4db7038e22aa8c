"""A judge with known strengths: it reads the prompt as rendered and answers from the model.

It knows neither schedule nor identifiers, only the texts in the prompt, so a fault of rendering
shows as a failure to recover what was planted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import xarray as xr

from moralscale.errors import ConfigError, PermanentError
from moralscale.providers.base import Ask, Backend
from moralscale.records import Arena, Reply, Usage

#: Marks a line of the prompt that holds an act.
BULLET = "- "
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
    """

    scenes: dict[str, float]
    composites: dict[frozenset[str], float]
    consistency: dict[str, float]
    position_bias: float
    refusal_rate: float
    seed: int

    def digest(self) -> str:
        """Return 16 hex digits that change with any of the values."""
        composites = sorted((*sorted(pair), value) for pair, value in self.composites.items())
        content = [self.scenes, composites, self.consistency, self.position_bias, self.refusal_rate]
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


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
        gap = self._strength(first, ask) - self._strength(second, ask)
        eta = truth.consistency[arena.value] * gap + truth.position_bias
        takes_first = self._uniform("choice", ask) < 1 / (1 + math.exp(-eta))
        return ask.labels[0 if takes_first else 1]

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
        attributes.
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
    )


def _strings(array: xr.DataArray) -> list[str]:
    return [str(value) for value in array.values]
