"""The workflow as a user runs it, in a copy of the project's data and rules."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import nbformat
import pandas as pd
import pytest
import yaml
from nbclient import NotebookClient

import dictionary
from moralscale.printing import number
from moralscale.provenance import verify

ROOT = Path(__file__).parents[2]
CONFIG, SCENES = "config/config.yaml", "scenarios/scenes.csv"
FIGURES = {
    "beta",
    "composites",
    "convergence",
    "foundation_residuals",
    "intensity_sums",
    "position_bias",
    "scenes",
}


def copy_project(folder):
    for name in ("config", "examples", "scenarios", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, folder)
    return folder


def snakemake(folder, *arguments):
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project in which the quick run has finished."""
    folder = copy_project(tmp_path_factory.mktemp("quick"))
    done = snakemake(folder, "--configfile", "config/quick.yaml")
    assert done.returncode == 0, done.stderr[-5000:]
    return folder


def test_default_target_is_the_whole_reproduction(project):
    done = snakemake(project, "-n")
    assert done.returncode == 0, done.stderr
    for run in ("compressed", "noisy-additive"):
        assert f"results/{run}/report.html" in done.stdout
        assert f"results/{run}/manifest.json" in done.stdout
        for data in ("study", "bridged"):
            assert f"results/{run}/fits/{data}/compressed/default/posterior.nc" in done.stdout
    assert "results/comparison/figures/identification.simulated.pdf" in done.stdout


class Job(NamedTuple):
    """A job of a dry run."""

    rule: str
    inputs: frozenset[str]
    outputs: frozenset[str]
    priority: int
    threads: int


def planned_jobs(folder, cores):
    """Read the jobs of the default run for a machine of so many cores off a dry run."""
    done = snakemake(folder, "-n", "--cores", str(cores))
    assert done.returncode == 0, done.stderr
    jobs = []
    for block in re.split(r"^(?:local)?rule (?=\w+:$)", done.stdout, flags=re.MULTILINE)[1:]:
        fields = dict(re.findall(r"^    (\w+): (.*)$", block, flags=re.MULTILINE))
        files = [
            frozenset(filter(None, fields.get(kind, "").split(", ")))
            for kind in ("input", "output")
        ]
        numbers = int(fields.get("priority", 0)), int(fields.get("threads", 1))
        jobs.append(Job(block.split(":")[0], *files, *numbers))
    return jobs


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """Jobs of the default run by cores, from one dry run each."""
    return cache(partial(planned_jobs, copy_project(tmp_path_factory.mktemp("plan"))))


@pytest.mark.parametrize(("cores", "threads"), [(2, 1), (8, 2), (16, 4), (64, 4)])
def test_fits_share_the_cores_of_a_machine(plan, cores, threads):
    fits = [job for job in plan(cores) if job.rule == "fit"]
    assert [job.threads for job in fits] == [threads] * 4


def test_no_part_of_the_plan_for_eight_cores_is_serial_for_longer_than_a_fit(plan):
    """All but fits are given half of a fit's time, as much as the longest of them takes."""
    jobs = plan(8)
    inputs, outputs = (set().union(*(job[k] for job in jobs)) for k in (1, 2))
    made, waiting, left = inputs - outputs, sorted(jobs, key=lambda job: -job.priority), {}
    alone = longest = 0
    while waiting or left:
        for job in waiting:
            busy = sum(running.threads for running in left)
            if job.inputs <= made and busy + job.threads <= 8:
                left[job] = 2 if job.rule == "fit" else 1
        waiting = [job for job in waiting if job not in left]
        assert left, waiting
        alone = alone + 1 if len(left) == 1 else 0
        longest = max(longest, alone)
        left = {job: turns - 1 for job, turns in left.items()}
        made = made.union(*(job.outputs for job, turns in left.items() if not turns))
        left = {job: turns for job, turns in left.items() if turns}
    assert 0 < longest <= 2


def test_runs_of_one_configuration_have_their_own_corpus_language_and_prompt(project):
    done = snakemake(project, "-n", "--configfile", "config/languages.yaml")
    assert done.returncode == 0, done.stderr
    asked = re.findall(r"rule collect:\n    input: (.*)\n    output: (.*)\n", done.stdout)
    assert len(asked) == 6
    for inputs, output in asked:
        french = output.startswith("results/fr/")
        assert ("scenarios/scenes.fr.csv" in inputs) == french
        assert ("config/prompts/fr.yaml" in inputs) == french
        assert ("config/prompts/trolley.yaml" in inputs) != french
    assert "results/comparison/en/fr/runs.simulated.csv" in done.stdout


