"""Maximum likelihood of comparisons by this project and by others: same estimates, then seconds.

    python benchmarks/rate_peers.py [--runs 3] [--write]

Each run is a process of its own that simulates the same comparisons, without ties and position
bias, and hands them to one peer as the peer wants them. Estimates must agree after centring; only
then is anything printed. ``--write`` writes ``rate_peers.csv`` and the table of ``rate.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Contestants and comparisons.
SIZES = ((100, 100_000), (1_000, 1_000_000))
#: Largest difference of strengths, log-odds, after centring.
AGREE = 1e-3
#: Entries of a dense design beyond which a peer that needs one is left out.
DENSE = 20_000_000
HERE = Path(__file__).parent
NOT_INSTALLED, LEFT_OUT = 77, 78

type Array = NDArray[np.float64]
type Index = NDArray[np.int64]
#: Prepares, outside of what is timed, and gives what is timed.
type Peer = Callable[[Index, Index, NDArray[np.bool_], int], Callable[[], Array]]


def simulate(contestants: int, comparisons: int) -> tuple[Index, Index, NDArray[np.bool_]]:
    """Simulate comparisons of random pairs: first, second, whether the first won."""
    rng = np.random.default_rng(1)
    strength = rng.normal(size=contestants)
    first = rng.integers(contestants, size=comparisons)
    second = (first + rng.integers(1, contestants, size=comparisons)) % contestants
    won = rng.random(comparisons) < 1 / (1 + np.exp(strength[second] - strength[first]))
    return first, second, won


def ours(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Rate, with standard errors and quasi-variances."""
    from moralscale.rating import Settings, rate_comparisons
    from moralscale.rating.comparisons import Comparisons

    names = tuple(f"{k:06d}" for k in range(n))
    comparisons = Comparisons(names, first, second, np.where(won, 0, 1).astype(np.int8))

    def run() -> Array:
        table = rate_comparisons(comparisons, Settings(position_bias=False))
        return table.sort_values("contestant")["strength"].to_numpy()

    return run


