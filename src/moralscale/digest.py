"""Digests: of code, so that edited code reruns what it made, and of files, for the manifest."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Found as files: importing a module to find its source would run it.
_PACKAGE = Path(__file__).parent


def code_digest(*modules: str) -> str:
    """Hash the source of modules of this package and of everything of it that they import.

    Parameters
    ----------
    *modules : str
        Dotted names, such as ``"moralscale.fit"``.

    Returns
    -------
    str
        16 hex digits that change when any of the sources does.
    """
    sources: dict[str, bytes] = {}
    waiting, seen = list(modules), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _source(name)
        if path is None:
            continue
        source = path.read_bytes()
        waiting += _imports(source)
        sources[name] = source + b"".join(_data_files(path))
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + b"\0" + sources[name] + b"\0")
    return digest.hexdigest()[:16]


def package_digest() -> str:
    """Hash everything of this package, as 16 hex digits."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            name = path.relative_to(_PACKAGE).as_posix()
            digest.update(f"{name}\0{file_digest(path)}\0".encode())
    return digest.hexdigest()[:16]


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _source(name: str) -> Path | None:
    """Path of a module's source; None where `name` is something inside a module."""
    stem = _PACKAGE.joinpath(*name.split(".")[1:])
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


def _data_files(source: Path) -> Iterator[bytes]:
    """Templates and styles that lie in a package, beside its modules."""
    if source.name == "__init__.py":
        for path in sorted(source.parent.iterdir()):
            if path.is_file() and path.suffix not in {".py", ".pyc"}:
                yield path.read_bytes()


@cache
def _imports(source: bytes) -> tuple[str, ...]:
    """Names that a source imports of this package; one source is in the digests of many rules."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return tuple(name for name in found if name.split(".")[0] == "moralscale")
