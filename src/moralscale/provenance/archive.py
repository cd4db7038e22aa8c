"""A run as one file for deposit: a research object that can be verified."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moralscale.errors import ProvenanceError
from moralscale.manifest import SECTIONS
from moralscale.provenance.crate import METADATA, README, WORKFLOW, Part, crate_metadata, readme
from moralscale.provenance.verifying import SUMS, location, read_manifest, verify
from moralscale.provenance.withheld import without_raw

KINDS = (".zip", ".tar", ".tar.gz")
#: Before this, the zip format knows no time.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Member:
    """A file of an archive.

    Attributes
    ----------
    section : str
        Section of the manifest that lists it, or ``manifest``.
    source : Path
        Where it is.
    stripped : bool
        Whether it is a journal that goes in without the words of the provider.
    """

    section: str
    source: Path
    stripped: bool = False

    def content(self) -> bytes:
        """Return what goes into the archive."""
        if self.stripped:
            return b"".join(without_raw(self.source))
        return self.source.read_bytes()


def archive_run(
    run: str | Path,
    target: str | Path,
    *,
    raw: bool = True,
    licence: str = "https://creativecommons.org/licenses/by/4.0/",
) -> int:
    """Pack a run, what it was made of and the workflow that made it into one file.

    The archive is a Workflow Run RO-Crate with a list of digests for ``sha256sum -c``. The same run
    gives the same bytes, on the same version of zlib.

    Parameters
    ----------
    run : path
        Folder of a run that is finished and in its place, ``results/RUN``.
    target : path
        File to write: .zip, .tar or .tar.gz.
    raw : bool
        Whether journals keep what providers sent. Without, journals have other names, so that they
        are not taken for such as a run can go on from.
    licence : str
        URL of the licence of the data.

    Returns
    -------
    int
        Files in the archive.

    Raises
    ------
    ProvenanceError
        A file is not what the manifest says, or is gone; the workflow is not known, or the kind of
        archive; the licence is no URL.
    """
    run, target = Path(run), Path(target)
    if not target.name.endswith(KINDS):
        what = f"unknown kind of archive, '{target.name}'"
        raise ProvenanceError(what, where=str(target), mend=f"use one of {', '.join(KINDS)}")
    if not licence.startswith(("http://", "https://")):
        what = f"the licence '{licence}' is no URL"
        raise ProvenanceError(what, mend="give the address of its text: https://...")
    found = verify(run)
    if not found.passed or found.elsewhere:
        first = (*found.changed, *found.missing, *found.unlisted, *found.elsewhere)[0]
        what = f"{first} is not as the manifest says; nothing was packed"
        mend = f"see `moralscale verify {run}`; run the workflow again"
        raise ProvenanceError(what, where=str(run), mend=mend)
    members = _members(run, raw=raw)
    if WORKFLOW not in members:
        what = "the workflow's own files were not on this disk when the manifest was made"
        raise ProvenanceError(what, where=str(run), mend="run it from a copy of the project")
    _write(target, members, run=run, licence=licence)
    return len(members) + 3


def _members(run: Path, *, raw: bool) -> dict[str, Member]:
    """Files of an archive by name, sorted."""
    manifest = read_manifest(run)
    made = f"results/{manifest['run']}/"
    found = {f"{made}manifest.json": Member("manifest", run / "manifest.json")}
    for section in SECTIONS:
        for name, digest in manifest[section].items():
            member = Member(section, location(name, run=manifest["run"], folder=run))
            instead = manifest["without_raw"].get(name)
            if raw or instead is None:
                found[_inside(name, digest)] = member
            else:
                for stripped in instead:
                    found[stripped] = Member(section, member.source, stripped=True)
    return dict(sorted(found.items()))


def _inside(name: str, digest: str) -> str:
    """Name of a file inside an archive; an input from outside the project has no path there."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return f"elsewhere/{digest[:12]}-{Path(name).name}"
    return name


def _write(target: Path, members: dict[str, Member], *, run: Path, licence: str) -> None:
    """Write beside the target first, so that half an archive is never taken for one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    try:
        with ExitStack() as stack:
            add = _packer(partial, target.name, stack)
            manifest, parts = read_manifest(run), []
            for name, content in _contents(members, readme(manifest)):
                add(name, content)
                digest = hashlib.sha256(content).hexdigest()
                section = members[name].section if name in members else "readme"
                parts.append(Part(name, section, len(content), digest))
            crate = json.dumps(crate_metadata(manifest, parts, licence=licence), indent=1) + "\n"
            add(METADATA, crate.encode("ascii"))
            sums = {part.name: part.sha256 for part in parts}
            sums[METADATA] = hashlib.sha256(crate.encode("ascii")).hexdigest()
            lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
            add(SUMS, lines.encode("utf-8"))
        os.replace(partial, target)
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise ProvenanceError(what, where=str(target), mend="make room, or name another") from None
    finally:
        partial.unlink(missing_ok=True)


def _contents(members: dict[str, Member], about: str) -> Iterator[tuple[str, bytes]]:
    yield README, about.encode("utf-8")
    for name, member in members.items():
        yield name, member.content()


def _packer(path: Path, name: str, stack: ExitStack) -> Callable[[str, bytes], None]:
    """Open an archive; return what adds a file to it."""
    if name.endswith(".zip"):
        packed = stack.enter_context(zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED))

        def add(name: str, content: bytes) -> None:
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = 0o644 << 16
            info.create_system = 3
            packed.writestr(info, content, zipfile.ZIP_DEFLATED, 6)

        return add
    stream: Any = stack.enter_context(path.open("wb"))
    if name.endswith(".gz"):
        # Without name and time of the file, which would make the bytes differ.
        stream = stack.enter_context(gzip.GzipFile("", "wb", 6, stream, mtime=0))
    tar = stack.enter_context(tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT))

    def append(name: str, content: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(content), 0o644
        tar.addfile(info, io.BytesIO(content))

    return append
