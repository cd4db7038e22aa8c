"""Gradient time and memory of the compiled model as panels grow.

    python benchmarks/growth.py [--write]

One axis is the number of judgments, to a hundred times the study's, with each judgment a term of
its own and with repeats counted, as a fit does where there are many. The other is judges by scenes.
Beside the first runs the likelihood alone, written by hand (`floor`). Every point is a process of
its own and leaves a file in ``build/benchmarks/growth``; one that is there is not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import floor
import numpy as np
import panel
from growth_table import write_figure, write_table

from moralscale import fit
from moralscale.arrays import Arrays
from moralscale.composition import get_rule
from moralscale.likelihood import log_probability, strength_table
from moralscale.warmup.density import Density

FOLDER = panel.ROOT / "build/benchmarks/growth"
#: The study's judgments, bridge battles included; how many times as many there are, and of these
#: those where repeats are counted too.
STUDY, TIMES, COUNTED = 32_134, (1, 10, 100, 3, 30), (10, 100)
JUDGES, SCENES = 10, 229
#: Judges by scenes, at the study's judgments a judge.
PANELS = ((100, 1000), (10, 1000), (100, 229), (30, 300))


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write growth.csv, .md and figure")
    parser.add_argument("--axis", choices=("judgments", "panel"), help="one of the two alone")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for axis, point in points():
        name = FOLDER / f"{axis}-{'-'.join(map(str, point))}.json"
        if not name.exists() and given.axis in (None, axis):
            command = [sys.executable, __file__, "--one", axis, *map(str, point), str(name)]
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            subprocess.run(command, check=True, env=environment)
            print(name.stem, flush=True)
    write_table(FOLDER, write=given.write)
    if given.write:
        write_figure(panel.ROOT / "docs/figures/growth")


def points() -> list[tuple[str, tuple[int, int, int, int]]]:
    """All points: axis, and judges, scenes, judgments, whether repeats are counted."""
    along = [(JUDGES, SCENES, STUDY * k, 0) for k in TIMES]
    counted = [(JUDGES, SCENES, STUDY * k, 1) for k in COUNTED]
    across = [(judges, scenes, STUDY * judges // JUDGES, 0) for judges, scenes in PANELS]
    return [
        *(("judgments", point) for point in along),
        *(("panel", point) for point in across),
        *(("judgments", point) for point in counted),
    ]


def one(axis: str, judges: int, scenes: int, judgments: int, counted: bool) -> dict[str, Any]:
    """Compile the model of a panel and measure it."""
    before = resident()
    arrays = panel.larger(judges, scenes, judgments)
    data = resident()
    started = time.process_time()
    compiled = fit.compile(
        arrays, rule=get_rule("compressed"), priors=panel.priors(), counted=counted
    )
    seconds = time.process_time() - started
    density = Density(compiled.machine)
    x = 0.2 * np.random.default_rng(1).standard_normal(density.size)
    gradient_ms = 1000 * timed(lambda: density(x))
    found = {
        "axis": axis,
        "judges": judges,
        "scenes": scenes,
        "judgments": len(arrays.outcome),
        "terms": len(compiled.observed.row),
        "counted": counted,
        "parameters": int(density.size),
        "compile_cpu_s": seconds,
        "gradient_ms": gradient_ms,
        "data_mb": data - before,
        "model_mb": resident() - data,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if not counted:
        found |= floors(arrays, density.expand(x, compiled.names), compiled.names)
    return found


def floors(arrays: Arrays, draw: dict[str, np.ndarray], names: list[str]) -> dict[str, float]:
    """Time the hand-written passes at a draw, once they are seen to be right."""
    import xarray as xr

    dims = {"theta": ("judge", "scene"), "phi": ("judge", "composite")}
    dims["position_bias_judge"] = ("judge",)
    read = [*dims, "composite_consistency", "bridge_consistency"]
    draws = xr.Dataset({name: (dims.get(name, ()), draw[name]) for name in read})
    table = strength_table(draws, arrays)[0]
    given = (
        table,
        draw["position_bias_judge"],
        arrays.first_idx,
        arrays.second_idx,
        arrays.first_won,
    )
    value = sum(
        float(log_probability(draws, arrays, rows=slice(k, k + 100_000)).sum())
        for k in range(0, len(arrays.outcome), 100_000)
    )
    out = {}
    for name in ("by_log_odds", "by_worths"):
        function = getattr(floor, name)
        np.testing.assert_allclose(function(*given)[0], value, rtol=1e-8)
        out[f"floor_{name}_ms"] = 1000 * timed(lambda function=function: function(*given))
    return out


def timed(call: Callable[[], Any], *, batches: int = 9) -> float:
    """Least processor time of a call over batches of some 50 ms, s."""
    call()
    started = time.thread_time()
    call()
    each = max(time.thread_time() - started, 1e-6)
    number = max(1, round(0.05 / each))
    best = np.inf
    for _ in range(batches):
        started = time.thread_time()
        for _ in range(number):
            call()
        best = min(best, (time.thread_time() - started) / number)
    return float(best)


def resident() -> float:
    """Memory that this process holds now, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        sizes = map(int, sys.argv[3:7])
        judges, scenes, judgments, counted = sizes
        measured = one(sys.argv[2], judges, scenes, judgments, bool(counted))
        Path(sys.argv[7]).write_text(json.dumps(measured, indent=1))
    else:
        main()
