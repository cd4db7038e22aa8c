"""How fast one judge's job asks, how much memory it takes, how soon a long journal is open again.

``python benchmarks/collect.py [speed] [journal] [memory]`` prints one line for each; all unless
named. ``journal`` and ``memory`` share a journal of a million attempts (1.5 GB in a temporary
folder, some minutes to write).
"""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moralscale.attempts import AttemptUnderWay
from moralscale.collect import Budgets, Pace, ask_all, parse_journal
from moralscale.collect.asks import SCHEDULE_COLUMNS, Asks, read_schedules
from moralscale.config import Judge
from moralscale.journal import open_journal
from moralscale.judgments import write_judgments
from moralscale.prompts import load_template
from moralscale.providers import make_provider
from moralscale.providers.base import Ask, Backend, key_of
from moralscale.records import Origin, Reply, Usage
from moralscale.scenes import load_scenes

ROOT = Path(__file__).parents[1]
MILLION = 1_000_000
#: Comparisons of the million that are still to be asked.
OPEN = 20_000
ASKED = 8_000
NO_COMPOSITES = pd.DataFrame(columns=["composite_id", "scene_a", "scene_b"])


class Instant(Backend):
    """Answers at once, without a network."""

    name = endpoint = "instant"
    model = "instant"
    settings: Mapping[str, Any] = {"max_tokens": 16}

    async def ask(self, ask: Ask, settings: Mapping[str, Any]) -> Reply:
        """Answer with the first label."""
        raw = {"id": "cmpl-1", "choices": [{"index": 0, "message": {"content": "A"}}]}
        return Reply(ask.labels[0], "stop", Usage(180, 3), model="instant", raw=raw)


def schedule(n: int) -> pd.DataFrame:
    """Make `n` comparisons of scenes."""
    names = load_scenes(ROOT / "scenarios/scenes.csv")["id"].to_numpy()
    first = np.arange(n) % len(names)
    second = (first + 1 + np.arange(n) // len(names) % (len(names) - 1)) % len(names)
    ids = [hashlib.sha256(str(i).encode()).hexdigest()[:16] for i in range(n)]
    repeat = 1 + np.arange(n) // (len(names) * (len(names) - 1))
    columns = (ids, "single", "judge", names[first], names[second], "a", "a", repeat, "trolley")
    return pd.DataFrame(dict(zip(SCHEDULE_COLUMNS, columns, strict=True)))


def asks_of(table: pd.DataFrame) -> Asks:
    """Turn comparisons into questions."""
    template = load_template(ROOT / "config/prompts/trolley.yaml")
    scenes = load_scenes(ROOT / "scenarios/scenes.csv")
    return Asks.of(table, scenes, NO_COMPOSITES, {"trolley": template})


def speed(folder: Path) -> str:
    """Ask a server that answers in 200 ms and allows 64 at once."""
    command = [sys.executable, str(ROOT / "benchmarks/server.py"), "0.2", "64"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as server:
        port = int(server.stdout.readline())
        address = f"http://127.0.0.1:{port}/v1"
        judge = Judge(
            provider="compatible", model="judge", base_url=address, concurrency=64, timeout=30
        )
        asks = asks_of(schedule(ASKED))
        wall, cpu = time.perf_counter(), time.process_time()
        with open_journal(folder / "speed.jsonl") as journal:
            asyncio.run(ask_all(asks, make_provider("judge", judge), journal, Pace.of(judge)))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        server.stdin.close()
    return (
        f"{ASKED} judgments in {wall:.1f} s: {ASKED / wall:.0f} a second; "
        f"{1000 * cpu / ASKED:.2f} ms of CPU each, {cpu / wall:.0%} of a core"
    )


def write_million(folder: Path) -> None:
    """Write a schedule of a million comparisons, and a journal that answers all but `OPEN`."""
    table = schedule(MILLION)
    table.to_parquet(folder / "single.parquet", index=False)
    provider = Instant()
    with (folder / "judge.jsonl").open("wb") as file:
        for n, ask in enumerate(asks_of(table)):
            if n >= MILLION - OPEN:
                break
            attempt = AttemptUnderWay(provider, ask, key_of(provider, ask), 1, {"max_tokens": 16})
            reply = asyncio_free(provider, ask)
            file.write(attempt.answered(reply, again=False).line())


def asyncio_free(provider: Instant, ask: Ask) -> Reply:
    """Run a coroutine that never waits."""
    try:
        provider.ask(ask, provider.settings).send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waited")


def journal(folder: Path) -> str:
    """Open the journal of a million attempts."""
    path = folder / "judge.jsonl"
    wall, cpu = time.perf_counter(), time.process_time()
    with open_journal(path) as opened:
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        count = len(opened)
    size = path.stat().st_size / 1e9
    return f"{count} answers, {size:.2f} GB, open after {wall:.1f} s ({cpu:.1f} s of CPU)"


def memory(folder: Path) -> str:
    """Collect the million: read the schedule, find what is open, ask it, read the answers."""
    before = peak()
    asks = asks_of(read_schedules([str(folder / "single.parquet")], "judge"))
    provider = Instant()
    with open_journal(folder / "judge.jsonl") as opened:
        asyncio.run(ask_all(asks, provider, opened, Pace(), Budgets({})))
    asked = peak()
    table = parse_journal(asks, provider, folder / "judge.jsonl", Origin.LIVE)
    write_judgments(table, folder / "judge.parquet")
    return (
        f"{len(asks)} comparisons, {OPEN} asked: {asked:.0f} MB at most while asking "
        f"({before:.0f} MB of it are imports), {peak():.0f} MB with the table"
    )


def peak() -> float:
    """Most memory that this process held, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(task: Callable[[Path], Any], folder: Path) -> Any:
    """Run a task in a process of its own, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, (folder,))


def main(names: list[str]) -> None:
    """Run what is named."""
    tasks = {"speed": speed, "journal": journal, "memory": memory}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = [task for task in tasks if not names or task in names]
        if {"journal", "memory"}.intersection(chosen):
            apart(write_million, folder)
        for task in chosen:
            print(f"{task}: {apart(tasks[task], folder)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
