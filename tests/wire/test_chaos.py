"""SIGKILL at 25 random moments, a fifth of the requests faulty: nothing lost, nothing twice."""

import hashlib
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from servers import Reaction, steady

from moralscale.journal import read_attempts

KILLS, COMPARISONS = 25, 240
FAULTS = (
    Reaction(500, {"error": {"message": "oops"}}),
    Reaction(429, {}, {"retry-after-ms": "20"}),
    Reaction(200, b"", reset=True),
    Reaction(200, {"error": {"code": 503, "message": "busy"}}),
)
PACE = {"tries": 30, "first_wait": 0.01, "longest_wait": 0.05, "calm": 0.05}

#: Imports once, then forks one collector after another: an import takes longer than a run.
NURSERY = """
import os, pickle, sys
sys.path.insert(0, sys.argv[1])
collecting, judge, count, pace = pickle.load(sys.stdin.buffer)
while sys.stdin.buffer.read(1):
    child = os.fork()
    if child == 0:
        collecting.run(judge, n=count, **pace)
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class FaultyServer:
    """Reacts with a fault one time in five; answers `quota` requests, then stalls."""

    def __init__(self):
        self.quota = 10**9

    def __call__(self, number, request):
        self.quota -= 1
        if self.quota < 0:
            return Reaction(delay=1)
        draw = int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:4], "big")
        reaction = FAULTS[draw // 5 % len(FAULTS)] if draw % 5 == 0 else steady(number, request)
        return replace(reaction, delay=0.001 * (draw % 4))


@pytest.fixture
def nursery(collecting, judge):
    command = [sys.executable, "-c", NURSERY, os.path.dirname(__file__)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as process:
        pickle.dump((collecting, judge, COMPARISONS, PACE), process.stdin)
        process.stdin.flush()
        yield process
        process.stdin.close()
        assert process.wait() == 0


@pytest.fixture
def judge(judge):
    return judge.model_copy(update={"concurrency": 8})


@pytest.fixture
def collecting(collecting):
    """Everyone meets the four who come next: no two questions are the same."""
    base, n = collecting.schedule, len(collecting.schedule)
    parts = [
        base.assign(
            comparison_id=[f"{shift}-{i}" for i in range(n)],
            second=np.roll(base["first"].to_numpy(), -shift),
        )
        for shift in range(1, 1 + COMPARISONS // n)
    ]
    return replace(collecting, schedule=pd.concat(parts, ignore_index=True))


def answered(collecting):
    """Questions whose answers are on the disk."""
    return {a["user"] for a in read_attempts(collecting.path) if not a["error"]}


def test_kill_and_run_again(collecting, server, judge, nursery):
    chance = random.Random(20260611)
    server.react = FaultyServer()
    for _ in range(KILLS):
        before, kept = len(server.requests), answered(collecting)
        server.react.quota = chance.randint(1, 9)
        nursery.stdin.write(b"+")
        nursery.stdin.flush()
        child = int(nursery.stdout.readline())
        while server.react.quota > 0:
            time.sleep(0.001)
        time.sleep(0.01 * chance.random())
        os.kill(child, signal.SIGKILL)
        assert int(nursery.stdout.readline()) == signal.SIGKILL
        assert kept <= answered(collecting)
        assert kept.isdisjoint(server.asked()[before:])
    before, kept = len(server.requests), answered(collecting)
    assert 0 < len(kept) < COMPARISONS
    server.react.quota = 10**9
    table = collecting.run(judge, n=COMPARISONS, **PACE)
    assert kept.isdisjoint(server.asked()[before:])
    assert table["outcome"].isin(["first", "second"]).all()
    attempts = list(read_attempts(collecting.path))
    answers = [a for a in attempts if not a["error"]]
    assert len(answers) == len({a["key"] for a in answers}) == COMPARISONS
    assert {a["comparison_id"] for a in answers} == set(table["comparison_id"])
    # What the server saw and the journal does not hold was in flight when a process was killed.
    lost = Counter(server.asked()) - Counter(a["user"] for a in attempts)
    assert sum(lost.values()) == len(server.requests) - len(attempts)
    assert sum(lost.values()) <= KILLS * judge.concurrency
    assert table["attempts"].sum() == len(attempts)
