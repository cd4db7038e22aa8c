"""A run that is small enough to be made again and again."""

import shutil

import yaml
from test_workflow import copy_project

from moralscale.scenes import load_scenes

#: So small that nothing can be learnt from it: what is tested is where and how it runs.
SMALL = {
    "runs": {"small": {"panel": "small"}},
    "panels": {"small": {"judges": 2, "composite_consistency": 0.862}},
    "scenes": "scenarios/tiny.csv",
    "fits": {"data": ["study"]},
    "design": {"judgments": {"single": 150, "composite": 480, "bridge": 0}},
    "sampler": {"chains": 2, "tune": 100, "draws": 50, "thin": 1},
    "gates": {
        **{"rhat": 9.0, "ess": 1, "divergences": 1000, "ebfmi": 0},
        **{"calibration": 1e-12, "pareto_k": 1000},
    },
    "audit": {"with_runs": False},
}
CONFIG = ("--configfile", "config/small.yaml")
TARGET = "results/small/tables/recovery.csv"
POSTERIOR = "results/small/fits/study/compressed/default/posterior.nc"


def small_project(folder):
    """Copy the project, with the small run's configuration and corpus."""
    copy_project(folder)
    scenes = load_scenes(folder / "scenarios/scenes.csv")
    tiny = scenes.groupby(["foundation", "intensity"]).head(1)
    tiny.to_csv(folder / SMALL["scenes"], index=False)
    (folder / "config/small.yaml").write_text(yaml.safe_dump(SMALL))
    return folder


def tables_of(folder):
    """Tables of the small run, byte for byte, by name."""
    found = (folder / "results/small").rglob("*.csv")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def forget(folder, *names):
    """Remove files and folders of the small run."""
    for name in names:
        path = folder / "results/small" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
