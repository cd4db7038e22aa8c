"""One question to each judge: which settings it takes, whether it reasons, what one answer costs.

What is asked is a real comparison of two acts that are in no corpus, so that tokens, refusals and
blocks are those of the run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from moralscale.answers import parse_answer
from moralscale.config import Judge, load_judges, read_config, validate
from moralscale.errors import ConfigError, MoralscaleError
from moralscale.prompts import PromptTemplate, load_template, render
from moralscale.providers import make_provider
from moralscale.providers.base import Ask
from moralscale.records import Origin, Reply

#: Acts that differ clearly, so that an answer comes easily.
ACTS = ("They fed a lost dog.", "They painted a chair green.")
#: Keys of a response that hold reasoning, whoever sends it.
REASONING = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking"})


@dataclass(frozen=True, slots=True)
class Probe:
    """What one question to a judge showed.

    Attributes
    ----------
    judge, provider, model, endpoint : str
        Who was asked, as configured.
    time : str
        When, UTC.
    requested : dict
        Settings that were sent, in the provider's words.
    error : str
        Why there is no answer, and how to mend it; empty where there is one. All that follows is
        about the answer.
    answered_by : str
        The model, as the provider names it.
    effective : dict
        Settings in effect, as far as the provider tells.
    text, outcome : str
        The answer, and what it comes to.
    thought : bool
        Whether the judge reasoned before it answered.
    input_tokens, output_tokens, reasoning_tokens : int
        Tokens of the answer; those of reasoning are among those of output.
    seconds : float
        From question to answer.
    request_id : str
        The provider's id of the request.
    """

    judge: str
    provider: str
    model: str
    endpoint: str
    time: str
    requested: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    answered_by: str = ""
    effective: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    outcome: str = ""
    thought: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    seconds: float = 0.0
    request_id: str = ""

    def line(self) -> str:
        """Say it in one line."""
        if self.error:
            return f"{self.judge}: no answer: {self.error}"
        thought = f"reasoned ({self.reasoning_tokens} tokens)" if self.thought else "no reasoning"
        named = self.answered_by or self.model
        parts = (
            f"{named} at {self.provider}",
            f"answered {self.outcome} ({self.text.strip()[:20]!r})",
            f"{self.input_tokens} tokens in, {self.output_tokens} out",
            thought,
            f"{self.seconds:.1f} s",
        )
        return f"{self.judge}: {'; '.join(parts)}"


async def probe(judge_name: str, judge: Judge, template: PromptTemplate) -> Probe:
    """Put one question to a judge; an error is part of what is found, not raised.

    Parameters
    ----------
    judge_name : str
        Name of the judge.
    judge : Judge
        Its description.
    template : PromptTemplate
        How the question is put.
    """
    prompt = render(template, [ACTS[0]], [ACTS[1]])
    contestants = ("probe", "probe", "a", "a")
    ask = Ask("probe", prompt.system, prompt.user, prompt.labels, contestants, template.name, 1)
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    known: dict[str, Any] = {"judge": judge_name, "provider": judge.provider, "time": moment}
    known |= {"model": judge.model, "endpoint": judge.base_url}
    try:
        provider = make_provider(judge_name, judge)
        known |= {"endpoint": provider.endpoint, "requested": dict(provider.settings)}
        async with provider:
            started = time.perf_counter()
            reply = await provider.ask(ask, provider.settings)
    except MoralscaleError as error:
        return Probe(**known, error=str(error))
    seconds = round(time.perf_counter() - started, 3)
    return Probe(**known, seconds=seconds, **_seen(reply, ask))


def probe_judges(judges: Mapping[str, Judge], template: PromptTemplate) -> list[Probe]:
    """Probe all these judges at once, in their order."""

    async def all_of_them() -> list[Probe]:
        return await asyncio.gather(*(probe(n, j, template) for n, j in judges.items()))

    return asyncio.run(all_of_them())


def probe_runs(config_path: str | Path, *, root: str | Path = ".") -> dict[str, list[Probe]]:
    """Probe the judges of every live run of a configuration, by run.

    The probes of a run are written to ``results/{run}/probe.json`` under `root`, where the
    manifest of the run finds them.

    Raises
    ------
    ConfigError
        The configuration is not valid, or none of its runs asks real judges.
    """
    config, root = read_config(config_path, root=root), Path(root)
    library = load_judges(root / config.judges_file)
    live = {name: run for name, run in config.runs.items() if run.origin is Origin.LIVE}
    if not live:
        mend = "name judges under `runs`; simulated ones need no probe"
        raise ConfigError("no run asks real judges", where=str(config_path), mend=mend)
    names = dict.fromkeys(judge for run in live.values() for judge in run.judges)
    prompt = config.prompts_of(next(iter(live)))[0]
    template = load_template(root / f"config/prompts/{prompt}.yaml")
    found = probe_judges({name: library[name] for name in names}, template)
    by_judge = {each.judge: each for each in found}
    by_run = {name: [by_judge[judge] for judge in run.judges] for name, run in live.items()}
    for name, probes in by_run.items():
        write_probes(probes, root / f"results/{name}/probe.json")
    return by_run


def probe_from_files(judges: Mapping[str, Any], *, prompt: str, output: str) -> None:
    """Probe judges as the workflow describes them, and write what is found."""
    described = {n: validate(Judge, j, source=f"judge {n}") for n, j in judges.items()}
    write_probes(probe_judges(described, load_template(prompt)), output)


def write_probes(probes: Iterable[Probe], path: str | Path) -> None:
    """Write probes as JSON, an object a judge."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(each) for each in probes], indent=1, ensure_ascii=False)
    # A provider can send halves of characters, which no file can hold.
    path.write_text(text + "\n", encoding="utf-8", errors="replace")


def _seen(reply: Reply, ask: Ask) -> dict[str, Any]:
    inline = "think>" in reply.text
    return {
        "answered_by": reply.model,
        "effective": dict(reply.settings),
        "text": reply.text,
        "outcome": str(parse_answer(reply.text, ask.labels, reply.stop).outcome),
        "thought": bool(reply.usage.reasoning) or inline or _has_reasoning(reply.raw),
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "reasoning_tokens": reply.usage.reasoning,
        "request_id": reply.request_id,
    }


def _has_reasoning(node: Any) -> bool:
    """Whether a response holds reasoning anywhere."""
    if isinstance(node, list):
        return any(map(_has_reasoning, node))
    if not isinstance(node, dict):
        return False
    told = any(node.get(name) for name in REASONING) or node.get("thought") is True
    return bool(told) or any(map(_has_reasoning, node.values()))
