"""The capability probe over real sockets: one question a judge, and a file for the manifest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from servers import ProviderServer, Reaction, candidate, completion, message, serve, steady

from moralscale.config import Judge
from moralscale.errors import ConfigError
from moralscale.probe import probe_judges, probe_runs
from moralscale.prompts import load_template

ROOT = Path(__file__).parents[2]
KEY = "sk-planted-7f/3+Zq"
THOUGHT = {"type": "thinking", "thinking": "Dogs matter."}


@pytest.fixture(scope="module")
def template():
    return load_template(ROOT / "config/prompts/trolley.yaml")


@pytest.fixture
def judge_of(monkeypatch):
    """A judge of a provider on loopback; its server goes with the test."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    running = []

    def make(provider, reaction=None, **described):
        app = ProviderServer(provider=provider, key=KEY)
        app.react = (lambda number, request: reaction) if reaction else steady
        context = serve(app)
        running.append(context)
        described = {"settings": {"max_tokens": 64}, "model": "judge-1", **described}
        url = f"{context.__enter__()}/v1"
        return app, Judge(provider=provider, base_url=url, api_key_env="JUDGE_KEY", **described)

    yield make
    for context in running:
        context.__exit__(None, None, None)


def test_one_question_to_each_judge(judge_of, template):
    servers, judges = {}, {}
    for provider in ("openai", "anthropic", "gemini"):
        servers[provider], judges[provider] = judge_of(provider)
    found = probe_judges(judges, template)
    assert [each.judge for each in found] == list(judges)
    for each in found:
        [asked] = servers[each.provider].asked()
        assert "lost dog" in asked
        assert each.outcome in ("first", "second")
        assert (each.answered_by, each.input_tokens, each.error) == ("judge-1-0611", 90, "")
        assert each.line().startswith(f"{each.judge}: judge-1-0611 at {each.provider}; answered ")
    assert found[0].requested == {"max_completion_tokens": 64}


@pytest.mark.parametrize(
    ("provider", "body", "thought"),
    [
        ("anthropic", message("A"), False),
        ("anthropic", message(THOUGHT, "A"), True),
        ("gemini", candidate("A"), True),
        ("gemini", {**candidate("A"), "usageMetadata": {}}, False),
        ("gemini", {**candidate({"text": "hm", "thought": True}, "A"), "usageMetadata": {}}, True),
        ("deepseek", {**completion("A", reasoning_content="hm"), "usage": {}}, True),
        ("deepseek", {**completion("A", reasoning_content=""), "usage": {}}, False),
        ("vllm", {**completion("<think>hm</think>A"), "usage": {}}, True),
    ],
)
def test_reasoning_is_seen_wherever_it_hides(judge_of, template, provider, body, thought):
    _, judge = judge_of(provider, Reaction(body=body))
    [found] = probe_judges({"j": judge}, template)
    assert (found.thought, found.outcome) == (thought, "first")
    assert ("no reasoning" in found.line()) is not thought


def test_an_error_is_found_and_the_others_are_asked(judge_of, template, monkeypatch):
    _, fine = judge_of("openai")
    _, refused = judge_of("openai", Reaction(404, {"error": {"message": f"no model {KEY}"}}))
    judges = {"fine": fine, "refused": refused}
    judges["keyless"] = fine.model_copy(update={"api_key_env": "NO_SUCH_KEY"})
    judges["unsuited"] = fine.model_copy(update={"settings": {"stream": True}})
    fine_one, *others = probe_judges(judges, template)
    assert fine_one.error == ""
    told = [each.line() for each in others]
    assert "refused: no answer: " in told[0]
    assert "HTTP 404: no model [redacted]; check `model`" in told[0]
    assert "NO_SUCH_KEY is not set; put the key there" in told[1]
    assert "'stream' is not a sampling setting" in told[2]


@pytest.fixture
def project(tmp_path, judge_of):
    """A folder with what a run needs, and a judge on loopback."""
    server, judge = judge_of("openai")
    for name in ("config", "scenarios"):
        (tmp_path / name).symlink_to(ROOT / name)
    judges = {"judge-1": judge.model_dump(mode="json")}
    (tmp_path / "judges.yaml").write_text(yaml.safe_dump(judges))
    run = {"runs": {"small": {"judges": ["judge-1"]}}, "judges_file": "judges.yaml"}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run))
    return tmp_path, server


def test_the_command_prints_a_line_a_judge_and_keeps_what_it_found(project):
    folder, server = project
    command = [sys.executable, "-c", "from moralscale.cli.main import main; main()"]
    done = subprocess.run(
        [*command, "probe", "run.yaml"], cwd=folder, capture_output=True, text=True, env=os.environ
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("judge-1: judge-1-0611 at openai; answered ")
    assert len(done.stdout.splitlines()) == len(server.requests) == 1
    written = (folder / "results/small/probe.json").read_text()
    [kept] = json.loads(written)
    assert kept["requested"] == {"max_completion_tokens": 64}
    assert "sk-planted" not in written


def test_simulated_judges_are_not_probed():
    with pytest.raises(ConfigError, match="no run asks real judges; name judges under"):
        probe_runs(ROOT / "config/config.yaml", root=ROOT)
