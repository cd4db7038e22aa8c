"""Speed and memory of ``moralscale rate``: reading, and maximum likelihood, on simulated files.

Each measurement runs in a process of its own, so that its peak of memory is its own::

    python benchmarks/rate.py
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from moralscale.rating import Settings, rate_comparisons, read_comparisons

#: Contestants and comparisons of each file.
SIZES = ((1_000, 1_000_000), (10_000, 1_000_000))
TIES = 0.1


def simulate(contestants: int, comparisons: int, *, ties: bool, seed: int) -> pd.DataFrame:
    """Simulate comparisons of random pairs, with a position bias of 0.2."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=contestants)
    first = rng.integers(contestants, size=comparisons)
    second = (first + rng.integers(1, contestants, size=comparisons)) % contestants
    wins = rng.random(comparisons) < 1 / (1 + np.exp(strength[second] - strength[first] - 0.2))
    outcome = np.where(wins, "first", "second")
    if ties:
        outcome = np.where(rng.random(comparisons) < TIES, "tie", outcome)
    names = np.array([f"contestant-{i}" for i in range(contestants)])
    return pd.DataFrame({"first": names[first], "second": names[second], "outcome": outcome})


def measure(path: str) -> None:
    """Read a file, rate it, and print seconds, of the clock and of the processor, and memory."""
    times = [(time.perf_counter(), time.process_time())]
    comparisons = read_comparisons(path)
    times.append((time.perf_counter(), time.process_time()))
    table = rate_comparisons(comparisons, Settings())
    times.append((time.perf_counter(), time.process_time()))
    spent = [
        f"{what} {now[0] - before[0]:.2f} s ({now[1] - before[1]:.2f} s of processor)"
        for what, before, now in zip(("read", "rated"), times, times[1:], strict=False)
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    steps = table.attrs["summary"]["iterations"]
    print(f"{', '.join(spent)}, {steps} Newton steps, peak {peak:.2f} GB")


def main() -> None:
    """Simulate the files and measure each."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {threads} threads"
    )
    print(f"load {load:.2f} a core at the start")
    with tempfile.TemporaryDirectory() as folder:
        for contestants, comparisons in SIZES:
            for ties in (False, True):
                path = Path(folder, f"{contestants}-{ties}.csv")
                simulate(contestants, comparisons, ties=ties, seed=1).to_csv(path, index=False)
                what = f"{contestants:,} contestants, {comparisons:,} comparisons"
                print(f"{what}{', a tenth ties' if ties else ''}: ", end="", flush=True)
                subprocess.run([sys.executable, __file__, str(path)], check=True)


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
