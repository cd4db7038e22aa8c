"""Prices of tokens: dated, and unknown where nothing is known."""

from datetime import date

import pytest

from moralscale.errors import ConfigError
from moralscale.prices import Price, cost, load_prices
from moralscale.records import Usage

ENTRY = "{input: 2, output: 10, read: 2026-11-30, source: a page}"


def test_every_price_of_the_project_is_dated(project):
    prices = load_prices(project / "config/prices.yaml")
    assert {"claude-sonnet-4-6", "gpt-5.2", "gemini-2.5-pro"} <= set(prices)
    assert all(price.read > date(2026, 1, 1) and price.source for price in prices.values())


def test_cost_counts_reasoning_once_and_is_unknown_without_a_price():
    price = Price(input=2, output=10, read=date(2026, 11, 30), source="a page")
    assert cost(price, Usage(input=500_000, output=100_000, reasoning=90_000)) == pytest.approx(2)
    assert cost(price, Usage()) == 0
    assert cost(None, Usage(input=1)) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ENTRY.replace("2,", "-2,"), r"prices\.yaml, models\.m\.input: .*-2"),
        (ENTRY.replace("2026-11-30", "autumn"), r"models\.m\.read"),
        (ENTRY.replace("output", "outputs"), r"unknown key 'outputs'; did you mean 'output'"),
        (ENTRY.replace(", source: a page", ""), r"key 'source' is missing"),
    ],
)
def test_what_is_no_price_is_named(tmp_path, text, told):
    path = tmp_path / "prices.yaml"
    path.write_text(f"models:\n  m: {text}\n")
    with pytest.raises(ConfigError, match=told):
        load_prices(path)
