"""Ask a judge every comparison of its schedule once, and read judgments out of its journal.

Asking and parsing are separate: `ask_all` fills the journal, `parse_journal` reads it and can do so
again at any time without asking anyone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moralscale.answers import parse_answer
from moralscale.collect.asking import AskingJob, Pace
from moralscale.collect.asks import Asks
from moralscale.collect.progress import report
from moralscale.config import Judge, validate
from moralscale.journal import Journal, open_journal, read_attempts
from moralscale.judgments import arrange
from moralscale.prompts import PromptTemplate, load_template
from moralscale.providers import make_provider
from moralscale.providers.base import Provider, key_of, token_count
from moralscale.providers.simulated import Simulated
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

    Returns
    -------
    DataFrame
        One row a comparison, `judgments.COLUMNS`; `outcome` is missing where no answer came.

    Raises
    ------
    PermanentError
        The provider will not answer. Everything answered until then is in the journal.
    TransientError
        Many questions in a row stayed without an answer.
    JournalError
        The journal is damaged, or another process is writing it.
    DesignError
        The schedule does not fit the scenes, composites and templates.
    """
    asks = Asks.of(schedule, scenes, composites, templates)
    with open_journal(journal_path) as journal:
        asyncio.run(ask_all(asks, provider, journal, pace or Pace()))
    return parse_journal(asks, provider, journal_path, origin)


async def ask_all(asks: Asks, provider: Provider, journal: Journal, pace: Pace) -> None:
    """Ask every question that `journal` does not answer yet; errors as of `collect`."""
    todo = _still_open(asks, provider, journal)
    if not todo:
        return
    title = str(asks.schedule["judge"].iloc[0])
    async with provider:
        with report(title, len(asks), len(asks) - len(todo)) as shown:
            await AskingJob(iter(asks.at(todo)), provider, journal, pace, shown).run()


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
    missing = int(pd.isna(found).sum())
    if missing:
        judge = asks.schedule["judge"].iloc[0]
        LOG.warning("%s: %d of %d comparisons have no answer", judge, missing, len(asks))
    names = ("attempts", "input_tokens", "output_tokens", "reasoning_tokens")
    columns = dict(zip(names, counts, strict=True))
    return arrange(asks.schedule.assign(outcome=found, **columns, origin=origin.value))


def _still_open(asks: Asks, provider: Provider, journal: Journal) -> Sequence[int]:
    """Positions of the questions without an answer, or with one that was cut short."""
    if not len(journal):
        return range(len(asks))
    standings = (journal.answered(key_of(provider, ask)) for ask in asks)
    return [n for n, standing in enumerate(standings) if standing is None or standing.again]


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
    """
    tables = [pd.read_parquet(path, filters=[("judge", "==", judge)]) for path in schedules]
    templates = [load_template(path) for path in prompts]
    if truth_path:
        provider: Provider = Simulated.from_file(judge, truth_path)
        origin, pace = Origin.SIMULATED, Pace()
    else:
        description = validate(Judge, settings, source=f"judge {judge}")
        provider, origin = make_provider(judge, description), Origin.LIVE
        pace = Pace.of(description)
    return collect(
        pd.concat(tables, ignore_index=True),
        scenes=load_scenes(scenes),
        composites=pd.read_parquet(composites),
        templates={template.name: template for template in templates},
        provider=provider,
        journal_path=journal_path,
        origin=origin,
        pace=pace,
    )
