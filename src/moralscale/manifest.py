"""The manifest of a run: what went in, what came out, and what made it."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from moralscale.digest import file_digest, package_digest

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
#: Sections of a manifest that give the SHA-256 of files, by path.
SECTIONS = ("inputs", "workflow", "outputs", "records")

#: Snakemake's mark in a folder that is an output; what it says is when.
TIMESTAMP = ".snakemake_timestamp"


def versions() -> dict[str, str]:
    """Versions of the packages that a run rests on, by name."""
    return {name: version(name) for name in VERSIONED}


def make_manifest(
    run: str,
    *,
    origin: str,
    config: Mapping[str, Any],
    files: Mapping[str, Mapping[str, str]],
    **more: Any,
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
    files : mapping of str to mapping
        SHA-256 by path, for each of `SECTIONS`.
    **more
        What else is to be kept, before the files.

    Returns
    -------
    dict
        run, origin, seed, config, code (digest of the package), python, platform, versions, `more`,
        the sections of files, and digest: SHA-256 of all the rest. The same files and versions give
        the same manifest.
    """
    described = {
        "run": run,
        "origin": origin,
        "seed": config.get("seed"),
        "config": dict(config),
        "code": package_digest(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
        **more,
        **{section: dict(files.get(section, {})) for section in SECTIONS},
    }
    return {**described, "digest": digest_of(described)}


def digest_of(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest without its own digest, as canonical JSON."""
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Write a manifest as its file holds it, byte for byte."""
    return json.dumps(manifest, indent=1) + "\n"


def digests(paths: Iterable[str | Path], *, root: str = "") -> dict[str, str]:
    """SHA-256 by path, sorted; a folder stands for all files in it.

    Parameters
    ----------
    paths : iterable of path
        Files and folders.
    root : str
        What paths begin with that is no part of their names, such as ``"/scratch/me/"``.
    """
    files: set[Path] = set()
    for path in map(Path, paths):
        files |= {p for p in path.rglob("*") if p.is_file()} if path.is_dir() else {path}
    files = {path for path in files if path.name != TIMESTAMP}
    found = {str(path).removeprefix(root): file_digest(path) for path in files}
    return dict(sorted(found.items()))


def git_state(folder: str | Path) -> dict[str, Any] | None:
    """Commit that a folder is at and whether tracked files differ from it; None without git."""
    try:
        commit = _git(folder, "rev-parse", "HEAD").strip()
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return {"commit": commit, "changed": bool(changes.strip())}


def _git(folder: str | Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
