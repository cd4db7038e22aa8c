"""Where a command writes, checked before it computes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from moralscale.errors import ConfigError


def check_targets(*targets: Path | None, reads: Iterable[Path | None] = ()) -> None:
    """Make the folders of what will be written, and refuse what cannot be.

    Parameters
    ----------
    *targets : path or None
        Files that will be written.
    reads : iterable of path or None
        Files that are read, and never written over.

    Raises
    ------
    ConfigError
        A target is a folder, is read or written by the same command, or cannot be written.
    """
    used = {path.resolve() for path in reads if path is not None}
    for target in targets:
        if target is None:
            continue
        if target.resolve() in used:
            what = "this file is read, or written, by the same command"
            raise ConfigError(what, where=str(target), mend="name another")
        used.add(target.resolve())
        if target.is_dir():
            raise ConfigError("this is a folder", where=str(target), mend="name a file in it")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ConfigError(f"cannot be written: {reason}", where=str(target)) from None
        if not os.access(target if target.exists() else target.parent, os.W_OK):
            what = "cannot be written: permission denied"
            raise ConfigError(what, where=str(target), mend="name a file elsewhere")