def estimates(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Estimate strengths alone, as all peers do."""
    from moralscale.bradley_terry import Errors, maximum_likelihood
    from moralscale.rating.comparisons import Comparisons

    names = tuple(f"{k:06d}" for k in range(n))
    comparisons = Comparisons(names, first, second, np.where(won, 0, 1).astype(np.int8))
    return lambda: (
        maximum_likelihood(
            comparisons.counts(), position_bias=False, errors=Errors.HESSIAN
        ).strength
    )


def choix(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Rank by iterated spectral steps."""
    import choix

    data = list(zip(*_winners(first, second, won), strict=True))
    return lambda: choix.ilsr_pairwise(n, data)


def choix_dense(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Rank by the same spectral steps, on counts."""
    import choix

    def run() -> Array:
        counts = np.zeros((n, n))
        np.add.at(counts, _winners(first, second, won), 1)
        return choix.ilsr_pairwise_dense(counts)

    return run


def evalica(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Evalica's compiled solver."""
    import evalica

    xs, ys = first.tolist(), second.tolist()
    wins = [evalica.Winner.X if one else evalica.Winner.Y for one in won]
    index = pd.Index(range(n))

    def run() -> Array:
        found = evalica.bradley_terry(xs, ys, wins, index=index, tolerance=1e-9, limit=10_000)
        return np.log(found.scores.reindex(index).to_numpy())

    return run


def sklearn(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Logistic regression on a sparse design, without a penalty."""
    from sklearn.linear_model import LogisticRegression

    def run() -> Array:
        design = _design(first, second, n)
        model = LogisticRegression(
            C=np.inf, fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
        )
        return np.append(model.fit(design, won).coef_[0], 0.0)

    return run


def statsmodels(first: Index, second: Index, won: NDArray[np.bool_], n: int) -> Callable[[], Array]:
    """Logistic regression, which takes a dense design and gives standard errors."""
    from statsmodels.api import Logit

    if n * len(first) > DENSE:
        raise SystemExit(LEFT_OUT)

    def run() -> Array:
        design = _design(first, second, n).toarray()
        return np.append(Logit(won.astype(float), design).fit(disp=False).params, 0.0)

    return run


PEERS: dict[str, tuple[str, Peer, str]] = {
    "ours": ("this project: `moralscale rate`, with errors and quasi-variances", ours, ""),
    "estimates": ("this project: estimates and standard errors", estimates, ""),
    "choix": ("choix, `ilsr_pairwise`", choix, "choix"),
    "choix-dense": ("choix, `ilsr_pairwise_dense` on counts", choix_dense, "choix"),
    "evalica": ("evalica, `bradley_terry`", evalica, "evalica"),
    "scikit-learn": ("scikit-learn, logistic regression, sparse", sklearn, "scikit-learn"),
    "statsmodels": ("statsmodels, `Logit`, dense, with errors", statsmodels, "statsmodels"),
}


def _winners(first: Index, second: Index, won: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    return np.where(won, first, second).tolist(), np.where(won, second, first).tolist()


def _design(first: Index, second: Index, n: int):
    """Differences of contestants, the last of which is 0: sparse (comparison, contestant - 1)."""
    from scipy import sparse

    rows = np.arange(len(first))
    sides = [
        sparse.csr_array((np.ones(len(rows)), (rows, side)), shape=(len(rows), n))
        for side in (first, second)
    ]
    return sparse.csr_array(sides[0] - sides[1])[:, : n - 1]


def one(name: str, contestants: int, comparisons: int) -> None:
    """Run a peer, and print what it took and what it found."""
    prepare = PEERS[name][1]
    data = simulate(contestants, comparisons)
    try:
        run = prepare(*data, contestants)
    except ImportError:
        raise SystemExit(NOT_INSTALLED) from None
    # Imports and compilation are not what is measured.
    small = simulate(10, 2_000)
    prepare(*small, 10)()
    wall, cpu = time.perf_counter(), time.process_time()
    strength = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    centred = (strength - strength.mean()).tolist()
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mb": peak, "strength": centred}))


def measure(runs: int) -> pd.DataFrame:
    """Run all peers by turns."""
    rows = []
    for contestants, comparisons in SIZES:
        reference = None
        for k in range(runs):
            for name, (title, _, package) in PEERS.items():
                command = [sys.executable, __file__, "--one", name]
                command += [str(contestants), str(comparisons)]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode in (NOT_INSTALLED, LEFT_OUT):
                    reason = "not installed"
                    if done.returncode == LEFT_OUT:
                        reason = f"left out: a design of {contestants * comparisons / 1e9:.0f} "
                        reason += "billion entries"
                    if not k:
                        print(f"{title}, {contestants:,} contestants: {reason}")
                    continue
                if done.returncode:
                    raise SystemExit(f"{title} failed:\n{done.stderr}")
                found = json.loads(done.stdout)
                strength = np.array(found.pop("strength"))
                reference = strength if reference is None else reference
                gap = np.abs(strength - reference).max()
                if gap > AGREE:
                    raise SystemExit(f"{title}: estimates differ by {gap:.2g} log-odds")
                about = {"contestants": contestants, "comparisons": comparisons, "peer": title}
                rows.append(about | {"package": package, "run": k, "gap": gap, **found})
    return pd.DataFrame(rows)


def median(runs: pd.DataFrame) -> pd.DataFrame:
    """Take medians, and ratios to ours of the same round."""
    key = ["contestants", "comparisons"]
    ours = runs[runs["peer"] == PEERS["ours"][0]]
    joined = runs.merge(ours[[*key, "run", "cpu_s"]], on=[*key, "run"], suffixes=("", "_ours"))
    joined["times"] = joined["cpu_s"] / joined["cpu_s_ours"]
    values = ["wall_s", "cpu_s", "times", "peak_mb", "gap"]
    return joined.groupby([*key, "peer"], sort=False)[values].median().reset_index()


def markdown(table: pd.DataFrame) -> str:
    """Write the table as Markdown."""
    lines = [
        "| contestants | comparisons | by | s | CPU, s | times ours | peak, MB | largest gap |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.contestants:,} | {row.comparisons:,} | {row.peer} | {row.wall_s:.2f} | "
        f"{row.cpu_s:.2f} | {row.times:.1f} | {row.peak_mb:.0f} | {row.gap:.0e} |"
        for row in table.itertuples()
    ]
    return "\n".join(lines)


def about(runs: int) -> str:
    """Say where and when."""
    found = []
    for package in sorted({p for _, _, p in PEERS.values() if p} | {"moralscale", "numpy"}):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, one thread, Python "
        f"{platform.python_version()}; medians of {runs}, ratios of CPU time; {', '.join(found)}."
    )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write rate_peers.csv and rate.md")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    table = median(measure(given.runs))
    text = f"{about(given.runs)}\n\n{markdown(table)}"
    print(text)
    if given.write:
        table.round(6).to_csv(HERE / "rate_peers.csv", index=False)
        page = HERE / "rate.md"
        before, after = page.read_text().split("<!-- peers -->\n")[::2]
        page.write_text(f"{before}<!-- peers -->\n{text}\n<!-- peers -->\n{after}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
