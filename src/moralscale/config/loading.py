"""Read and validate whole configurations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moralscale.config.config import Config
from moralscale.config.faults import validate
from moralscale.config.reading import load_yaml
from moralscale.config.references import check_references


def load_config(data: Mapping[str, Any], *, source: str, root: str | Path = ".") -> Config:
    """Validate a configuration and everything that it refers to by name.

    Parameters
    ----------
    data : mapping
        The configuration, as Snakemake or YAML gives it.
    source : str
        The file or files that it came from, for error messages.
    root : path, optional
        Folder that relative paths start from.

    Raises
    ------
    ConfigError
        A key is unknown, a value has the wrong type, or a panel, judge, prompt, prior or file that
        is referred to does not exist.
    """
    config = validate(Config, data, source=source)
    check_references(config, source, Path(root))
    return config


def read_config(path: str | Path, *, root: str | Path = ".") -> Config:
    """Read a configuration as a workflow run would.

    A file that names no runs changes keys of ``config/config.yaml`` under `root`.

    Raises
    ------
    ConfigError
        As of `load_yaml` and `load_config`.
    """
    data = load_yaml(path)
    if "runs" not in data:
        data = _changed(load_yaml(Path(root) / "config/config.yaml"), data)
    return load_config(data, source=str(path), root=root)


def _changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change keys of nested mappings, as Snakemake does."""
    merged = dict(data)
    for key, value in changes.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _changed(old, value) if both else value  # type: ignore[arg-type]
    return merged
