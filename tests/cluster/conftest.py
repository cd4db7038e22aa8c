"""The small run as one machine makes it, and a copy in which the fit is still to be made."""

import fcntl
import shutil
import socket
from pathlib import Path

import pytest
from small_run import CONFIG, TARGET, forget, small_project
from test_workflow import snakemake


@pytest.fixture(scope="session")
def small(tmp_path_factory, worker_id) -> Path:
    """A project in which the small run has finished up to its tables; made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, done = shared / "small", shared / "small.done"
    with (shared / "small.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            small_project(folder)
            made = snakemake(folder, *CONFIG, "--", TARGET)
            assert made.returncode == 0, made.stderr[-5000:]
            done.touch()
    return folder


@pytest.fixture
def judged(small, tmp_path):
    """A copy in which all is made up to the judgments."""
    folder = shutil.copytree(small, tmp_path / "project")
    for name in ("fits", "checks"):
        forget(folder, name)
    for path in (folder / "results/small/tables").glob("*.csv"):
        if path.name != "outcomes.csv":
            path.unlink()
    return folder


@pytest.fixture
def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
