"""The documentation as a site: ``make docs``, or ``sphinx-build -W -c docs . build/site``.

Pages are the Markdown files of the project where they lie, so that each link in them holds on a
code host and on the site alike. Nothing is fetched: theme and scripts come with the packages.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import moralscale

ROOT = Path(__file__).resolve().parents[1]
# Sphinx imports what it documents, and these two tell of it.
for talkative in ("arviz", "pytensor"):
    logging.getLogger(talkative).setLevel(logging.WARNING)

project = "moralscale"
copyright = "the authors of moralscale. Code: Apache-2.0, scenes: CC BY 4.0"
version = release = moralscale.__version__
language = "en"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = [
    "*.md",
    "benchmarks/*.md",
    "config/README.md",
    "docs/*.md",
    "docs/paper-template/README.md",
    "examples/README.md",
    "results/README.md",
    "scenarios/README.md",
]
# Folders that are not searched, since they are large.
exclude_patterns = [".*", "build", "dist", "results/*/**", "src", "tests", "workflow"]

# Blocks that name no language are commands, output and equations.
highlight_language = "none"

html_theme = "furo"
html_title = f"moralscale {release}"
html_copy_source = False
html_show_sphinx = False

myst_heading_anchors = 4
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

#: The pages in the order of the navigation; one that is not there is passed over.
NAVIGATION = {
    "Begin": ["docs/quickstart", "docs/gallery", "docs/faq"],
    "Your own": [
        "docs/judges",
        "docs/scenes",
        "docs/corpora",
        "docs/judgments",
        "docs/rating",
        "docs/extending",
        "docs/cluster",
        "docs/performance",
        "config/README",
    ],
    "Method": [
        "docs/protocol",
        "docs/model",
        "docs/estimators",
        "docs/twostep",
        "docs/laplace",
        "docs/power",
        "docs/sensitivity",
        "docs/calibration",
        "scenarios/README",
    ],
    "Looking": [
        "docs/inspection",
        "docs/provenance",
        "results/README",
        "docs/data",
        "docs/dictionary",
        "docs/api",
    ],
    "The project": ["ARCHITECTURE", "CHANGELOG"],
}


def pages() -> list[str]:
    """Return every page but the first, by name."""
    found = [path for pattern in include_patterns for path in ROOT.glob(pattern)]
    names = {path.relative_to(ROOT).with_suffix("").as_posix() for path in found}
    return sorted(names - {root_doc})


def navigation() -> str:
    """Return hidden tables of contents: those of `NAVIGATION`, and one of all other pages."""
    there = pages()
    parts = {title: [n for n in names if n in there] for title, names in NAVIGATION.items()}
    listed = {name for names in parts.values() for name in names}
    parts["More"] = [name for name in there if name not in listed]
    return "\n".join(
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *names, "```", ""])
        for title, names in parts.items()
        if names
    )


def reference() -> str:
    """Return directives that write out the docstrings of every public function."""
    names = [name for name in moralscale.__all__ if not name.startswith("__")]
    directives = "\n".join(f".. autofunction:: moralscale.{name}\n" for name in names)
    return f"\n## Reference\n\n```{{eval-rst}}\n{directives}\n```\n"


def complete(app, name, source):
    """Add to a page what only the site has."""
    if name == root_doc:
        source[0] += "\n\n" + navigation()
    if name == "docs/api":
        source[0] += reference()


def copy_first_page(app, fault):
    """Let a site be opened at its folder."""
    if fault is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app):
    """Connect the hooks."""
    app.connect("env-get-outdated", lambda *_: [root_doc])  # new pages make no other page new
    app.connect("source-read", complete)
    app.connect("build-finished", copy_first_page)
