"""What a run would cost: counted on the questions that would be asked."""

import json
import shutil

import pandas as pd
import pytest
import yaml

from moralscale.attempts import AttemptUnderWay
from moralscale.cli.main import main
from moralscale.config import JudgmentCounts, check_keys, load_judges, read_config
from moralscale.design import make_composites, make_schedule
from moralscale.errors import ConfigError, TransientError
from moralscale.estimate import (
    ANSWER_TOKENS,
    CHARACTERS_PER_TOKEN,
    MARGIN,
    REQUEST_TOKENS,
    estimate_cost,
    questions,
    to_table,
)
from moralscale.journal import open_journal
from moralscale.providers import make_provider
from moralscale.providers.base import key_of
from moralscale.records import Reply
from moralscale.scenes import load_scenes

JUDGE = {
    "provider": "compatible",
    "model": "judge-1",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": "JUDGE_KEY",
    "settings": {"max_tokens": 64},
}
JUDGES = {
    "plain": {**JUDGE, "reasoning_tokens": 100},
    "batched": {**JUDGE, "provider": "openai", "transport": "batch"},
    "unpriced": {**JUDGE, "model": "judge-2", "settings": {}},
    "keyless": {**JUDGE, "model": "judge-2", "api_key_env": ""},
}
CONFIG = {
    "runs": {"small": {"judges": list(JUDGES), "budget": 0.01, "judge_budget": 20}},
    "design": {"judgments": {"single": 920, "composite": 640, "bridge": 0}},
    "fits": {"data": ["study"]},
}
#: Comparisons of each judge.
N = 390
PRICE = "models:\n  judge-1: {input: 2, output: 10, read: 2026-11-30, source: a page}\n"


@pytest.fixture
def folder(tmp_path, project):
    """A project with four judges, of which two have a price."""
    for name in ("config", "scenarios"):
        shutil.copytree(project / name, tmp_path / name)
    (tmp_path / "config/judges.yaml").write_text(yaml.safe_dump(JUDGES))
    (tmp_path / "config/prices.yaml").write_text(PRICE)
    (tmp_path / "config/small.yaml").write_text(yaml.safe_dump(CONFIG))
    return tmp_path


def reckoned(folder, **design):
    config = {**CONFIG, "design": {**CONFIG["design"], **design}}
    (folder / "config/small.yaml").write_text(yaml.safe_dump(config))
    found = estimate_cost(read_config(folder / "config/small.yaml", root=folder), root=folder)
    return {one.judge: one for one in found}


def test_tokens_are_counted_on_the_rendered_prompts_and_priced(folder):
    found = reckoned(folder)
    assert list(found) == list(JUDGES)
    plain, batched = found["plain"], found["batched"]
    assert plain.planned == plain.remaining == N
    assert plain.output_tokens == N * (ANSWER_TOKENS + 100)
    characters = (plain.input_tokens - N * REQUEST_TOKENS) / (1 + MARGIN) * CHARACTERS_PER_TOKEN
    template = yaml.safe_load((folder / "config/prompts/trolley.yaml").read_text())["text"]
    assert len(template) < characters / N < 2 * len(template)
    assert plain.cost == pytest.approx((2 * plain.input_tokens + 10 * plain.output_tokens) / 1e6)
    assert plain.cost_limit == pytest.approx((2 * plain.input_tokens + 10 * 64 * N) / 1e6)
    assert batched.cost == pytest.approx((batched.input_tokens + 5 * batched.output_tokens) / 1e6)
    assert plain.budget == 20


def test_an_unknown_price_is_unknown_and_no_key_is_no_bill(folder):
    found = reckoned(folder)
    assert found["unpriced"].cost is None
    assert found["unpriced"].cost_limit is None
    assert found["keyless"].cost == 0
    table = to_table(list(found.values())).set_index("judge")
    assert pd.isna(table.loc["unpriced", "cost"])
    assert table.loc["plain", "price_read"] == "2026-11-30"


def test_repeats_and_both_orders_are_asked_too(folder):
    once = reckoned(folder)["plain"]
    assert reckoned(folder, repeats=3)["plain"].planned == 3 * once.planned
    both = reckoned(folder, orders="both")["plain"]
    assert (both.planned, both.input_tokens) == (2 * once.planned, 2 * once.input_tokens)