def test_quick_run_ends_with_tables_figures_report_and_manifest(finished):
    results = finished / "results/quick"
    for data in ("study", "bridged"):
        checks = pd.read_csv(results / f"checks/{data}/compressed/default/checks.csv")
        assert checks["passed"].all()
        folder = results / f"figures/{data}/compressed/default"
        for extension in ("pdf", "svg", "png"):
            names = {path.name for path in folder.glob(f"*.{extension}")}
            assert names == {f"{figure}.simulated.{extension}" for figure in FIGURES}
    assert not (finished / "results/comparison").exists()  # there is nothing to compare with
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "simulated" in page.lower()
    manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["origin"] == "simulated"
    assert "scenarios/scenes.csv" in manifest["inputs"]
    assert "results/quick/judgments/judgments.parquet" in manifest["outputs"]


def test_quick_run_asks_what_was_designed_and_keeps_every_answer(finished):
    results = finished / "results/quick"
    counts = yaml.safe_load((finished / "config/quick.yaml").read_text())["design"]["judgments"]
    judgments = pd.read_parquet(results / "judgments/judgments.parquet")
    assert judgments.groupby("arena").size().to_dict() == counts
    assert judgments["outcome"].isin(["first", "second"]).all()
    assert set(judgments["origin"]) == {"simulated"}
    journals = [path.read_text(encoding="utf-8") for path in results.glob("journal/*.jsonl")]
    assert sum(len(text.splitlines()) for text in journals) == sum(counts.values())


def test_tables_hold_estimates_beside_truth_and_published_figures(finished):
    tables = finished / "results/quick/tables"
    recovery = pd.read_csv(tables / "recovery.csv", keep_default_na=False)
    bridged = recovery[(recovery["data"] == "bridged")].set_index(["quantity", "index", "unit"])
    assert bridged.loc[("beta", "", "ratio"), "truth"] == pytest.approx(1.0)
    assert bridged.loc[("composite_consistency", "", "ratio"), "truth"] == pytest.approx(0.862)
    assert set(recovery["covered"].astype(str)) <= {"True", "False"}
    published = pd.read_csv(tables / "published.csv", keep_default_na=False)
    assert set(published["data"]) == {"study", "bridged"}
    assert 0.862 in published["published"].to_list()


def test_the_study_s_estimators_stand_beside_the_joint_model(finished):
    results = finished / "results/quick"
    table = pd.read_csv(results / "tables/study.csv", keep_default_na=False)
    slope = table[table["quantity"] == "slope"].iloc[0]
    for name in ("published", "truth", "elo", "mle_split_half", "joint_study", "joint_bridged"):
        assert 0 < float(slope[name]) < 2
    assert slope["origin"] == "simulated"
    assert (results / "figures/slopes.simulated.pdf").is_file()
    assert len(pd.read_csv(results / "ratings/lines.csv")) == 4 * 3


#: What names in the dictionary's paths stand for.
STANDS_FOR = {"FIT": "[^/]+/[^/]+/[^/]+", "ARENA": "(single|composite|bridge)", "N": r"\d+"}
ESTIMATOR = re.compile(r"^(elo|elo_averaged|mle|mle_split_half|joint_\w+?)(_low|_high)?$")


def in_dictionary(name, path):
    """Whether a path of the dictionary is that of a file."""
    pattern = re.sub(
        r"\b[A-Z]+\b", lambda m: STANDS_FOR.get(m[0], "[^/]+"), re.escape(name).replace("\\-", "-")
    )
    return re.fullmatch(pattern, path.replace(".simulated", "")) is not None


def columns_of(path):
    read = pd.read_csv if path.suffix == ".csv" else pd.read_parquet
    names = read(path).columns
    return list(dict.fromkeys(ESTIMATOR.sub(r"ESTIMATOR\2", name) for name in names))


def test_the_data_dictionary_has_every_column_of_a_run(finished):
    documented = [
        (name, list(table["columns"]))
        for table in dictionary.tables(ROOT)
        for name in [table["file"], *table.get("also", [])]
    ]
    seen = 0
    for path in sorted((finished / "results/quick").rglob("*")):
        if path.suffix in {".csv", ".parquet"}:
            name = path.relative_to(finished).as_posix()
            known = [columns for other, columns in documented if in_dictionary(other, name)]
            assert known == [columns_of(path)], f"{name}: see docs/dictionary.yaml"
            seen += 1
    assert seen > 20


