"""The small run as one machine makes it, and a copy in which the fit is still to be made."""

import fcntl
import shutil
import socket
from pathlib import Path

import pytest
from pytensor import config as pytensor
from small_run import CONFIG, TARGET, forget, small_project
from test_workflow import snakemake


def compiled():
    """Names of what PyTensor has compiled on this machine and reads back."""
    return {path.name for path in Path(pytensor.base_compiledir, "numba").glob("*")}


def make_small(folder):
    """Make the small run, and its fit once more where its model was compiled for the first time.

    What was compiled just now is inlined, and what is read back is not, which rounds otherwise: the
    first fit of its kind on a machine has other draws than all later ones.
    """
    known = compiled()
    run(small_project(folder))
    if compiled() != known:
        forget(folder, "fits")
        run(folder)


def run(folder):
    made = snakemake(folder, *CONFIG, "--", TARGET)
    assert made.returncode == 0, made.stderr[-5000:]


@pytest.fixture(scope="session")
def small(tmp_path_factory, worker_id) -> Path:
    """A project in which the small run has finished up to its estimates; one for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, done = shared / "small", shared / "small.done"
    with (shared / "small.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make_small(folder)
            done.touch()
    return folder


@pytest.fixture
def judged(small, tmp_path):
    """A copy in which all is made up to the judgments."""
    folder = shutil.copytree(small, tmp_path / "project")
    forget(folder, "fits")
    return folder


@pytest.fixture
def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