@pytest.mark.parametrize("pairing", ["balanced", "information"])
def test_questions_are_those_of_the_schedule(folder, pairing):
    text = yaml.safe_dump({**CONFIG, "design": {**CONFIG["design"], "pairing": pairing}})
    (folder / "config/small.yaml").write_text(text)
    config = read_config(folder / "config/small.yaml", root=folder)
    scenes = load_scenes(folder / config.scenes)
    composites = make_composites(scenes, realisations=config.design.realisations, seed=config.seed)
    scheduled = make_schedule(
        "single",
        scenes,
        composites,
        list(JUDGES),
        judgments=920,
        repeats=config.design.repeats,
        prompts=config.prompts_of("small"),
        pairing=pairing,
        seed=config.seed,
    )
    for judge, asks in questions(config, "small", folder):
        asked = asks.schedule[asks.schedule["arena"] == "single"]["comparison_id"]
        assert set(asked) == set(scheduled[scheduled["judge"] == judge]["comparison_id"])


def test_what_the_journal_answers_is_not_counted(folder):
    before = reckoned(folder)["plain"]
    two = {**CONFIG, "runs": {"small": {"judges": ["plain", "batched"]}}}
    (folder / "config/small.yaml").write_text(yaml.safe_dump(two))
    config = read_config(folder / "config/small.yaml", root=folder)
    judge = load_judges(folder / "config/judges.yaml")["plain"]
    provider = make_provider("plain", judge)
    asks = list(dict(questions(config, "small", folder))["plain"])[:3]
    path = folder / "results/small/journal/plain.jsonl"
    with open_journal(path) as journal:
        whole, cut, failed = (
            AttemptUnderWay(provider, ask, key_of(provider, ask), 1, {}) for ask in asks
        )
        journal.append(whole.answered(Reply("A", "stop"), again=False))
        journal.append(cut.answered(Reply("", "length"), again=True))
        journal.append(failed.failed(TransientError("overloaded")))
    one, other = estimate_cost(config, root=folder)
    assert (one.judge, one.planned, one.remaining) == ("plain", other.planned, other.planned - 1)
    assert before.remaining == before.planned
    assert one.output_tokens == one.remaining * (ANSWER_TOKENS + 100)


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["estimate", *arguments])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_command_prints_a_table_csv_and_json(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    shown = printed(capsys, "config/small.yaml")
    assert "no price of judge-2" in shown
    assert "above its budget of 0.01 USD" in shown
    assert "2026-11-30" in shown
    rows = json.loads(printed(capsys, "config/small.yaml", "--format", "json"))
    assert [row["judge"] for row in rows] == list(JUDGES)
    assert rows[2]["cost"] is None
    lines = printed(capsys, "config/small.yaml", "--format", "csv").splitlines()
    assert len(lines) == 1 + len(JUDGES)
    assert "nothing costs" in printed(capsys, "config/quick.yaml")


def test_the_panel_of_ten_is_priced_and_within_its_budget(project):
    config = read_config(project / "config/frontier.yaml", root=project)
    judges = load_judges(project / config.judges_file)
    run = config.runs["frontier"]
    assert len(run.judges) == 10
    assert len({judges[name].provider for name in run.judges}) == 9
    assert run.budget
    assert run.judge_budget
    counts = JudgmentCounts(single=2300, composite=1600, bridge=400)
    small = config.model_copy(
        update={"design": config.design.model_copy(update={"judgments": counts})}
    )
    assert all(one.cost for one in estimate_cost(small, root=project))


def test_a_file_without_runs_changes_the_default(folder, project):
    shutil.copy(project / "config/judges.yaml", folder / "config")
    (folder / "config/mine.yaml").write_text("design: {judgments: {single: 17}}\n")
    config = read_config(folder / "config/mine.yaml", root=folder)
    assert set(config.runs) == {"compressed", "noisy-additive"}
    assert (config.design.judgments.single, config.design.judgments.composite) == (17, 12_000)


def test_every_missing_key_is_named_at_once(folder, monkeypatch):
    judges = load_judges(folder / "config/judges.yaml")
    other = judges["plain"].model_copy(update={"api_key_env": "OTHER_KEY"})
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    monkeypatch.setenv("OTHER_KEY", " ")
    with pytest.raises(ConfigError, match=r"JUDGE_KEY \(for batched, plain, unpriced\), OTHER_KEY"):
        check_keys({**judges, "other": other})
    monkeypatch.setenv("JUDGE_KEY", "k")
    check_keys(judges)
