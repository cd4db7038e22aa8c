"""The Dockerfile, as far as it can be tested where no engine runs."""

import shutil
import subprocess
import sys

from test_workflow import ROOT, snakemake

OF_BUILD, OF_IMAGE = (ROOT / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")[-2:]


def copied(stage):
    """What a stage copies from the project, as paths."""
    lines = [line.split()[1:] for line in stage.splitlines() if line.startswith("COPY ")]
    own = [line for line in lines if not line[0].startswith("--from")]
    return [name for line in own for name in line[:-1] if not name.startswith("--")]


def copy_of(stage, folder):
    for name in copied(stage):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)


def test_what_the_build_stage_copies_makes_a_wheel(tmp_path):
    copy_of(OF_BUILD, tmp_path)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "wheel", "."]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "wheel").glob("moralscale-*.whl"))) == 1


def test_nothing_that_is_copied_is_kept_from_the_engine():
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert kept[0] == "*"
    for name in {*copied(OF_BUILD), *copied(OF_IMAGE)}:
        assert (ROOT / name).exists()
        assert f"!{name}" in kept


def test_the_image_holds_all_that_a_run_needs(tmp_path):
    copy_of(OF_IMAGE, tmp_path)
    profile = ("--profile", "workflow/profiles/default")  # as its entry point has it
    planned = snakemake(tmp_path, *profile, "-n", "--configfile", "config/quick.yaml")
    assert planned.returncode == 0, planned.stderr
    assert "results/quick/manifest.json" in planned.stdout
