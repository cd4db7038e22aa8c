"""What tokens cost: prices by model, each with the day on which it was read."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field

from moralscale.config import Section, load_yaml, validate
from moralscale.records import Usage

#: Share of the price that the batch interfaces of OpenAI and Anthropic ask for.
BATCH_SHARE = 0.5
_Usd = Annotated[float, Field(ge=0, lt=10_000)]


class Price(Section):
    """List price of one model.

    Attributes
    ----------
    input, output : float
        USD per million tokens; reasoning is billed as output.
    read : date
        When the price was read.
    source : str
        Where it was read.
    """

    input: _Usd
    output: _Usd
    read: date
    source: str = Field(min_length=1)


class _Prices(Section):
    models: dict[str, Price]


def load_prices(path: str | Path) -> dict[str, Price]:
    """Read prices by model, under the names that judges give as `model`.

    A model without an entry has no known price.

    Raises
    ------
    ConfigError
        The file cannot be read, or an entry is not a price.
    """
    return validate(_Prices, load_yaml(path), source=str(path)).models


def cost(price: Price | None, usage: Usage) -> float | None:
    """Price tokens in USD; None where the price is not known.

    Providers differ in what they count: `usage.output` includes reasoning (`records.Usage`), so
    reasoning is not added again. Discounts for cached input are not counted.
    """
    if price is None:
        return None
    return (price.input * usage.input + price.output * usage.output) / 1e6
