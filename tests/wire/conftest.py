"""A judge on loopback that speaks the chat completions protocol, with faults on demand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from servers import WireServer, serve

from moralscale.collect import Budgets, Pace, collect
from moralscale.config import Judge
from moralscale.prompts import PromptTemplate
from moralscale.providers import make_provider
from moralscale.records import Origin


@pytest.fixture
def server() -> Iterator[WireServer]:
    app = WireServer()
    with serve(app) as address:
        app.url = f"{address}/v1"
        yield app


@pytest.fixture
def judge(server, monkeypatch) -> Judge:
    monkeypatch.setenv("JUDGE_KEY", "sk-planted-7f/3+Zq")
    return Judge(
        provider="compatible",
        model="judge-1",
        base_url=server.url,
        api_key_env="JUDGE_KEY",
        settings={"temperature": 1, "max_tokens": 8},
        concurrency=4,
        timeout=5,
        tries=3,
    )


@dataclass
class Collecting:
    """A small schedule on the server's judge; `run` collects it."""

    schedule: pd.DataFrame
    scenes: pd.DataFrame
    template: PromptTemplate
    path: Path

    def run(
        self, judge: Judge, *, n: int = 24, budgets: Budgets | None = None, **pace: Any
    ) -> pd.DataFrame:
        waits = {"first_wait": 0.02, "longest_wait": 0.1, "tries": judge.tries, **pace}
        return collect(
            self.schedule.head(n),
            scenes=self.scenes,
            composites=pd.DataFrame(columns=["composite_id", "scene_a", "scene_b"]),
            templates={self.template.name: self.template},
            provider=make_provider("judge-1", judge),
            journal_path=self.path,
            origin=Origin.LIVE,
            pace=Pace(concurrency=judge.concurrency, **waits),
            budgets=budgets,
        )


@pytest.fixture
def collecting(tmp_path) -> Collecting:
    n = 60
    scenes = pd.DataFrame(
        {"id": [f"s{i}" for i in range(n)], "text": [f"They did thing {i}." for i in range(n)]}
    )
    schedule = pd.DataFrame(
        {
            "comparison_id": [f"{i:016x}" for i in range(n)],
            "arena": "single",
            "judge": "judge-1",
            "first": scenes["id"],
            "second": scenes["id"].iloc[::-1].to_numpy(),
            "first_order": "a",
            "second_order": "a",
            "repeat": 1,
            "prompt": "trolley",
        }
    )
    text = "{first_label}:\n{first}\n\n{second_label}:\n{second}\n"
    template = PromptTemplate("trolley", ("A", "B"), "", text)
    return Collecting(schedule, scenes, template, tmp_path / "journal" / "judge-1.jsonl")
