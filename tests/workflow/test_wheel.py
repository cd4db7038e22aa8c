"""The distributions, and what a user who has only the wheel can do in a folder of an odd name."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from moralscale.cli.main import main; main()"]


def run(command, folder, **environment):
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder of a wheel that was built from a source distribution, as `python -m build` does."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "-o", folder, ROOT], folder)
    return folder


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Where the wheel lies, installed without what it depends on."""
    place = tmp_path_factory.mktemp("plåce 'q'") / 'site "s"'
    wheel = next(built.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-index"]
    run([*pip, "--target", place, wheel], built)
    return place


def test_the_distributions_are_fit_for_an_index(built):
    names = sorted(path.suffix for path in built.iterdir())
    assert names == [".gz", ".whl"]
    said = run([sys.executable, "-m", "twine", "check", "--strict", *built.iterdir()], built)
    assert said.count("PASSED") == 2


def test_the_wheel_brings_along_what_the_package_reads(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if name.startswith("moralscale/")}
        corpus = wheel.read("moralscale/project/scenarios/scenes.csv")
    assert corpus == (ROOT / "scenarios/scenes.csv").read_bytes()
    for folder in ("config", "scenarios", "workflow"):
        files = {
            p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts
        }
        wanted = {f"moralscale/project/{path.relative_to(ROOT).as_posix()}" for path in files}
        assert {
            name for name in names if name.startswith(f"moralscale/project/{folder}/")
        } == wanted
    for data in ("report/page.css", "scaffold/config.yaml", "calibration/page.md.j2"):
        assert f"moralscale/{data}" in names
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_outside_the_repository_the_wheel_rates(installed, tmp_path):
    games = "first,second,outcome,n\na,b,first,7\na,b,second,3\n"
    (tmp_path / "gämes 1.csv").write_text(games, encoding="utf-8")
    where = run([sys.executable, "-c", "import moralscale; print(moralscale.__file__)"], tmp_path,
                PYTHONPATH=str(installed))  # fmt: skip
    assert Path(where.strip()).is_relative_to(installed)
    run([*COMMAND, "rate", "gämes 1.csv", "--no-position-bias", "--out", "r.csv"], tmp_path,
        PYTHONPATH=str(installed))  # fmt: skip
    rated = pd.read_csv(tmp_path / "r.csv").set_index("contestant")["strength"]
    assert rated["a"] - rated["b"] == pytest.approx(0.8472979, abs=1e-5)  # log(7 / 3)


def test_outside_the_repository_a_new_project_collects(installed, tmp_path):
    environment = {"PYTHONPATH": str(installed), "PYTHONHASHSEED": "0"}
    run([*COMMAND, "new", 'mý "run"'], tmp_path, **environment)
    folder = tmp_path / 'mý "run"'
    path = folder / "config/config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["panels"]["small"]["judges"] = 1
    config["design"]["judgments"] = {"single": 300, "composite": 200, "bridge": 0}
    config["fits"]["data"] = ["study"]
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    snakemake = [sys.executable, "-m", "snakemake", "--cores", "1"]
    target = "results/mine/judgments/judgments.parquet"
    run([*snakemake, target], folder, **environment)
    judgments = pd.read_parquet(folder / target)
    assert judgments.groupby("arena").size().to_dict() == {"single": 300, "composite": 200}
    assert judgments["outcome"].isin(["first", "second"]).all()
    assert set(judgments["origin"]) == {"simulated"}
