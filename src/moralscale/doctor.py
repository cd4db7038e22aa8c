"""Whether everything that a run needs is there, and how to mend what is not."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, metadata, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from moralscale.config import Config, load_judges, read_config
from moralscale.errors import MoralscaleError
from moralscale.resources import project_folder

#: Free space, GB: several times what the default run leaves behind; too little for any run.
ENOUGH_DISK, LEAST_DISK = 1.0, 0.1
#: A pinned package in a lock, with what says on which platforms.
_PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)\s*(?:;\s*([^\\\n]+))?", re.MULTILINE)


class State(StrEnum):
    """How a finding is to be taken; `MISSING` means that runs will fail."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    what : str
        Python, packages, versions, compiler, configuration, key NAME, folder, disk.
    state : State
        How it is.
    text : str
        What was found.
    mend : str
        How to mend it; empty where there is nothing to mend.
    """

    what: str
    state: State
    text: str
    mend: str = ""

    @property
    def heading(self) -> str:
        """What was looked at, and what was found."""
        return f"{self.what}: {self.text}"


def diagnose(config: str | Path | None = None, *, folder: str | Path = ".") -> list[Finding]:
    """Look at the environment, and at what a configuration needs of it.

    Parameters
    ----------
    config : path, optional
        A configuration; ``config/config.yaml`` in `folder` if that is there.
    folder : path, optional
        Where the run is to be.

    Returns
    -------
    list of Finding
        Keys of judges by the name of their variable only, never by value.

    Examples
    --------
    >>> found = diagnose()
    >>> next(each.state.value for each in found if each.what == "Python")
    'ok'
    """
    folder = Path(folder)
    found = [_python(), _packages(), _versions(), _compiler()]
    path = folder / "config/config.yaml" if config is None else Path(config)
    if config is not None or path.is_file():
        found += _configuration(path, folder)
    return [*found, *_folders(folder), _disk(folder)]


def _python() -> Finding:
    running = platform.python_version()
    try:
        wanted = metadata("moralscale").get("Requires-Python", "")
    except PackageNotFoundError:
        return Finding("Python", State.OK, f"{running}; moralscale runs from its source")
    if SpecifierSet(wanted).contains(running, prereleases=True):
        return Finding("Python", State.OK, running)
    mend = "make an environment with a Python that fits"
    return Finding("Python", State.MISSING, f"{running}, where {wanted} is needed", mend)


def _packages() -> Finding:
    try:
        wanted = [Requirement(line) for line in metadata("moralscale").get_all("Requires-Dist", [])]
    except PackageNotFoundError:
        mend = "pip install moralscale, or `make environment` in a checkout"
        return Finding("packages", State.WARNING, "moralscale itself is not installed", mend)
    faults = []
    for each in wanted:
        if each.marker is None or each.marker.evaluate({"extra": ""}):
            there = _version(each.name)
            if there is None:
                faults.append(f"{each.name} is not installed")
            elif not each.specifier.contains(there, prereleases=True):
                faults.append(f"{each.name} {there}, where {each.specifier} is needed")
    if not faults:
        return Finding("packages", State.OK, f"{len(wanted)} as moralscale asks for")
    mend = "pip install --upgrade moralscale, or `make environment` in a checkout"
    return Finding("packages", State.MISSING, "; ".join(faults), mend)


def _versions() -> Finding:
    """Hold what is installed against the lock that the tests ran with."""
    lock = project_folder() / "requirements.lock"
    if not lock.is_file():
        return Finding("versions", State.OK, "no lock to hold them against")
    differ, same = [], 0
    for name, pinned, marker in _PIN.findall(lock.read_text(encoding="utf-8")):
        there = _version(name)
        applies = not marker or Requirement(f"{name}; {marker.strip()}").marker.evaluate()  # type: ignore[union-attr]
        if applies and there is not None:
            same += there == pinned
            differ += [f"{name} {there} ({pinned})"] if there != pinned else []
    if not differ:
        return Finding("versions", State.OK, f"{same} packages as in the lock")
    first = ", ".join(differ[:3]) + (", ..." if len(differ) > 3 else "")
    text = f"{len(differ)} of {same + len(differ)} differ from the lock: {first}"
    mend = "fine for most uses; for the same numbers install from requirements.lock"
    return Finding("versions", State.WARNING, text, mend)


def _compiler() -> Finding:
    """Models are compiled by Numba; a C++ compiler is for PyTensor's own mode."""
    if find_spec("numba") is None:
        return Finding("compiler", State.MISSING, "Numba is not installed", "pip install numba")
    found = next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), None)
    if found is None:
        text = "Numba; no C++ compiler"
        mend = "only `sampler.backend: pymc` may be slower without; Debian: apt install g++"
        return Finding("compiler", State.WARNING, text, mend)
    return Finding("compiler", State.OK, f"Numba and {found}")


def _configuration(path: Path, folder: Path) -> list[Finding]:
    try:
        config = read_config(path, root=folder)
        return [Finding("configuration", State.OK, str(path)), *_judges(config, folder)]
    except MoralscaleError as error:
        place = f"{error.where}: " if error.where else ""
        return [Finding("configuration", State.MISSING, place + error.what, error.mend)]


def _judges(config: Config, folder: Path) -> Iterator[Finding]:
    """Look at what real judges need: keys, by the names of their variables, and a local server."""
    names = list(dict.fromkeys(name for run in config.runs.values() for name in run.judges))
    library = load_judges(folder / config.judges_file) if names else {}
    by_key: dict[str, list[str]] = {}
    for name in names:
        if library[name].api_key_env:
            by_key.setdefault(library[name].api_key_env, []).append(name)
        if library[name].provider == "local" and find_spec("xllamacpp") is None:
            text = f"the llama.cpp server of {name} is not installed"
            yield Finding("local server", State.MISSING, text, "`make local` installs it")
    for key, judges in by_key.items():
        whose = ", ".join(judges)
        if os.environ.get(key, "").strip():
            yield Finding(f"key {key}", State.OK, f"set, for {whose}")
        else:
            mend = f"export {key}=..., or take {whose} out of the run"
            yield Finding(f"key {key}", State.MISSING, f"not set, needed by {whose}", mend)


def _folders(folder: Path) -> Iterator[Finding]:
    places = {
        "folder of the run": (folder, "run moralscale in a folder of yours"),
        "temporary folder": (Path(tempfile.gettempdir()), "name another one in TMPDIR"),
        "home, for caches": (Path.home(), "name a folder in HOME, or compiled code is not kept"),
    }
    for what, (path, mend) in places.items():
        fault = _unwritable(path)
        if fault is None:
            yield Finding(what, State.OK, f"{path.resolve()}: writable")
        else:
            state = State.WARNING if what.startswith("home") else State.MISSING
            yield Finding(what, state, f"{path.resolve()}: {fault}", mend)


def _unwritable(folder: Path) -> str | None:
    """Say why nothing can be written in a folder, by writing."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"moralscale")
    except OSError as error:
        return error.strerror or str(error)
    return None


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder.resolve()).free / 1e9
    text = f"{free:.1f} GB free"
    if free >= ENOUGH_DISK:
        return Finding("disk", State.OK, text)
    state = State.WARNING if free >= LEAST_DISK else State.MISSING
    mend = f"make room: with {ENOUGH_DISK:g} GB a run of the study's size is safe"
    return Finding("disk", state, text, mend)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
