"""Runs of real judges and of imported judgments, from configuration to report."""

import hashlib
import json
import os
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
import yaml
from servers import ANSWERS, ProviderServer, Reaction, prompt_of, protocol_of, serve
from test_workflow import copy_project, snakemake

from moralscale.config import load_judges
from moralscale.design import make_composites
from moralscale.importing import import_from_files
from moralscale.scenes import load_scenes

KEY = "sk-planted-7f/3+Zq"
#: Judge, provider, model, settings.
PANEL = [
    ("one", "openai", "model-1", {"max_tokens": 16}),
    ("two", "anthropic", "model-2", {"max_tokens": 16}),
    ("three", "gemini", "model-3", {"max_tokens": 16}),
]
#: So small that nothing can be learnt from it: what is tested is the way from end to end.
SMALL = {
    "scenes": "scenarios/tiny.csv",
    "fits": {"data": ["study"]},
    "design": {"judgments": {"single": 150, "composite": 480, "bridge": 0}},
    "sampler": {"chains": 2, "tune": 150, "draws": 50, "thin": 1},
    "gates": {"rhat": 9.0, "ess": 1, "divergences": 1000, "ebfmi": 0, "calibration": 1e-12},
}


def weight(text: str) -> float:
    """A number that goes with a text, from 0 to 1."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def choosing(provider):
    """Prefer what weighs more, now and then not; decline where the lightest act is shown."""

    def react(number, request):
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


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project in which three judges on loopback and an import have finished."""
    folder = copy_project(tmp_path_factory.mktemp("real"))
    scenes = load_scenes(folder / "scenarios/scenes.csv")
    tiny = scenes.groupby(["foundation", "intensity"]).head(1)
    tiny.to_csv(folder / SMALL["scenes"], index=False)
    composites = make_composites(tiny, realisations=1, seed=5)
    composites[["composite_id", "scene_a", "scene_b"]].to_csv(folder / "theirs.csv", index=False)
    lines = [json.dumps(row) for row in votes(tiny, composites)]
    (folder / "votes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    imported = {
        "file": "votes.jsonl",
        "composites": "theirs.csv",
        "winner": "contestant",
        "outcomes": {"even": "tie"},
        "columns": {"judge": "model", "first": "l", "second": "r", "outcome": "winner"},
        "judges": {"lab/m-1": "m-1", "lab/m-2": "m-2"},
    }
    imported["columns"]["comparison_id"] = "id"
    runs = {"loopback": {"judges": [name for name, *_ in PANEL], "budget": 5}}
    config = {**SMALL, "runs": {**runs, "elsewhere": {"import": imported}}}
    (folder / "config/real.yaml").write_text(yaml.safe_dump(config))
    with ExitStack() as stack:
        servers = {name: ProviderServer(provider=provider, key=KEY) for name, provider, *_ in PANEL}
        judges, prices = {}, {}
        for name, provider, model, settings in PANEL:
            servers[name].react = choosing(provider)
            url = stack.enter_context(serve(servers[name]))
            judges[name] = {
                "provider": provider,
                "model": model,
                "base_url": f"{url}/v1",
                "api_key_env": "PLANTED_KEY",
                "settings": settings,
            }
            price = {"input": 1, "output": 2, "read": "2026-11-30", "source": "nowhere"}
            prices[model] = price
        (folder / "config/judges.yaml").write_text(yaml.safe_dump(judges))
        (folder / "config/prices.yaml").write_text(yaml.safe_dump({"models": prices}))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PLANTED_KEY", KEY)
            done = snakemake(folder, "--configfile", "config/real.yaml")
    assert done.returncode == 0, done.stderr[-5000:]
    return folder, servers


def test_three_providers_at_once_go_through_fit_and_report(finished):
    folder, servers = finished
    results = folder / "results/loopback"
    judgments = pd.read_parquet(results / "judgments/judgments.parquet")
    assert set(judgments["origin"]) == {"live"}
    assert judgments.groupby("judge").size().to_dict() == {"one": 210, "two": 210, "three": 210}
    # Each comparison once, and the probe.
    assert [len(server.requests) for server in servers.values()] == [211, 211, 211]
    assert set(judgments["outcome"]) == {"first", "second", "refusal"}
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "Judgments: live" in page
    assert "Does it depend on the content what is missing?" in page
    assert (results / "figures/missingness.pdf").is_file()
    manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["origin"] == "live"


def test_what_is_missing_is_counted_and_found_to_depend_on_content(finished):
    folder, _ = finished
    tables = folder / "results/loopback/tables"
    counts = pd.read_csv(tables / "missingness.csv")
    assert (counts["planned"] == counts["used"] + counts["declined"]).all()
    assert counts["declined"].sum() > 0
    tests = pd.read_csv(tables / "missingness_test.csv")
    assert tests.loc[tests["kind"] == "declined", "p_adjusted"].min() < 0.05


def test_no_key_is_in_any_file(finished):
    folder, _ = finished
    kept = [path for path in (folder / "results").rglob("*") if path.is_file()]
    assert len(kept) > 50
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


def test_imported_judgments_go_through_fit_and_report(finished):
    folder, _ = finished
    results = folder / "results/elsewhere"
    judgments = pd.read_parquet(results / "judgments/judgments.parquet")
    assert set(judgments["origin"]) == {"imported"}
    assert len(judgments) == 240
    assert set(judgments["judge"]) == {"m-1", "m-2"}
    assert (judgments["outcome"] == "tie").sum() == 12
    assert "Judgments: imported" in (results / "report.html").read_text(encoding="utf-8")
    estimates = pd.read_csv(results / "tables/estimates.csv")
    assert set(estimates["origin"]) == {"imported"}
    manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["origin"] == "imported"
    assert {"votes.jsonl", "theirs.csv"} <= set(manifest["inputs"])


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
