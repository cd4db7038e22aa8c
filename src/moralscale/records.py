"""The words of the project as types: arenas, outcomes, scenes, composites, replies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

#: Foundations and intensities of the study, and of the corpora of this project.
FOUNDATIONS = ("care", "fairness", "loyalty", "authority", "sanctity")
INTENSITIES = (-2, -1, 0, 1, 2)
#: Names of moral foundations theory in their usual order, the six of the MFQ-2 among them.
_ORDER = (
    *("care", "equality", "proportionality", "fairness", "loyalty", "authority"),
    *("sanctity", "purity"),
)


def foundations_of(names: Iterable[str]) -> tuple[str, ...]:
    """Name the foundations that occur, each once.

    Names of moral foundations theory come in their usual order, others after them by the alphabet.
    The order of the rows of a corpus plays no part: that of the foundations enters the ids of
    composites, under which answers are filed.
    """
    place = {name: number for number, name in enumerate(_ORDER)}
    return tuple(sorted(set(map(str, names)), key=lambda name: (place.get(name, 99), name)))


def intensities_of(labels: Iterable[int]) -> tuple[int, ...]:
    """List the intensities that occur, ascending."""
    return tuple(sorted(set(map(int, labels))))


def config_name(intensity_a: int, intensity_b: int) -> str:
    """Name of the unordered intensity pair, the higher first: ``"+2/-1"``."""
    high, low = max(intensity_a, intensity_b), min(intensity_a, intensity_b)
    return f"{high:+d}/{low:+d}"


def configs_of(names: Iterable[str]) -> tuple[str, ...]:
    """Name the configurations that occur, the highest first: ``("+2/+2", "+2/+1", ...)``."""
    return tuple(
        sorted(set(map(str, names)), key=lambda name: [-int(part) for part in name.split("/")])
    )


class Arena(StrEnum):
    """What meets what: two scenes, two composites, or a scene and a composite."""

    SINGLE = "single"
    COMPOSITE = "composite"
    BRIDGE = "bridge"


class Outcome(StrEnum):
    """What an answer came to; only the first three are verdicts."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"
    REFUSAL = "refusal"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    AMBIGUOUS = "ambiguous"
    INVALID = "invalid"


#: Outcomes that a fit can read, in the order of their codes in arrays.
VERDICTS = (Outcome.FIRST, Outcome.SECOND, Outcome.TIE)
#: Those that every fit reads; ties are counted, and enter where the model has a place for them.
USED = (Outcome.FIRST, Outcome.SECOND)


class BetaMeaning(StrEnum):
    """What beta and slopes of composite strength mean, by the arenas that a fit reads."""

    CHOICE_NOISE = "in units of single-arena choice noise"
    IDENTIFIED = "free of choice noise, from the bridge arena"

    @classmethod
    def of(cls, data: str) -> BetaMeaning:
        """Meaning in a fit of ``"study"`` or ``"bridged"``."""
        return cls.IDENTIFIED if data == "bridged" else cls.CHOICE_NOISE


class Origin(StrEnum):
    """Where judgments come from."""

    SIMULATED = "simulated"
    LIVE = "live"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one answer cost; `output` includes reasoning."""

    input: int = 0
    output: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider made of one response.

    Attributes
    ----------
    text : str
        The answer's visible text; empty where the provider sent none.
    stop : str
        ``"stop"``, ``"length"``, ``"refusal"`` or ``"blocked"``: the provider's word, normalised.
    usage : Usage
        Tokens.
    request_id : str
        The provider's id of the request, for its support desk.
    model : str
        The model that answered, as the provider names it.
    settings : dict
        Settings in effect, as far as the provider tells.
    raw : dict
        The response body, for the journal.
    """

    text: str
    stop: str
    usage: Usage = Usage()
    request_id: str = ""
    model: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)
