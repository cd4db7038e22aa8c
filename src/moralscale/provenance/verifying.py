"""Holding every file of a run against its manifest."""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from moralscale.digest import file_digest
from moralscale.errors import ProvenanceError
from moralscale.manifest import SECTIONS, digest_of, manifest_text
from moralscale.provenance.describing import listed

#: List of an archive's files, as ``sha256sum -c`` reads it.
SUMS = "SHA256SUMS"
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")
_UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError)
MAKE_ANEW = "run the workflow again, which makes the manifest last"


@dataclass(frozen=True)
class Verification:
    """What came of a verification.

    Attributes
    ----------
    run : str
        Name of the run.
    checked : int
        Files whose SHA-256 was computed and is as listed.
    changed : tuple of str
        Files that are not what was listed.
    missing : tuple of str
        Files of the run that are listed and not there.
    unlisted : tuple of str
        Files of the run that are there and not listed: made later, or put there.
    elsewhere : tuple of str
        Inputs and workflow files that are not here, so that nothing can be said of them.
    """

    run: str
    checked: int
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every file of the run is there, is listed, and is what was listed."""
        return not (self.changed or self.missing or self.unlisted)


def verify(path: str | Path) -> Verification:
    """Compute the SHA-256 of every file of a run anew, and hold it against the run's manifest.

    Parameters
    ----------
    path : path
        Folder of a run, such as ``results/compressed``; or an archive, packed or unpacked.

    Raises
    ------
    ProvenanceError
        There is no manifest, it has been edited, or the archive cannot be read.
    """
    path = Path(path)
    if not path.exists():
        mend = "name the folder of a run, such as results/quick, or an archive"
        raise ProvenanceError("there is no such file or folder", where=str(path), mend=mend)
    if path.is_file():
        with _unpacked(path) as folder:
            return _verify_archive(folder)
    return _verify_archive(path) if (path / SUMS).is_file() else _verify_run(path)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run, and check that nobody edited it.

    Raises
    ------
    ProvenanceError
        There is none, or it is not as it was written.
    """
    path = folder / "manifest.json"
    try:
        text = path.read_text(encoding="ascii")
        manifest: dict[str, Any] = json.loads(text)
        whole = manifest["digest"] == digest_of(manifest) and text == manifest_text(manifest)
    except FileNotFoundError:
        raise ProvenanceError("no manifest", where=str(folder), mend=MAKE_ANEW) from None
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        what = "the manifest itself was changed"
        raise ProvenanceError(what, where=str(path), mend=MAKE_ANEW)
    return manifest


def location(name: str, *, run: str, folder: Path) -> Path:
    """Find a file that a manifest names, `folder` being the run's, wherever that was moved to."""
    made = f"results/{run}/"
    if name.startswith(made):
        return folder / name.removeprefix(made)
    return folder.resolve().parents[1] / name


def _verify_run(folder: Path, digest_at: Callable[[Path], str] = file_digest) -> Verification:
    manifest = read_manifest(folder)
    run, made = manifest["run"], f"results/{manifest['run']}/"
    expected = _expected(manifest, folder)
    changed: list[str] = []
    missing: list[str] = []
    elsewhere: list[str] = []
    for name, digest in expected.items():
        path = location(name, run=run, folder=folder)
        if not path.is_file():
            (missing if name.startswith(made) else elsewhere).append(name)
        elif digest_at(path) != digest:
            changed.append(name)
    here = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    known = {name.removeprefix(made) for name in expected}
    return Verification(
        run=run,
        checked=len(expected) - len(changed) - len(missing) - len(elsewhere),
        changed=tuple(changed),
        missing=tuple(missing),
        unlisted=tuple(made + name for name in sorted(here - known) if listed(name)),
        elsewhere=tuple(elsewhere),
    )


def _expected(manifest: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return digests by name, with what an archive without raw text has in the place of some."""
    expected = {name: d for section in SECTIONS for name, d in manifest[section].items()}
    instead = manifest["without_raw"]
    where = {"run": manifest["run"], "folder": folder}
    if any(location(n, **where).is_file() for stripped in instead.values() for n in stripped):
        for name, stripped in instead.items():
            if not location(name, **where).is_file():
                del expected[name]
                expected |= stripped
    return expected


def _verify_archive(folder: Path) -> Verification:
    sums = _sums(folder / SUMS)
    runs = [name for name in sums if re.fullmatch(r"results/[^/]+/manifest\.json", name)]
    if len(runs) != 1 or not (folder / runs[0]).is_file():
        what = f"{SUMS} names no manifest that is here"
        raise ProvenanceError(what, where=str(folder), mend="unpack the whole archive anew")
    # The run's manifest and the list of the archive name most files both: each is read once.
    digest_at = cache(file_digest)
    found = _verify_run((folder / runs[0]).parent, digest_at)
    here = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} - {SUMS}
    missing = [name for name in sums if name not in here]
    changed = [n for n, d in sums.items() if n in here and digest_at(folder / n) != d]
    return Verification(
        run=found.run,
        checked=len(sums) - len(changed) - len(missing),
        changed=_both(found.changed, changed),
        missing=_both(found.missing, missing),
        unlisted=_both(found.unlisted, sorted(here - sums.keys())),
        elsewhere=tuple(name for name in found.elsewhere if name not in missing),
    )


def _both(first: tuple[str, ...], second: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *second]))


def _sums(path: Path) -> dict[str, str]:
    """Read the list of an archive's files.

    Raises
    ------
    ProvenanceError
        A line is none of such a list.
    """
    found = {}
    # Line by line as bytes: a changed byte must not pass for another kind of line end.
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        match = _SUM.fullmatch(line.decode("utf-8", errors="replace"))
        if match is None:
            what = f"line {number} is no digest and name of a file"
            raise ProvenanceError(what, where=str(path), mend="unpack the archive anew")
        found[match[2]] = match[1]
    return found


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """Unpack an archive into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="moralscale-") as folder:
        try:
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as packed:
                    packed.extractall(folder)
            else:
                with tarfile.open(path) as packed:
                    packed.extractall(folder, filter="data")
        except _UNREADABLE as error:
            what = f"not an archive that can be read: {error}"
            raise ProvenanceError(what, where=str(path), mend="fetch it again") from None
        if not (Path(folder) / SUMS).is_file():
            what = f"no {SUMS} in this archive"
            mend = "make one with `moralscale archive`"
            raise ProvenanceError(what, where=str(path), mend=mend)
        yield Path(folder)