def test_a_finished_run_has_nothing_left_to_do(finished):
    done = snakemake(finished, "-n", "--configfile", "config/quick.yaml")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_failed_gate_stops_the_run_and_keeps_the_posterior(finished, tmp_path):
    folder = tmp_path / "strict"
    shutil.copytree(finished, folder)
    config = yaml.safe_load((folder / "config/quick.yaml").read_text())
    config["gates"]["ess"] = 1_000_000
    (folder / "config/strict.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(folder, "--configfile", "config/strict.yaml")
    assert done.returncode != 0
    assert "smallest ess_bulk" in done.stderr
    assert (folder / "results/quick/fits/study/compressed/default/posterior.nc").is_file()


def test_same_seed_gives_the_same_judgments_byte_for_byte(finished, tmp_path):
    copy_project(tmp_path)
    target = "results/quick/judgments/judgments.parquet"
    done = snakemake(tmp_path, target, "--configfile", "config/quick.yaml")
    assert done.returncode == 0, done.stderr[-5000:]
    assert (tmp_path / target).read_bytes() == (finished / target).read_bytes()


def test_the_two_panels_answer_the_study_arenas_alike_and_the_bridge_not(project):
    config = yaml.safe_load((project / "config/config.yaml").read_text())
    for panel in config["panels"].values():
        panel["judges"] = 2
    config["design"] = {"judgments": {"single": 600, "composite": 400, "bridge": 1000}}
    (project / "config/two.yaml").write_text(yaml.safe_dump(config))
    targets = [f"results/{run}/judgments/judgments.parquet" for run in config["runs"]]
    done = snakemake(project, *targets, "--configfile", "config/two.yaml")
    assert done.returncode == 0, done.stderr[-5000:]
    compressed, additive = (pd.read_parquet(project / target) for target in targets)
    differ = (compressed["outcome"] != additive["outcome"]).groupby(compressed["arena"]).sum()
    assert differ["single"] == 0
    assert differ["composite"] == 0
    assert differ["bridge"] > 0


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (CONFIG, "panels:", "panls:", [CONFIG, "panls", "panels"]),
        (SCENES, "care-m2-02,", "care-m2-01,", [SCENES, "row 3", "care-m2-01"]),
    ],
)
def test_bad_input_is_one_line_before_anything_runs(project, file, old, new, words):
    path = project / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    done = snakemake(project)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    line = next(line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert all(word in line for word in words)
    assert not (project / "results").exists()


def test_figures_of_the_workflow_are_those_of_the_package():
    from moralscale.figures import FIGURES as KNOWN

    assert set(KNOWN) == FIGURES


def test_terminal_notebook_and_report_agree_to_the_printed_digit(finished, monkeypatch):
    results = finished / "results/quick"
    code = "from moralscale.cli.main import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", code, "summary", str(results), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = {row["label"]: row for row in json.loads(said.stdout)["quantities"]}
    monkeypatch.setenv("MORALSCALE_RUN", str(results))
    notebook = nbformat.read(ROOT / "notebooks/inspect.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # committed without outputs
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": ROOT}}).execute()
    shown = "".join(
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    )
    page = re.sub(r"<[^>]+>", "", (results / "report.html").read_text(encoding="utf-8"))
    for label in ("beta, compression slope", "residual of care (Elo)", "residual of loyalty (Elo)"):
        row = rows[label]
        mean, low, high = (number(row[k], row["unit"]) for k in ("mean", "hdi_low", "hdi_high"))
        assert f"<td>{label}</td>\n      <td>{mean}</td>" in shown
        assert f"<td>[{low}, {high}]</td>" in shown
        assert f"{mean} [{low}, {high}]" in page
    macros = (results / "numbers/macros.tex").read_text(encoding="utf-8")
    beta = rows["beta, compression slope"]
    assert f"moralscale@bridged.beta\\endcsname{{{number(beta['mean'], 'ratio')}}}" in macros


def test_every_file_of_a_run_is_listed_and_one_flipped_byte_of_any_is_found(finished, tmp_path):
    assert verify(finished / "results/quick").passed
    copy = shutil.copytree(finished, tmp_path / "copy")
    run = copy / "results/quick"
    listed = [path for path in run.rglob("*") if path.is_file() and path.stat().st_size]
    unlisted = {".snakemake_timestamp", "manifest.json"}
    flipped = [p for p in listed if p.name not in unlisted and p.suffix != ".lock"]
    for path in flipped:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    changed = verify(run).changed
    assert set(changed) == {str(path.relative_to(copy)) for path in flipped}


def test_a_run_becomes_an_archive_that_can_be_verified(finished):
    done = snakemake(finished, "crate", "--configfile", "config/quick.yaml")
    assert done.returncode == 0, done.stderr[-5000:]
    assert verify(finished / "results/crates/quick.zip").passed
