"""The workflow on a real Slurm: one node on loopback, no accounting."""

import os
import shutil
import subprocess
import sys
import time

import pytest
from slurm_node import running_slurm, why_not
from small_run import CONFIG, TARGET, forget, tables_of
from test_journal import attempt
from test_workflow import ROOT, snakemake

from moralscale.journal import open_journal, read_attempts

#: Statuses by squeue, and often: jobs of seconds, on a cluster without accounting.
QUICKLY = (
    "--slurm-no-account",
    *("--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "6"),
    *("--seconds-between-status-checks", "6"),
)
PROFILE = ("--profile", str(ROOT / "workflow/profiles/slurm"))


@pytest.fixture(scope="module", autouse=True)
def slurm(tmp_path_factory):
    reason = why_not()
    if reason and os.environ.get("CI") and os.getuid() == 0 and shutil.which("apt-get"):
        pytest.fail(f"no Slurm for its tests: {reason}")
    if reason:
        pytest.skip(reason)
    with running_slurm(tmp_path_factory.mktemp("slurm")):
        yield


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_slurm_jobs_make_the_tables_that_one_machine_makes(small, tmp_path):
    folder = shutil.copytree(small, tmp_path / "project")
    forget(folder, "journal", "judgments", "fits", "tables")
    done = snakemake(folder, *PROFILE, *QUICKLY, *CONFIG, "--", TARGET)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-5000:]
    # Two judges in one array; judgments, fit and its numbers.
    assert told.count("Submitted array job with Snakemake IDs") == 1
    assert told.count("has been submitted with SLURM jobid") == 3
    assert tables_of(folder) == tables_of(small)
    assert not said("squeue", "--noheader", "--states", "PENDING,RUNNING")


#: Keeps the journal open until a file says that the other one has tried.
WRITER = """
import pathlib, sys, time
from moralscale.scripting import job
from moralscale.journal import open_journal
from test_journal import attempt
first, held, free = int(sys.argv[2]), pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
with job(), open_journal(sys.argv[1]) as journal:
    for number in range(first, first + 5):
        journal.append(attempt(number))
        held.touch()
        end = time.monotonic() + 300
        while not free.exists() and time.monotonic() < end:
            time.sleep(0.1)
"""


def test_a_second_job_on_a_journal_is_refused_and_nothing_is_lost(tmp_path, monkeypatch):
    journal, held, free = (tmp_path / name for name in ("j.jsonl", "held", "free"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"), prepend=os.pathsep)
    command = ["srun", "--ntasks=1", "--mem=500", sys.executable, "-c", WRITER, str(journal)]
    second = [*command, "5", str(held), str(free)]
    first = subprocess.Popen([*command, "0", str(held), str(free)])
    try:
        end = time.monotonic() + 300
        while not held.exists() and first.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        refused = subprocess.run(second, capture_output=True, text=True, check=False)
    finally:
        free.touch()
    assert first.wait(300) == 0
    assert refused.returncode == 2, refused.stderr
    assert "is writing this journal" in refused.stderr
    assert os.uname().nodename in refused.stderr
    assert subprocess.run(second, check=False).returncode == 0
    found = [each["key"] for each in read_attempts(journal)]
    assert found == [attempt(number).key for number in range(10)]
    with open_journal(journal) as opened:
        assert len(opened) == 10


HUNGRY = """
rule hungry:
    output:
        "done.txt",
    shell:
        "{python} -c 'import time; x = bytearray(2_700_000_000); time.sleep(6)'; touch {{output}}"
"""


def test_a_job_that_was_killed_for_memory_is_sent_again_with_twice_as_much(tmp_path):
    (tmp_path / "Snakefile").write_text(HUNGRY.format(python=sys.executable))
    done = snakemake(tmp_path, *PROFILE, *QUICKLY)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-5000:]
    assert told.count("has been submitted with SLURM jobid") == 2
    assert "mem_mb=2000," in told
    assert "mem_mb=4000," in told
