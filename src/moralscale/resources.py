"""What the package brings along: the workflow, the corpus, prompts, priors and prices.

In a checkout these lie at its root; a wheel holds a copy of them in ``moralscale/project``.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def project_folder() -> Path:
    """Return the folder that holds what the package brings along.

    Examples
    --------
    >>> (project_folder() / "scenarios/scenes.csv").is_file()
    True
    """
    packaged = _PACKAGE / "project"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1]


def find(path: str | Path) -> Path:
    """Return a path as it is where it exists, else its namesake that the package brings along.

    A path that is neither here nor there is returned as it was given, for an error to name it.

    Parameters
    ----------
    path : str or Path
        Relative to the working directory, or absolute.

    Examples
    --------
    >>> find("config/priors/default.yaml").name
    'default.yaml'
    >>> find("no/such/file.csv").as_posix()
    'no/such/file.csv'
    """
    given = Path(path)
    packaged = project_folder() / given
    return packaged if not given.exists() and packaged.exists() else given


def workflow_file() -> str:
    """Return the path of the Snakemake workflow, for an ``include:``.

    Examples
    --------
    >>> workflow_file().endswith("workflow/Snakefile")
    True
    """
    return str(project_folder() / "workflow/Snakefile")
