"""The same posterior through different samplers.

Every peer is a function ``run(arrays, priors, *, seed, cores)`` that gives `Sampled`: draws of the
free variables of `moralscale.model.build_model` by their names there, or all that a fit of this
project keeps.
"""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import xarray as xr

from moralscale.arrays import Arrays
from moralscale.priors import Priors

#: Chains, tuning iterations and draws of a chain, of every peer.
CHAINS = 2
TUNE = DRAWS = int(os.environ.get("BENCHMARK_ITERATIONS", "500"))


@dataclass
class Spent:
    """Time that a stage took, of the clock and of all processors, s."""

    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Add what happens inside."""
        wall, cpu = time.perf_counter(), cpu_seconds()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += cpu_seconds() - cpu


@dataclass
class Sampled:
    """What a peer gives back.

    Attributes
    ----------
    length : str
        Chains, tuning and draws, for people.
    packages : tuple of str
        Packages whose versions matter.
    compiled, sampled : Spent
        Time to build or compile, and to tune and sample. Processor time of compilations that
        happen while sampling counts as that of sampling.
    draws : Dataset
        Dims chain and draw first.
    complete : bool
        Whether `draws` holds the strengths already, and not free variables alone.
    """

    length: str
    packages: tuple[str, ...]
    compiled: Spent = field(default_factory=Spent)
    sampled: Spent = field(default_factory=Spent)
    draws: xr.Dataset = field(default_factory=xr.Dataset)
    complete: bool = False


@dataclass(frozen=True)
class Peer:
    """A row of the table.

    Attributes
    ----------
    title : str
        Its name in the table.
    module : str
        Where ``run`` and ``NEEDS`` (packages to import) stand.
    kind : str
        What ``run`` is told, where a module has several rows.
    """

    title: str
    module: str
    kind: str = ""

    def load(self) -> Callable[..., Sampled]:
        """Import it; ImportError where it is not installed."""
        found: Callable[..., Sampled] = import_module(f"peers.{self.module}").run
        return found


PEERS = {
    "ours": Peer("this project, as config/config.yaml asks", "project", "config"),
    "ours-short": Peer("this project, two shorter chains", "project", "short"),
    "ours-plain": Peer("this project, `coordinates: plain`", "project", "plain"),
    "nutpie": Peer("plain PyMC through nutpie", "plain", "nutpie"),
    "numpyro": Peer("plain PyMC through NumPyro", "plain", "numpyro"),
    "pymc": Peer("plain PyMC, its own NUTS", "plain", "pymc"),
    "stan": Peer("Stan (pystan)", "stan"),
}


def run(name: str, arrays: Arrays, priors: Priors, *, seed: int, cores: int) -> Sampled:
    """Run a peer by name."""
    peer = PEERS[name]
    kind = {"kind": peer.kind} if peer.kind else {}
    return peer.load()(arrays, priors, seed=seed, cores=cores, **kind)


def cpu_seconds() -> float:
    """Processor time of this process and its children, s."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    waited = sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))
    tick = os.sysconf("SC_CLK_TCK")
    return waited + sum(sum(map(int, stat.split()[11:13])) for stat in _children("stat")) / tick


def peak_memory() -> float:
    """Most memory that the largest of this process and its children held, MB."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peaks = [resource.getrusage(kind).ru_maxrss for kind in kinds]
    peaks += [int(found[1]) for s in _children("status") if (found := _PEAK.search(s))]
    return max(peaks) / 1024


_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def _children(file: str) -> Iterator[str]:
    """Read what the system says of children that are still there; after their names."""
    for task in Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            try:
                yield Path(f"/proc/{pid}", file).read_text().rpartition(") ")[2]
            except FileNotFoundError:  # it ended meanwhile, and is among those waited for
                continue
