"""An estimate of costs as a reader of a terminal sees it."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from moralscale.config import Config
from moralscale.estimate import (
    ANSWER_TOKENS,
    CHARACTERS_PER_TOKEN,
    MARGIN,
    REQUEST_TOKENS,
    Estimate,
)

UNKNOWN = "unknown"
_NUMBERS = ("planned", "to ask", "tokens in", "tokens out", "USD", "at most", "budget")


def as_text(config: Config, estimates: list[Estimate]) -> str:
    """Write tables, one a run, with totals, and say what they rest on.

    Parameters
    ----------
    config : Config
        The configuration.
    estimates : list of Estimate
        As `estimate.estimate_cost` returns them.
    """
    if not estimates:
        return "No run of this configuration asks real judges: nothing costs anything.\n"
    console = Console(highlight=False, width=110)
    with console.capture() as captured:
        for run in dict.fromkeys(one.run for one in estimates):
            here = [one for one in estimates if one.run == run]
            console.print(_table(run, here, config.runs[run].budget))
            for line in _warnings(run, here, config.runs[run].budget):
                console.print(line)
        console.print(_basis(estimates))
    return captured.get()


def _table(run: str, here: list[Estimate], budget: float | None) -> Table:
    table = Table(title=f"Run {run}", title_justify="left", show_footer=True, box=None)
    totals = [
        f"{sum(one.planned for one in here):,}",
        f"{sum(one.remaining for one in here):,}",
        f"{sum(one.input_tokens for one in here):,}",
        f"{sum(one.output_tokens for one in here):,}",
        _usd(sum(one.cost or 0 for one in here)),
        _usd(_total([one.cost_limit for one in here])),
        _usd(budget, none="-"),
    ]
    table.add_column("judge", footer="all" if _priced(here) else "all with a price")
    for name, total in zip(_NUMBERS, totals, strict=True):
        table.add_column(name, footer=total, justify="right")
    table.add_column("USD per million, in / out", justify="right")
    for one in here:
        table.add_row(
            one.judge,
            *(f"{n:,}" for n in (one.planned, one.remaining, one.input_tokens, one.output_tokens)),
            _usd(one.cost),
            _usd(one.cost_limit),
            _usd(one.budget, none="-"),
            _price(one),
        )
    return table


def _warnings(run: str, here: list[Estimate], budget: float | None) -> list[str]:
    told = [
        f"{one.judge}: no price of {one.model} in the file of prices; it is left out of the total."
        for one in here
        if one.cost is None
    ]
    told += [
        f"{one.judge}: the estimate is above its budget of {one.budget:g} USD, and it would stop."
        for one in here
        if one.budget and one.cost and one.cost > one.budget
    ]
    if budget and sum(one.cost or 0 for one in here) > budget:
        told.append(f"{run}: the estimate is above its budget of {budget:g} USD; it would stop.")
    return told


def _basis(estimates: list[Estimate]) -> str:
    read = sorted({one.price.read.isoformat() for one in estimates if one.price})
    dated = f"Prices as read on {', '.join(read)}. " if read else ""
    return (
        f"Reckoned, not measured: {CHARACTERS_PER_TOKEN:g} characters a token of the rendered "
        f"prompts, {MARGIN:.0%} more for differences between tokenizers, {REQUEST_TOKENS} tokens a "
        "request; "
        f"{ANSWER_TOKENS} tokens an answer and what judges.yaml gives as reasoning_tokens. "
        "At most: every answer as long as its settings allow. Answers in the journal are not "
        f"counted; batches are reckoned at half the price. {dated}"
        "Tries after a fault and answers that are asked again with more length come on top."
    )


def _price(one: Estimate) -> str:
    if one.price is None:
        return "no key, no bill" if one.cost == 0 else UNKNOWN
    half = ", half of it" if one.transport == "batch" else ""
    return f"{one.price.input:g} / {one.price.output:g}{half}"


def _priced(here: list[Estimate]) -> bool:
    return all(one.cost is not None for one in here)


def _total(costs: list[float | None]) -> float | None:
    return None if None in costs else sum(cost or 0 for cost in costs)


def _usd(amount: float | None, none: str = UNKNOWN) -> str:
    return none if amount is None else f"{amount:,.2f}"
