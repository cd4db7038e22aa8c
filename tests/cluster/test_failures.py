"""Kills, a full disk and lost files, and the same tables after each of them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_run import CONFIG, POSTERIOR, TARGET, tables_of
from test_workflow import ROOT, snakemake

PROFILE = ("--profile", str(ROOT / "workflow/profiles/default"), *CONFIG)


def jobs_of(folder, script):
    """Process ids of the running jobs of a script."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            here = (process / "cwd").resolve() == folder.resolve()
        except OSError:
            continue
        scripts = [part for part in command[1:2] if part.endswith(f".{script}")]
        if here and scripts and command[0].endswith(Path(sys.executable).name):
            found.append(int(process.name))
    return found


@contextmanager
def running(folder):
    """Run the workflow until its fit is under way; the process, and the job's id."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *CONFIG, "--", TARGET]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=folder, **quiet)
    try:
        end = time.monotonic() + 300
        while not (jobs := jobs_of(folder, "fit.py")):
            assert process.poll() is None, "ended before the fit"
            assert time.monotonic() < end, "no fit"
            time.sleep(0.05)
        yield process, jobs[0]
    finally:
        process.kill()
        process.wait()
        for job in jobs_of(folder, "fit.py"):
            os.kill(job, signal.SIGKILL)


@contextmanager
def small_disk(folder, size):
    """Mount a file system of its own on a folder; yields what gives it another size."""

    def mount(size, *more):
        options = f"{','.join([*more, f'size={size}'])}"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    kept = folder.with_name("kept")
    folder.rename(kept)
    folder.mkdir()
    mounted = mount(size)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted: {mounted.stderr.strip()}")
    try:
        for path in kept.iterdir():
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, folder / path.name)
        yield lambda size: mount(size, "remount")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_killed_job_and_a_killed_snakemake_leave_nothing_that_is_taken_for_a_result(
    small, judged
):
    posterior = judged / POSTERIOR
    with running(judged) as (process, job):
        os.kill(job, signal.SIGKILL)
        assert process.wait(300) != 0
    assert not posterior.exists()

    with running(judged) as (process, _):
        process.kill()
        process.wait()
    # As if the job that outlived it had been killed while it wrote.
    posterior.write_bytes(b"\x89HDF\r\n\x1a\n half of a posterior")
    locked = snakemake(judged, *PROFILE, "--", TARGET)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout + locked.stderr
    assert snakemake(judged, *CONFIG, "--unlock").returncode == 0
    done = snakemake(judged, *PROFILE, "--", TARGET)
    assert done.returncode == 0, done.stderr[-5000:]
    assert tables_of(judged) == tables_of(small)


@pytest.mark.skipif(os.getuid() != 0, reason="a file system is mounted, which needs root")
def test_a_full_disk_ends_a_job_in_one_line_and_more_room_mends_it(small, tmp_path):
    folder = shutil.copytree(small, tmp_path / "project")
    (folder / TARGET).unlink()
    quantities = folder / TARGET.replace("estimates.csv", "quantities.nc")
    needed = quantities.stat().st_size
    quantities.unlink()
    used = sum(path.stat().st_size for path in (folder / "results").rglob("*") if path.is_file())
    with small_disk(folder / "results", used + 1_000_000) as resize:
        filler = folder / "results/filler"
        # Room for the small files of a job, and not for what it makes.
        free = os.statvfs(filler.parent)
        filler.write_bytes(bytes(free.f_bavail * free.f_frsize - needed // 2))
        full = snakemake(folder, *CONFIG, "--", TARGET)
        assert full.returncode != 0
        assert "error: output: No space left on device; make room" in full.stderr
        assert "Traceback" not in full.stderr
        assert not list(quantities.parent.glob("quantities.nc*"))
        filler.unlink()
        assert resize(used + 10_000_000).returncode == 0
        done = snakemake(folder, *CONFIG, "--", TARGET)
        assert done.returncode == 0, done.stderr[-5000:]
        assert tables_of(folder) == tables_of(small)


def test_what_was_lost_is_made_again_and_nothing_else(small, tmp_path):
    folder = shutil.copytree(small, tmp_path / "project")
    (folder / TARGET).unlink()
    (folder / "results/small/design/single.parquet").unlink()
    kept = (folder / POSTERIOR).stat().st_mtime_ns
    done = snakemake(folder, *CONFIG, "--", TARGET)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-5000:]
    assert tables_of(folder) == tables_of(small)
    assert (folder / POSTERIOR).stat().st_mtime_ns == kept
    assert "rule project:" in told
    assert "rule fit:" not in told
    assert "rule schedule:" not in told  # nothing that is asked for needs it
