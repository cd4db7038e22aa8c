"""From the files of a finished run to its manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from moralscale.manifest import TIMESTAMP, digests, git_state, make_manifest, manifest_text
from moralscale.provenance.withheld import withheld_of

#: Files beside the workflow that say what it ran in.
ENVIRONMENT = ("Snakefile", "environment.yml", "pyproject.toml", "requirements.lock")
#: What is written after the manifest, or holds nothing of a run.
NOT_LISTED = ("manifest.json", "logs/manifest.log", "logs/archive.log")


def write_manifest(
    target: str | Path,
    files: Iterable[str],
    *,
    run: str,
    origin: str,
    config: Mapping[str, Any],
    workflow: str | Path,
) -> None:
    """Write the manifest of a run that has just been made.

    Parameters
    ----------
    target : path
        Where it goes: a path that ends in ``results/RUN/manifest.json``.
    files : iterable of path
        All that went in and came out; a folder stands for all files in it. Journals and logs are
        found beside them.
    run, origin, config
        As of `make_manifest`.
    workflow : path
        The folder that holds ``workflow/Snakefile``.

    Raises
    ------
    JournalError
        A journal of the run is damaged.
    """
    made = f"results/{run}/"
    root = str(target).removesuffix(f"{made}manifest.json")
    names = digests(files, root=root)
    outputs = {name: digest for name, digest in names.items() if name.startswith(made)}
    records = digests(_records(Path(root, made)), root=root)
    # Journals stay on the local disk where results are on object storage.
    records = digests(_records(Path(made))) | records
    described = make_manifest(
        run,
        origin=origin,
        config=config,
        **_times([Path(root, name) for name in outputs]),
        git=git_state(workflow),
        probe=_probe(Path(root, made, "probe.json")),
        without_raw=_withheld(run, (*outputs, *records), root=root),
        files={
            "inputs": {name: digest for name, digest in names.items() if name not in outputs},
            "workflow": _workflow(Path(workflow)),
            "outputs": outputs,
            "records": records,
        },
    )
    Path(target).write_text(manifest_text(described), encoding="ascii")


def listed(path: str) -> bool:
    """Tell whether a manifest lists a file of a run, by its path in the run's folder."""
    return path not in NOT_LISTED and not path.endswith((".lock", TIMESTAMP))


def _records(folder: Path) -> list[Path]:
    """Journals and logs of a run."""
    found = [path for kind in ("journal", "logs") for path in folder.glob(f"{kind}/**/*")]
    return [p for p in found if p.is_file() and listed(str(p.relative_to(folder)))]


def _withheld(run: str, names: Iterable[str], *, root: str) -> dict[str, dict[str, str]]:
    names = list(names)
    local = [name for name in names if not Path(root, name).exists()]
    rest = [name for name in names if name not in local]
    return withheld_of(run, local) | withheld_of(run, rest, root=root)


def _workflow(folder: Path) -> dict[str, str]:
    """Digests of the workflow's own files and of what it ran in; none where it is not on a disk."""
    sources = [p for p in folder.glob("workflow/**/*") if p.is_file() and p.suffix != ".pyc"]
    beside = [folder / name for name in ENVIRONMENT if (folder / name).is_file()]
    return digests([*sources, *beside], root=f"{folder}/")


def _times(paths: Iterable[Path]) -> dict[str, str]:
    """When the first and the last file was written, UTC."""
    seconds = [path.stat().st_mtime for path in paths]
    first, last = (datetime.fromtimestamp(pick(seconds), UTC) for pick in (min, max))
    return {
        name: f"{t:%Y-%m-%dT%H:%M:%S+00:00}" for name, t in (("started", first), ("ended", last))
    }


def _probe(path: Path) -> list[dict[str, Any]]:
    """Read what the probe found of every judge, without what the judge said."""
    if not path.is_file():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    return [{k: v for k, v in row.items() if k not in {"text", "error"}} for row in found]
