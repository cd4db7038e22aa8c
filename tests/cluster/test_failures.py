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
    posterior.parent.mkdir(parents=True, exist_ok=True)
    posterior.write_bytes(b"\x89HDF\r\n\x1a\n half of a posterior")
    locked = snakemake(judged, *CONFIG, "--", TARGET)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout + locked.stderr
    assert snakemake(judged, *CONFIG, "--unlock").returncode == 0
    refused = snakemake(judged, *CONFIG, "--", TARGET)
    assert refused.returncode != 0
    assert "seem to be incomplete" in refused.stdout + refused.stderr

    done = snakemake(judged, *PROFILE, "--", TARGET)
    assert done.returncode == 0, done.stderr[-5000:]
    assert tables_of(judged) == tables_of(small)


@pytest.mark.skipif(os.getuid() != 0, reason="a file system is mounted, which needs root")
def test_a_full_disk_ends_a_fit_in_one_line_and_more_room_mends_it(small, judged):
    used = sum(path.stat().st_size for path in (judged / "results").rglob("*") if path.is_file())
    with small_disk(judged / "results", used + 1_000_000) as resize:
        filler = judged / "results/filler"
        # Room for the small files of a job, and not for the posterior.
        free = os.statvfs(filler.parent)
        filler.write_bytes(bytes(free.f_bavail * free.f_frsize - 100_000))
        full = snakemake(judged, *CONFIG, "--", POSTERIOR)
        assert full.returncode != 0
        assert "cannot be written: No space left on device" in full.stderr
        assert not (judged / POSTERIOR).exists()
        assert resize(used + 100_000_000).returncode == 0
        filler.unlink()
        done = snakemake(judged, *PROFILE, "--", TARGET)
        assert done.returncode == 0, done.stderr[-5000:]
        assert tables_of(judged) == tables_of(small)


def test_what_was_lost_is_made_again_and_nothing_else(small, tmp_path):
    folder = shutil.copytree(small, tmp_path / "project")
    lost = ["tables/beta.csv", "design/single.parquet"]
    for name in lost:
        (folder / "results/small" / name).unlink()
    kept = (folder / POSTERIOR).stat().st_mtime_ns
    done = snakemake(folder, *PROFILE, "--", TARGET, "results/small/tables/beta.csv")
    assert done.returncode == 0, done.stderr[-5000:]
    assert tables_of(folder) == tables_of(small)
    assert (folder / POSTERIOR).stat().st_mtime_ns == kept
    assert "rule tables:" in done.stdout + done.stderr
    assert "rule fit:" not in done.stdout + done.stderr
