"""The manifest of a run: what went in, what came out, and what made it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from moralscale.digest import code_digest, file_digest

#: Packages whose versions are part of a run's provenance.
VERSIONED = (
    "moralscale",
    "snakemake",
    "pymc",
    "nutpie",
    "pytensor",
    "arviz",
    "numpy",
    "pandas",
    "xarray",
)


def versions() -> dict[str, str]:
    """Versions of the packages that a run rests on, by name."""
    return {name: version(name) for name in VERSIONED}


def make_manifest(
    run: str,
    *,
    origin: str,
    config: Mapping[str, Any],
    inputs: Iterable[str],
    outputs: Iterable[str],
) -> dict[str, Any]:
    """Describe a finished run.

    Parameters
    ----------
    run : str
        Name of the run.
    origin : str
        Where its judgments come from.
    config : mapping
        The validated configuration.
    inputs, outputs : iterable of path
        Files to hash; a folder stands for all files in it.

    Returns
    -------
    dict
        run, origin, config, code (digest of the package), python, versions, inputs and outputs
        (SHA-256 by path, sorted). The same files and versions give the same manifest.
    """
    return {
        "run": run,
        "origin": origin,
        "config": dict(config),
        "code": code_digest(*_modules()),
        "python": platform.python_version(),
        "versions": versions(),
        "inputs": _digests(inputs),
        "outputs": _digests(outputs),
    }


def _digests(paths: Iterable[str]) -> dict[str, str]:
    files: set[Path] = set()
    for path in map(Path, paths):
        files |= {p for p in path.rglob("*") if p.is_file()} if path.is_dir() else {path}
    return {str(path): file_digest(path) for path in sorted(files)}


def _modules() -> list[str]:
    package = Path(__file__).parent
    return [
        ".".join((package.name, *path.relative_to(package).with_suffix("").parts))
        for path in sorted(package.rglob("*.py"))
    ]
