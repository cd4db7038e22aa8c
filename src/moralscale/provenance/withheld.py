"""What an archive leaves out where the providers' own words are not to be published."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from moralscale.attempts import decoded, encoded
from moralscale.errors import JournalError
from moralscale.journal import RESTORE

#: Fields of an attempt that hold what a provider said.
WORDS = {"raw": None, "text": "", "message": ""}
#: What a journal without them is called, so that no run takes it for a journal.
SUFFIX = ".without-raw.jsonl"
#: Other files of a run that quote providers.
QUOTING = ("journal/*.torn", "logs/collect-*.log", "logs/probe.log", "probe.json")


def without_raw(path: str | Path) -> Iterator[bytes]:
    """Yield the lines of a journal without the words of the provider.

    Raises
    ------
    JournalError
        A line is damaged.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            record = decoded(line)
            if record is None:
                where = f"{path}, line {number}"
                raise JournalError("not a line of a journal", where=where, mend=RESTORE)
            record.pop("crc", None)
            yield encoded({**record, **WORDS})


def withheld_of(run: str, names: Iterable[str], *, root: str = "") -> dict[str, dict[str, str]]:
    """Tell what stands in an archive without raw text in the place of files that hold such text.

    Parameters
    ----------
    run : str
        Name of the run.
    names : iterable of str
        Files of the run, as its manifest names them.
    root : str
        Folder that the names are relative to, with its slash.

    Returns
    -------
    dict
        By name: the name of what stands in its place and its SHA-256, or nothing.
    """
    found: dict[str, dict[str, str]] = {}
    folder = f"results/{run}/"
    for name in names:
        if fnmatch(name, f"{folder}journal/*.jsonl"):
            digest = hashlib.sha256()
            for line in without_raw(f"{root}{name}"):
                digest.update(line)
            found[name] = {stripped_name(name): digest.hexdigest()}
        elif any(fnmatch(name, folder + pattern) for pattern in QUOTING):
            found[name] = {}
    return found


def stripped_name(name: str) -> str:
    """Name a journal without raw text."""
    return name.removesuffix(".jsonl") + SUFFIX
