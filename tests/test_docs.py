"""What the documentation tells a user to type is what the code understands."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
import xarray as xr
import yaml
from pydantic import TypeAdapter

from moralscale.cli.main import COMMANDS, make_app
from moralscale.config import Config, Judge, Reporting
from moralscale.figures import FigureData
from moralscale.records import Origin

ROOT = Path(__file__).parents[1]
PAGES = [
    path
    for pattern in ("*.md", "*/README.md", "docs/*.md", "src/moralscale/scaffold/README.md")
    for path in sorted(ROOT.glob(pattern))
    if path.parent.name not in {"build", "dist"}
]
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    """Yield the fenced blocks of the pages, each with where it is."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if match[2] in languages:
                inside = "\n".join(part.removeprefix(match[1]) for part in match[3].split("\n"))
                yield f"{path.relative_to(ROOT)}:{line}", inside


def commands() -> list[tuple[str, str]]:
    """Return what is to be typed, continued lines as one."""
    found = []
    for place, text in blocks("", "sh", "bash", "console"):
        for line in text.replace("\\\n", " ").splitlines():
            typed = line.strip().removeprefix("$ ")
            if typed.startswith("moralscale "):
                found.append((place, typed))
    return found


@pytest.fixture(scope="module")
def app():
    return typer.main.get_command(make_app())


def test_every_command_of_the_documentation_is_understood(app):
    found = commands()
    assert len(found) > 20
    for place, typed in found:
        _, name, *arguments = shlex.split(typed, comments=True)
        assert name in COMMANDS, f"{place}: {typed}"
        if not {"...", "--help"} & set(arguments):
            app.commands[name].make_context(name, arguments)  # raises on an unknown option


def test_python_in_the_documentation_is_python():
    for place, text in blocks("python"):
        body = f"x = {{{text}}}" if text.startswith('"') and not text.startswith('"""') else text
        try:
            ast.parse(body)
        except SyntaxError as error:
            raise AssertionError(f"{place}: {error}") from None


def test_settings_in_the_documentation_are_valid():
    seen = 0
    for place, text in blocks("yaml"):
        data = yaml.safe_load(text)
        assert isinstance(data, dict), place
        if set(data) <= set(Config.model_fields):
            panel = {"runs": {"any": {"judges": ["any"]}}}
            Config.model_validate(panel | data)
            seen += 1
        elif all(isinstance(value, dict) and "provider" in value for value in data.values()):
            TypeAdapter(dict[str, Judge]).validate_python(data)
            seen += 1
    assert seen > 5


def test_the_figure_of_the_documentation_can_be_drawn(tiny_scenes, tiny_composites):
    (code,) = [text for _, text in blocks("python") if "def draw" in text]
    module: dict = {}
    exec(compile(code, "docs/extending.md", "exec"), module)
    names = ["judge-a", "judge-b"]
    values = np.exp(0.1 * np.random.default_rng(1).standard_normal((2, 50, len(names))))
    consistency = xr.DataArray(values, dims=("chain", "draw", "judge"), coords={"judge": names})
    data = FigureData(
        quantities=xr.Dataset({"consistency": consistency.assign_attrs(unit="ratio")}),
        scenes=tiny_scenes,
        composites=tiny_composites,
        reporting=Reporting(),
        origin=Origin.LIVE,
        data="bridged",
        run="tiny",
        truth=None,
        published=pd.DataFrame(columns=["quantity", "index", "unit", "value"]),
    )
    figure = module["draw"](data)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == names
