"""Runs of real judges and of imported judgments, from configuration to report."""

import hashlib
import json
import os
import re
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
import yaml
from servers import ANSWERS, ProviderServer, Reaction, prompt_of, protocol_of, serve
from test_workflow import copy_project, snakemake

from moralscale.config import load_judges
from moralscale.design import make_composites
from moralscale.importing import import_from_files
from moralscale.journal import read_attempts
from moralscale.scenes import load_scenes

KEY = "sk-planted-7f/3+Zq"
#: Judge, provider, model.
PANEL = [("fine", "openai", "m-1"), ("locked-out", "anthropic", "m-2"), ("dear", "gemini", "m-3")]
#: So small that nothing can be learnt from it: what is tested is the way from end to end.
SMALL = {
    "scenes": "scenarios/tiny.csv",
    "fits": {"data": ["study"]},
    "design": {"judgments": {"single": 150, "composite": 480, "bridge": 0}},
    "sampler": {"chains": 2, "tune": 100, "draws": 50, "thin": 1},
    "gates": {
        **{"rhat": 9.0, "ess": 1, "divergences": 1000, "ebfmi": 0},
        **{"calibration": 1e-12, "pareto_k": 1000},
    },
    "twostep": {"orders": 2, "splits": 1, "rounds": 20},
}
#: Comparisons of each judge.
EACH = 210


