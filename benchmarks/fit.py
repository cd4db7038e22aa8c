"""The study's posterior through this project and its peers: how fast each gives effective draws.

    python benchmarks/fit.py [--runs 2] [--peers ours nutpie ...] [--iterations 500] [--write]

Every run is a process of its own and leaves a file in ``build/benchmarks/fit``; one that is there
is not run again. Peers take turns, so that the runs of a round are neighbours in time. The table
holds medians; ``--write`` puts it into ``benchmarks/fit.csv`` and ``benchmarks/fit.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from importlib.metadata import version

import arviz as az
import numpy as np
import pandas as pd
import panel
import peers
import pymc as pm
import xarray as xr
from fit_table import print_table, write_table

from moralscale.arrays import Arrays
from moralscale.composition import get_rule
from moralscale.model import REPORTED, build_model
from moralscale.priors import Priors
from moralscale.projections import quantities

FOLDER = panel.ROOT / "build/benchmarks/fit"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2, help="runs of each peer")
    parser.add_argument("--peers", nargs="*", default=list(peers.PEERS), choices=peers.PEERS)
    parser.add_argument(
        "--iterations", type=int, default=500, help="tuning, and draws, of each chain of the peers"
    )
    parser.add_argument("--write", action="store_true", help="write fit.csv and fit.md")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for k in range(given.runs):
        for name in given.peers:
            if not (FOLDER / f"{name}-{k}.json").exists():
                apart(name, k, given.iterations)
    if not (FOLDER / "ours-0.json").exists():
        raise SystemExit("nothing to compare with: run `ours` too")
    table = print_table(FOLDER)
    if given.write:
        write_table(table, FOLDER)


def apart(name: str, k: int, iterations: int) -> None:
    """Run a peer in a process of its own; one that is not installed is named and passed over."""
    print(f"{peers.PEERS[name].title}, run {k + 1}", flush=True)
    fixed = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    environment = os.environ | fixed | {"BENCHMARK_ITERATIONS": str(iterations)}
    done = subprocess.run([sys.executable, __file__, "--one", name, str(k)], env=environment)
    if done.returncode == NOT_INSTALLED:
        print(f"{peers.PEERS[name].title}: not installed", flush=True)
    elif done.returncode:
        raise SystemExit(f"{name} failed")


NOT_INSTALLED = 77


def one(name: str, k: int) -> None:
    """Run a peer and keep what it took, and mean, Monte Carlo error and ESS of every quantity."""
    try:
        peers.PEERS[name].load()
    except ImportError as error:
        print(error)
        raise SystemExit(NOT_INSTALLED) from None
    arrays, priors = panel.study(), panel.priors()
    result = peers.run(name, arrays, priors, seed=1 + k, cores=2)
    memory = peers.peak_memory()
    draws = result.draws if result.complete else completed(result.draws, arrays, priors)
    values = summary(quantities(draws, arrays.estimands))
    values.to_csv(FOLDER / f"{name}-{k}.csv")
    about = {
        "peer": name,
        "run": k,
        "length": result.length,
        "judgments": len(arrays.outcome),
        "compile_s": result.compiled.wall,
        "sample_s": result.sampled.wall,
        "cpu_s": result.compiled.cpu + result.sampled.cpu,
        "memory_mb": memory,
        "draws": int(draws.sizes["chain"] * draws.sizes["draw"]),
        "ess_smallest": float(values["ess"].min()),
        "smallest": str(values["ess"].idxmin()),
        "ess_beta": float(values.loc["beta", "ess"]),
        "rhat": float(values["rhat"].max()),
        "versions": {name: version(name) for name in ("moralscale", *result.packages)},
        "load": os.getloadavg()[0],
    }
    (FOLDER / f"{name}-{k}.json").write_text(json.dumps(about, indent=1))


def completed(draws: xr.Dataset, arrays: Arrays, priors: Priors) -> xr.Dataset:
    """Compute all that a fit of this project keeps from draws of the free variables."""
    model = build_model(arrays, priors, get_rule("compressed"))
    free = {variable.name for variable in model.free_RVs}
    if set(map(str, draws.data_vars)) != free:
        raise AssertionError(f"not the same parameters: {free.symmetric_difference(draws)}")
    kept = [name for name in REPORTED if name in model.named_vars]
    made = pm.compute_deterministics(
        draws,
        var_names=[name for name in kept if name not in free],
        model=model,
        progressbar=False,
    )
    return made.assign({name: draws[name] for name in kept if name in free})


def summary(draws: xr.Dataset) -> pd.DataFrame:
    """Give mean, error, bulk ESS and R-hat of every value that is not constant."""
    parts = []
    for name, variable in draws.data_vars.items():
        measured = {
            "mean": variable.mean(("chain", "draw")),
            "sd": variable.std(("chain", "draw")),
            "mcse": az.mcse(variable),
            "ess": az.ess(variable, method="bulk"),
            "rhat": az.rhat(variable),
        }
        frame = pd.DataFrame({key: np.ravel(value) for key, value in measured.items()})
        labels = [f"{name}[{i}]" for i in range(len(frame))]
        parts.append(frame.set_index(pd.Index(labels if variable.ndim > 2 else [name])))
    table = pd.concat(parts)
    return table[table["sd"] > 1e-12]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], int(sys.argv[3]))
    else:
        main()
