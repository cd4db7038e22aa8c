"""What a run would cost, before anything is sent.

No provider's tokenizer is at hand, so tokens are reckoned from the characters of the rendered
prompts: `CHARACTERS_PER_TOKEN`, as is usual for English, then `MARGIN` on top, then what every
request adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moralscale.attempts import short_key
from moralscale.collect.asks import Asks
from moralscale.config import Config, Judge, load_judges
from moralscale.design import make_composites, make_schedules
from moralscale.journal import read_heads
from moralscale.prices import BATCH_SHARE, Price, cost, load_prices
from moralscale.prompts import load_template
from moralscale.providers import make_provider
from moralscale.providers.base import BUDGETS, Provider, key_of
from moralscale.records import Origin, Usage
from moralscale.scenes import load_scenes

CHARACTERS_PER_TOKEN = 4.0
#: Share added to tokens in, since tokenizers differ.
MARGIN = 0.25
#: Tokens that the frame of a request adds (roles, turns), and those of a short answer.
REQUEST_TOKENS, ANSWER_TOKENS = 16, 8
#: Price of judges that need no key: nobody bills them.
FREE = 0.0


@dataclass(frozen=True)
class Estimate:
    """What one judge of a run would cost.

    Attributes
    ----------
    run, judge, model, transport : str
    planned, remaining : int
        Comparisons, and those that the journal does not answer yet. All that follows is about
        these.
    input_tokens, output_tokens : int
        Reckoned tokens; `output_tokens` includes the judge's `reasoning_tokens`.
    cost : float or None
        USD; None where the price is not known.
    cost_limit : float or None
        USD if every answer were as long as the settings allow; None where that is not known.
    price : Price or None
        List price of the model.
    budget : float or None
        Most that this judge may cost, USD.
    """

    run: str
    judge: str
    model: str
    transport: str
    planned: int
    remaining: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    cost_limit: float | None
    price: Price | None
    budget: float | None


def estimate_cost(config: Config, *, root: str | Path = ".", anew: bool = False) -> list[Estimate]:
    """Reckon what the real judges of a configuration would cost.

    Parameters
    ----------
    config : Config
        A validated configuration (`config.read_config`).
    root : path, optional
        Folder that paths start from, the project's.
    anew : bool, optional
        Whether all comparisons are reckoned, those too that journals answer already.

    Returns
    -------
    list of Estimate
        One a run and judge, in the order of the configuration; none for simulated and imported
        runs.

    Raises
    ------
    MoralscaleError
        The corpus, a prompt, a judge, the prices or a journal are not valid, or the design cannot
        be made.
    """
    root = Path(root)
    live = {name: run for name, run in config.runs.items() if run.origin is Origin.LIVE}
    if not live:
        return []
    library = load_judges(root / config.judges_file)
    prices = load_prices(root / config.prices_file)
    found = []
    for name, run in live.items():
        for judge, asks in questions(config, name, root):
            description = library[judge]
            journal = None if anew else root / f"results/{name}/journal/{judge}.jsonl"
            budget = description.budget or run.judge_budget
            price = prices.get(description.model)
            found.append(_of_judge(name, judge, description, asks, journal, price, budget))
    return found


def questions(config: Config, run: str, root: Path) -> Iterator[tuple[str, Asks]]:
    """Yield every judge's questions, over all arenas: those that the workflow would ask."""
    scenes = load_scenes(root / config.scenes_of(run))
    design, judges, prompts = config.design, config.judge_names(run), config.prompts_of(run)
    composites = make_composites(scenes, realisations=design.realisations, seed=config.seed)
    schedule = make_schedules(
        scenes,
        composites,
        judges,
        judgments=design.judgments.model_dump(),
        repeats=design.repeats,
        pairing=design.pairing,
        prompts=prompts,
        orders=design.orders,
        seed=config.seed,
    )
    templates = {
        name: load_template(root / f"config/prompts/{name}.yaml", language=config.language_of(run))
        for name in prompts
    }
    for judge in judges:
        own = schedule[schedule["judge"] == judge]
        yield judge, Asks.of(own, scenes, composites, templates)


def _of_judge(
    run: str,
    name: str,
    judge: Judge,
    asks: Asks,
    journal: Path | None,
    price: Price | None,
    budget: float | None,
) -> Estimate:
    characters, remaining = _to_send(asks, make_provider(name, judge), journal)
    tokens_in = round(characters / CHARACTERS_PER_TOKEN * (1 + MARGIN)) + remaining * REQUEST_TOKENS
    tokens_out = remaining * (ANSWER_TOKENS + judge.reasoning_tokens)
    longest = next((judge.settings[name] for name in BUDGETS if name in judge.settings), None)
    most = None if longest is None else Usage(tokens_in, remaining * int(longest))
    return Estimate(
        run=run,
        judge=name,
        model=judge.model,
        transport=judge.transport,
        planned=len(asks),
        remaining=remaining,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost=_cost(judge, price, Usage(tokens_in, tokens_out)),
        cost_limit=_cost(judge, price, most),
        price=price,
        budget=budget,
    )


def _to_send(asks: Asks, provider: Provider, journal: Path | None) -> tuple[int, int]:
    """Characters and number of the questions that the journal does not answer."""
    heads = [] if journal is None else read_heads(journal)
    answered = {key: not head.standing.again for key, head in heads if head.answered}
    lengths = [
        len(ask.system) + len(ask.user)
        for ask in asks
        if not answered.get(short_key(key_of(provider, ask)), False)
    ]
    return sum(lengths), len(lengths)


def _cost(judge: Judge, price: Price | None, usage: Usage | None) -> float | None:
    if not judge.api_key_env:
        return FREE
    full = None if usage is None else cost(price, usage)
    if full is None:
        return None
    return full * (BATCH_SHARE if judge.transport == "batch" else 1)


def to_table(estimates: list[Estimate]) -> pd.DataFrame:
    """Set estimates out as a table, one row a run and judge.

    Returns
    -------
    DataFrame
        The attributes of `Estimate`, with `price` as ``input_price``, ``output_price`` (USD per
        million tokens) and ``price_read``; missing where nothing is known.
    """
    rows = []
    for one in estimates:
        known = {
            "input_price": one.price.input if one.price else None,
            "output_price": one.price.output if one.price else None,
            "price_read": one.price.read.isoformat() if one.price else None,
        }
        rows.append({**vars(one), **known})
    names = [name for name in Estimate.__dataclass_fields__ if name != "price"]
    return pd.DataFrame(rows, columns=[*names, "input_price", "output_price", "price_read"])
