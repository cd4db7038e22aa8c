"""A project of one's own: a small run that works at once, with everything in it to change."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from moralscale.errors import ConfigError
from moralscale.resources import project_folder

#: Files that lie beside this module and are copied with it; a key is where one goes.
WRITTEN = {
    "README.md": "README.md",
    "Snakefile": "Snakefile",
    "config/config.yaml": "config.yaml",
    ".gitignore": "gitignore",
}
#: What is copied from what the package brings along.
COPIED = (
    "config/judges.yaml",
    "config/prices.yaml",
    "config/published.yaml",
    "config/priors",
    "config/prompts",
    "scenarios/scenes.csv",
    "scenarios/scenes.fr.csv",
)


def new_project(folder: str | Path) -> list[Path]:
    """Write a project of one's own into a new or empty folder.

    It holds a small simulated run, a Snakefile that takes the installed workflow, and copies of
    the corpus, judges, prompts, priors and prices, which are its own from then on.

    Parameters
    ----------
    folder : path
        The folder to make; one that is there must be empty.

    Returns
    -------
    list of Path
        The files that were written, sorted.

    Raises
    ------
    ConfigError
        The folder is not empty, is a file, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     files = new_project(Path(there) / "mine")
    ...     [path.name for path in files if path.parent.name == "mine"]
    ['.gitignore', 'README.md', 'Snakefile']
    """
    folder = Path(folder)
    _check_empty(folder)
    try:
        for place, name in WRITTEN.items():
            _copy(Path(__file__).with_name(name), folder / place)
        for place in COPIED:
            _copy(project_folder() / place, folder / place)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise ConfigError(what, where=str(folder), mend="name a folder elsewhere") from None
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError("this is a file", where=str(folder), mend="name a folder")
    try:
        held = sorted(os.listdir(folder)) if folder.is_dir() else []
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=str(folder)) from None
    if held:
        what = f"the folder is not empty, it holds {held[0]!r}"
        raise ConfigError(what, where=str(folder), mend="name a new one: nothing is written over")


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or the files of a folder, without the rights of the source."""
    if source.is_dir():
        for path in sorted(source.iterdir()):
            _copy(path, target / path.name)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
