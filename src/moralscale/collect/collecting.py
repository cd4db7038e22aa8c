"""Ask a judge every comparison of its schedule once, and read judgments out of its journal.

Asking and parsing are separate: `ask_all` fills the journal, `parse_journal` reads it and can do so
again at any time without asking anyone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moralscale.answers import parse_answer
from moralscale.collect.asking import AskingJob
from moralscale.collect.asks import Asks, read_schedules, still_open
from moralscale.collect.batching import BatchingJob
from moralscale.collect.means import Means
from moralscale.collect.money import Budgets, Purse
from moralscale.collect.pace import Pace
from moralscale.collect.progress import report
from moralscale.config import Judge, validate
from moralscale.errors import BudgetError, ProviderError, UnansweredError
from moralscale.journal import Journal, open_journal, read_attempts
from moralscale.judgments import arrange
from moralscale.prices import load_prices
from moralscale.prompts import PromptTemplate, load_template
from moralscale.providers import batch_interface, make_provider
from moralscale.providers.base import Provider, key_of, token_count
from moralscale.records import Origin
from moralscale.scenes import load_scenes

LOG = logging.getLogger(__name__)


def collect(
    schedule: pd.DataFrame,
    *,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    templates: Mapping[str, PromptTemplate],
    provider: Provider,
    journal_path: str | Path,
    origin: Origin,
    pace: Pace | None = None,
    budgets: Budgets | None = None,
) -> pd.DataFrame:
    """Ask what the journal does not answer yet, and return the judgments of one judge.

    Parameters
    ----------
    schedule : DataFrame
        Comparisons of one judge (`asks.SCHEDULE_COLUMNS`), of any arena.
    scenes, composites : DataFrame
        What the contestants are made of.
    templates : mapping
        Prompt templates by name.
    provider : Provider
        The judge's backend, not entered yet.
    journal_path : path
        The judge's journal; made where there is none.
    origin : Origin
        Where these judgments come from.
    pace : Pace, optional
        How fast to ask; `Pace.of` takes it from a judge's description.
    budgets : Budgets, optional
        Prices, and what may be spent; no bound unless given.

    Returns
    -------
    DataFrame
        One row a comparison, `judgments.COLUMNS`. `outcome` is missing where no answer came: for a
        share of `Pace.unanswered` at most.

    Raises
    ------
    PermanentError
        The provider will not answer. Everything answered until then is in the journal.
    TransientError
        Many questions in a row stayed without an answer.
    UnansweredError
        All was asked, and more than `Pace.unanswered` stayed without an answer.
    BudgetError
        The budget is spent.
    ConfigError
        There is a budget, and a model without a price.
    JournalError
        The journal is damaged, or another process is writing it.
    DesignError
        The schedule does not fit the scenes, composites and templates.
    """
    asks = Asks.of(schedule, scenes, composites, templates)
    with open_journal(journal_path) as journal:
        asyncio.run(ask_all(asks, provider, journal, pace or Pace(), budgets))
    return parse_journal(asks, provider, journal_path, origin)


async def ask_all(
    asks: Asks, provider: Provider, journal: Journal, pace: Pace, budgets: Budgets | None = None
) -> None:
    """Ask every question that `journal` does not answer yet; errors as of `collect`."""
    todo = still_open(asks, provider, journal)
    if not todo:
        return
    purse = Purse(budgets or Budgets({}), journal, provider.model)
    title = str(asks.schedule["judge"].iloc[0])
    try:
        async with provider:
            with report(title, len(asks), len(asks) - len(todo)) as shown:
                means = Means(journal, pace, purse, shown)
                if pace.transport == "batch":
                    batches = batch_interface(provider)
                    await BatchingJob(asks, batches, means).run()
                else:
                    await AskingJob(iter(asks.at(todo)), provider, means).run()
    except (ProviderError, BudgetError, UnansweredError) as error:
        missing = sum(journal.answered(key_of(provider, ask)) is None for ask in asks.at(todo))
        if missing > pace.unanswered * len(asks):
            raise
        told = "%s: %d of %d comparisons have no answer, which `unanswered` allows: %s"
        LOG.warning(told, title, missing, len(asks), error)


def parse_journal(
    asks: Asks, provider: Provider, journal_path: str | Path, origin: Origin
) -> pd.DataFrame:
    """Parse the answers that a journal holds to these questions.

    Parameters
    ----------
    asks : Asks
        The questions of one judge.
    provider : Provider
        The judge's backend; it need not be entered.
    journal_path : path
        The judge's journal. It may hold more: answers to other templates, models or settings.
    origin : Origin
        Where the judgments come from.

    Returns
    -------
    DataFrame
        As `collect` returns it. Attempts and tokens count every attempt, failed ones too.
    """
    rows = {key_of(provider, ask): n for n, ask in enumerate(asks)}
    found = np.full(len(asks), None, dtype=object)
    counts = np.zeros((4, len(asks)), dtype=np.int64)
    # Most answers are one of a few short texts.
    parse = lru_cache(maxsize=1024)(parse_answer)
    for record in read_attempts(journal_path):
        n = rows.get(record["key"])
        if n is None:
            continue
        counts[:, n] += (1, *map(token_count, record["usage"]))
        if not record["error"]:
            labels = tuple(record["labels"])
            found[n] = str(parse(record["text"], labels, record["stop"]).outcome)
    names = ("attempts", "input_tokens", "output_tokens", "reasoning_tokens")
    columns = dict(zip(names, counts, strict=True))
    return arrange(asks.schedule.assign(outcome=found, **columns, origin=origin.value))


def collect_from_files(
    judge: str,
    *,
    schedules: Sequence[str],
    scenes: str,
    composites: str,
    prompts: Sequence[str],
    settings: Mapping[str, Any],
    journal_path: str,
    truth_path: str | None = None,
    prices_path: str | None = None,
    run_budget: float | None = None,
) -> pd.DataFrame:
    """Collect the judgments of one judge over all arenas; errors as of `collect`.

    Parameters
    ----------
    judge : str
        Name of the judge.
    schedules, scenes, composites, prompts : path or paths
        The design, the corpus and the prompt templates.
    settings : mapping
        A real judge's entry in ``config/judges.yaml``; empty for a simulated judge.
    journal_path : path
        The judge's journal.
    truth_path : path, optional
        Planted truth, for a simulated judge.
    prices_path : path, optional
        What models cost; no cost is shown, and no budget kept, without it.
    run_budget : float, optional
        Most that all judges of the run may cost, USD.
    """
    templates = [load_template(path) for path in prompts]
    if truth_path:
        # Reading the truth takes libraries that real judges do not need.
        simulated = import_module("moralscale.providers.simulated").Simulated
        provider: Provider = simulated.from_file(judge, truth_path)
        origin, pace, budgets = Origin.SIMULATED, Pace(), None
    else:
        description = validate(Judge, settings, source=f"judge {judge}")
        provider, origin = make_provider(judge, description), Origin.LIVE
        pace = Pace.of(description)
        prices = load_prices(prices_path) if prices_path else {}
        budgets = Budgets(prices, description.budget, run_budget)
    return collect(
        read_schedules(schedules, judge),
        scenes=load_scenes(scenes),
        composites=pd.read_parquet(composites),
        templates={template.name: template for template in templates},
        provider=provider,
        journal_path=journal_path,
        origin=origin,
        pace=pace,
        budgets=budgets,
    )