def weight(text: str) -> float:
    """A number that goes with a text, from 0 to 1."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def choosing(provider):
    """Prefer what weighs more, now and then not; decline where the lightest act is shown."""

    def react(number, request):
        if number == 2:  # a fault that tells the key to everybody
            told = f"key {KEY} at {quote(KEY)}"
            return Reaction(503, {"error": {"message": told}}, headers={"x-request-id": KEY})
        prompt = prompt_of(request)
        options, acts = [], []
        for line in prompt.splitlines():
            if line.startswith("- "):
                acts.append(weight(line))
            elif acts:
                options.append(acts)
                acts = []
        first, second = (sum(option) for option in options)
        text = "A" if first - second + 2 * (weight(prompt) - 0.5) > 0 else "B"
        if min(map(min, options)) < 0.05:
            text = "I'm sorry, but I can't make that decision."
        return Reaction(body=ANSWERS[protocol_of(provider)](text))

    return react


def votes(scenes, composites):
    """Judgments as somebody else would write them: the winner by name, a tie here and there."""
    rng = np.random.default_rng(1)
    pools = [scenes["id"].to_numpy()] * 60 + [composites["composite_id"].to_numpy()] * 60
    rows = []
    for model in ("lab/m-1", "lab/m-2"):
        for number, pool in enumerate(pools):
            left, right = rng.choice(pool, 2, replace=False)
            stronger = left if weight(left) + rng.normal() / 3 > weight(right) else right
            winner = "even" if number % 20 == 0 else stronger
            rows.append({"model": model, "l": left, "r": right, "winner": winner, "id": len(rows)})
    return rows


def write_yaml(folder, **files):
    for name, content in files.items():
        (folder / f"config/{name}.yaml").write_text(yaml.safe_dump(content))


def write_import(folder):
    """Write somebody else's judgments; what the import says of them."""
    scenes = load_scenes(folder / "scenarios/scenes.csv")
    tiny = scenes.groupby(["foundation", "intensity"]).head(1)
    tiny.to_csv(folder / SMALL["scenes"], index=False)
    composites = make_composites(tiny, realisations=1, seed=5)
    composites[["composite_id", "scene_a", "scene_b"]].to_csv(folder / "theirs.csv", index=False)
    lines = [json.dumps(row) for row in votes(tiny, composites)]
    (folder / "votes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    columns = {"judge": "model", "first": "l", "second": "r", "outcome": "winner"}
    return {
        "file": "votes.jsonl",
        "composites": "theirs.csv",
        "winner": "contestant",
        "outcomes": {"even": "tie"},
        "columns": columns | {"comparison_id": "id"},
        "judges": {"lab/m-1": "m-1", "lab/m-2": "m-2"},
    }


def described(provider, model, url):
    return {
        "provider": provider,
        "model": model,
        "base_url": f"{url}/v1",
        "api_key_env": f"KEY_{model[-1]}",
        "settings": {"max_tokens": 16},
    }


@dataclass
class Story:
    """What came of a first run, in which two of three judges stop, and of the same run again."""

    folder: Path
    first: subprocess.CompletedProcess[str]
    logs: dict[str, str]
    shards: set[str]
    asked: list[int]
    paid: int
    in_all: list[int]


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """Three judges on loopback and an import: the key of one is refused, one's budget is spent."""
    folder = copy_project(tmp_path_factory.mktemp("real"))
    runs = {
        "loopback": {"judges": [name for name, *_ in PANEL], "budget": 5},
        "elsewhere": {"import": write_import(folder)},
    }
    dated = {"input": 10, "output": 100, "read": "2026-11-30", "source": "nowhere"}
    prices = {"models": {model: dated for *_, model in PANEL}}
    results = folder / "results/loopback"
    with ExitStack() as stack:
        servers = [ProviderServer(provider=provider, key=KEY) for _, provider, _ in PANEL]
        judges = {}
        for server, (name, provider, model) in zip(servers, PANEL, strict=True):
            server.react = choosing(provider)
            judges[name] = described(provider, model, stack.enter_context(serve(server)))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for number in (1, 2, 3):
            patch.setenv(f"KEY_{number}", KEY if number != 2 else "sk-bad")
        judges["dear"]["budget"] = 0.03
        write_yaml(folder, real={**SMALL, "runs": runs}, judges=judges, prices=prices)
        target = "results/loopback/tables/outcomes.csv"
        first = snakemake(folder, target, "--keep-going", "--configfile", "config/real.yaml")
        logs = {path.stem: path.read_text() for path in results.glob("logs/collect-*.log")}
        shards = {path.stem for path in results.glob("judgments/shards/*.parquet")}
        asked = [len(server.requests) for server in servers]
        paid = sum(not each["error"] for each in read_attempts(results / "journal/dear.jsonl"))

        patch.setenv("KEY_2", KEY)
        judges["dear"]["budget"] = 4
        write_yaml(folder, judges=judges)
        targets = [
            "results/loopback/manifest.json",
            "results/elsewhere/tables/outcomes.csv",
            "results/elsewhere/tables/missingness.csv",
        ]
        done = snakemake(folder, *targets, "--configfile", "config/real.yaml")
        in_all = [len(server.requests) for server in servers]
    assert done.returncode == 0, done.stderr[-5000:]
    return Story(folder, first, logs, shards, asked, paid, in_all)


def test_one_judge_stops_and_the_others_go_on(story):
    assert story.first.returncode != 0
    assert story.shards == {"fine"}
    told = story.logs["collect-locked-out"].splitlines()[-1]
    assert told.endswith("HTTP 401: invalid key; check the key in KEY_2")
    assert "of the budget of 0.03 USD for this judge" in story.logs["collect-dear"]
    # One more than comparisons: the fault.
    assert story.asked == [EACH + 1, 1, story.paid + 1]
    assert 0 < story.paid <= 15


def test_a_second_run_asks_only_what_is_open(story):
    # Each comparison once, the fault and the probe; the judge that was locked out, once more.
    assert story.in_all == [EACH + 2, EACH + 3, EACH + 2]


def test_three_providers_at_once_go_through_fit_and_report(story):
    results = story.folder / "results/loopback"
    judgments = pd.read_parquet(results / "judgments/judgments.parquet")
    assert set(judgments["origin"]) == {"live"}
    assert judgments.groupby("judge").size().to_dict() == {name: EACH for name, *_ in PANEL}
    assert set(judgments["outcome"]) == {"first", "second", "refusal"}
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "Judgments: live" in page
    assert "Does it depend on the content what is missing?" in page
    assert (results / "figures/missingness.pdf").is_file()
    manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["origin"] == "live"


def test_what_is_missing_is_counted_and_found_to_depend_on_content(story):
    tables = story.folder / "results/loopback/tables"
    counts = pd.read_csv(tables / "missingness.csv")
    assert (counts["planned"] == counts["used"] + counts["declined"]).all()
    assert counts["declined"].sum() > 0
    tests = pd.read_csv(tables / "missingness_test.csv")
    assert tests.loc[tests["kind"] == "declined", "p_adjusted"].min() < 0.05


def test_no_key_is_in_any_file(story):
    kept = [path for path in story.folder.rglob("*") if path.is_file()]
    assert [path for path in kept if path.is_relative_to(story.folder / ".snakemake/log")]
    assert len(kept) > 100
    for key in (KEY, quote(KEY), "sk-bad"):
        assert not [path for path in kept if key.encode() in path.read_bytes()]
        assert key not in story.first.stdout + story.first.stderr


def test_imported_judgments_become_judgments_like_others(story):
    results = story.folder / "results/elsewhere"
    judgments = pd.read_parquet(results / "judgments/judgments.parquet")
    assert set(judgments["origin"]) == {"imported"}
    assert len(judgments) == 240
    assert set(judgments["judge"]) == {"m-1", "m-2"}
    assert (judgments["outcome"] == "tie").sum() == 12
    counts = pd.read_csv(results / "tables/missingness.csv")
    assert (counts["planned"] == counts["valid"]).all()
    # What follows is what follows for all others, and the manifest lists the files that came in.
    rest = ("-n", "--configfile", "config/real.yaml", "--forcerun", "manifest")
    planned = snakemake(story.folder, "results/elsewhere/manifest.json", *rest)
    assert planned.returncode == 0, planned.stderr
    for name in ("rule fit:", "rule report:", "votes.jsonl", "theirs.csv"):
        assert name in planned.stdout
    assert "rule import_judgments:" not in planned.stdout


def test_the_shipped_example_can_be_imported(project):
    settings = yaml.safe_load((project / "config/import.yaml").read_text())
    (run,) = settings["runs"].values()
    scenes = load_scenes(project / "scenarios/scenes.csv")
    composites = make_composites(scenes, realisations=1, seed=20260611)
    path = project / "composites.parquet"
    composites.to_parquet(path)
    source = run["import"] | {"file": str(project / run["import"]["file"])}
    table = import_from_files(
        source, scenes=str(project / "scenarios/scenes.csv"), composites=str(path)
    )
    assert table.groupby("arena").size().to_dict() == {
        "single": 1500,
        "composite": 900,
        "bridge": 300,
    }
    done = snakemake(project, "-n", "--configfile", "config/import.yaml")
    assert done.returncode == 0, done.stderr
    assert "import_judgments" in done.stdout
    # Priors are held against what somebody asked: there is no schedule.
    assert re.search(r"rule prior_predictive:\n +input: .*judgments\.parquet", done.stdout)


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path)


def test_the_frontier_run_is_planned_without_a_key_and_names_every_missing_one(
    project, monkeypatch
):
    judges = load_judges(project / "config/judges.yaml")
    asked = yaml.safe_load((project / "config/frontier.yaml").read_text())["runs"]["frontier"]
    keys = {judges[name].api_key_env for name in asked["judges"]}
    for key in keys & set(os.environ):
        monkeypatch.delenv(key)
    planned = snakemake(project, "-n", "--configfile", "config/frontier.yaml")
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.count("rule collect:") == 10
    run = snakemake(project, "--configfile", "config/frontier.yaml")
    assert run.returncode == 2
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
    assert all(key in line for key in keys)
    assert all(name in line for name in asked["judges"])
    assert not (project / "results").exists()
