"""A judge on loopback that speaks the chat completions protocol, with faults on demand."""

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import uvicorn

from moralscale.collect import collect
from moralscale.collect.asking import Pace
from moralscale.config import Judge
from moralscale.prompts import PromptTemplate
from moralscale.providers import make_provider
from moralscale.records import Origin


@dataclass
class Reaction:
    """How the server reacts to one request."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    reset: bool = False


def completion(content="A", finish="stop", **message) -> dict[str, Any]:
    return {
        "id": "cmpl-1",
        "model": "judge-1-0611",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {
            "prompt_tokens": 90,
            "completion_tokens": 3,
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def steady(number: int, request: dict[str, Any]) -> Reaction:
    """Answer by the prompt alone."""
    user = request["messages"][-1]["content"]
    return Reaction(body=completion("AB"[hashlib.sha256(user.encode()).digest()[0] % 2]))


@dataclass
class WireServer:
    """The server and what it was asked; set `react` to change how it behaves."""

    url: str = ""
    react: Callable[[int, dict[str, Any]], Reaction] = steady
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.requests.append(json.loads(body))
        self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._respond(self.react(len(self.requests), self.requests[-1]), send)
        finally:
            self.in_flight -= 1

    async def _respond(self, reaction: Reaction, send) -> None:
        await asyncio.sleep(reaction.delay)
        body = reaction.body
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", "x-request-id": "req-7", **reaction.headers}
        if reaction.reset:
            headers["content-length"] = str(len(content) + 100)
        pairs = [(k.encode(), v.encode()) for k, v in headers.items()]
        start = {"type": "http.response.start", "status": reaction.status, "headers": pairs}
        await send(start)
        await send({"type": "http.response.body", "body": content, "more_body": reaction.reset})
        if reaction.reset:
            raise ConnectionResetError("broken off in mid-answer")

    def asked(self) -> list[str]:
        return [request["messages"][-1]["content"] for request in self.requests]


@pytest.fixture
def server() -> Iterator[WireServer]:
    app = WireServer()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    while not runner.started:
        threading.Event().wait(0.01)
    port = runner.servers[0].sockets[0].getsockname()[1]
    app.url = f"http://127.0.0.1:{port}/v1"
    yield app
    runner.should_exit = True
    thread.join()


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

    def run(self, judge: Judge, *, n: int = 24, **pace: Any) -> pd.DataFrame:
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
