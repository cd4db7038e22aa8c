"""A run that is small enough to be made again and again."""

import shutil

import yaml
from test_workflow import copy_project

from moralscale.scenes import load_scenes

#: So small that nothing can be learnt from it: what is tested is where and how it runs. PyMC's own
#: sampler reads what was compiled before from disk.
SMALL = {
    "runs": {"small": {"panel": "small"}},
    "panels": {"small": {"judges": 2, "composite_consistency": 0.862}},
    "scenes": "scenarios/tiny.csv",
    "fits": {"data": ["study"]},
    "design": {"realisations": 1, "judgments": {"single": 100, "composite": 200, "bridge": 0}},
    "sampler": {
        **{"backend": "pymc", "coordinates": "plain"},
        **{"chains": 2, "tune": 20, "draws": 20, "thin": 1},
    },
    "audit": {"with_runs": False},
}
#: With one thread, chains need no processes of their own.
CONFIG = ("--configfile", "config/small.yaml", "--set-threads", "fit=1")
FIT = "results/small/fits/study/compressed/default"
POSTERIOR, TARGET = f"{FIT}/posterior.nc", f"{FIT}/estimates.csv"


def small_project(folder):
    """Copy the project, with the small run's configuration and corpus."""
    copy_project(folder)
    scenes = load_scenes(folder / "scenarios/scenes.csv")
    tiny = scenes.groupby(["foundation", "intensity"]).head(1)
    tiny.to_csv(folder / SMALL["scenes"], index=False)
    (folder / "config/small.yaml").write_text(yaml.safe_dump(SMALL))
    return folder


def tables_of(folder):
    """Tables of the small run, byte for byte, by name: outcomes and estimates."""
    found = (folder / "results/small").rglob("*.csv")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def forget(folder, *names):
    """Remove folders of the small run."""
    for name in names:
        shutil.rmtree(folder / "results/small" / name, ignore_errors=True)
