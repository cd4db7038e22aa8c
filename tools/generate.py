"""Write what follows from other files: ``make generate``; a test fails where one is out of date.

- ``environment.yml`` from ``pyproject.toml``;
- ``workflow/schemas/*.json`` and the key tables of ``config/README.md`` from `moralscale.config`;
- ``docs/dictionary.md`` from ``docs/dictionary.yaml`` and what it is checked against;
- the table of functions in ``docs/api.md`` from their docstrings.
"""

from __future__ import annotations

import ast
import json
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

import dictionary
from moralscale import _PUBLIC
from moralscale.config import Config, Judge, Name

ROOT = Path(__file__).resolve().parents[1]
type Schema = dict[str, Any]

ENVIRONMENT = """\
# Made from pyproject.toml by `make generate`; change that file instead. For conda users:
#   conda env create -f environment.yml && conda activate {name}
#   pip install --no-deps -e .
name: {name}
channels:
  - conda-forge
  - bioconda
  - nodefaults
dependencies:
  - python {python}
  - pip
{packages}
"""


def main() -> None:
    """Write every generated file of the project."""
    for path, text in generated(ROOT).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


def generated(root: Path) -> dict[Path, str]:
    """Return the text of each generated file under `root`, as it should be.

    Files that are generated in part are read for the rest of their text.
    """
    config, judges = config_schema(), judges_schema()
    readme, api = root / "config/README.md", root / "docs/api.md"
    text = readme.read_text(encoding="utf-8")
    for marker, schema in {"config": config, "judges": judges}.items():
        text = between_markers(text, marker, key_tables(schema))
    return {
        root / "environment.yml": environment((root / "pyproject.toml").read_text("utf-8")),
        root / "workflow/schemas/config.schema.json": as_json(config),
        root / "workflow/schemas/judges.schema.json": as_json(judges),
        root / "docs/dictionary.md": dictionary.page(root),
        api: between_markers(api.read_text(encoding="utf-8"), "functions", function_table(root)),
        readme: text,
    }


def function_table(root: Path) -> str:
    """Return a Markdown table of the public functions: name, what it does, where it is."""
    rows = ["| function | what it does | module |", "|---|---|---|"]
    for name, module in _PUBLIC.items():
        meaning = first_line(root / "src" / module.replace(".", "/"), name)
        rows.append(f"| `{name}` | {meaning.replace('``', '`')} | `{module}` |")
    return "\n".join(rows)


def first_line(place: Path, name: str) -> str:
    """Read the first line of a function's docstring without importing its module."""
    files = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    for path in files:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return (ast.get_docstring(node) or "").splitlines()[0]
    raise ValueError(f"no function {name} in {place}")


def environment(pyproject: str) -> str:
    """Return a conda environment with the dependencies that `pyproject` (TOML) asks for."""
    project = tomllib.loads(pyproject)["project"]
    packages = [
        re.sub(r"^([\w.-]+)(.+)", r"  - \1 \2", spec) for spec in sorted(project["dependencies"])
    ]
    return ENVIRONMENT.format(
        name=project["name"], python=project["requires-python"], packages="\n".join(packages)
    )


def config_schema() -> Schema:
    """Return the JSON schema of a workflow configuration."""
    return tidy(Config.model_json_schema(), "Configuration of moralscale")


def judges_schema() -> Schema:
    """Return the JSON schema of a file of judges, like ``config/judges.yaml``."""
    return tidy(TypeAdapter(dict[Name, Judge]).json_schema(), "Judges of moralscale")


def tidy(schema: Schema, title: str) -> Schema:
    """Complete what pydantic writes: a dialect, a description of each key, closed mappings."""
    definitions = schema.get("$defs", {})
    for node in [schema, *definitions.values()]:
        node.pop("title", None)
        for value in [node, *node.get("properties", {}).values()]:
            value.pop("title", None)
            if "patternProperties" in value:
                value.setdefault("additionalProperties", False)
            if "$ref" in value:
                value.setdefault("description", definitions[target(value)]["description"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def as_json(schema: Schema) -> str:
    """Write a schema as text."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def key_tables(schema: Schema) -> str:
    """Return Markdown tables of the keys of `schema`, one a section, outer sections first."""
    tables = []
    for prefix, section, defaults in sections(schema, schema["$defs"]):
        required = section.get("required", [])
        rows = [
            key_row(key, value, key in required, defaults.get(key, value.get("default")))
            for key, value in section["properties"].items()
        ]
        head = [f"### `{prefix}`", ""] if prefix else []
        tables.append(
            "\n".join([*head, "| key | value | default | meaning |", "|---|---|---|---|", *rows])
        )
    return "\n\n".join(tables)


def sections(
    schema: Schema, definitions: Schema, prefix: str = "", defaults: Schema | None = None
) -> Iterator[tuple[str, Schema, Schema]]:
    """Walk through the mappings with fixed keys, each with its path and its defaults there."""
    defaults = defaults or {}
    if "properties" in schema:
        yield prefix, schema, defaults
    for step, value in inner(schema):
        path = f"{prefix}.{step}" if prefix else step
        here = defaults.get(step) or value.get("default")
        yield from sections(definitions[target(value)], definitions, path, here)


def inner(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the references of a schema to its sections, by the step that leads there."""
    for key, value in schema.get("properties", {}).items():
        for option in [value, *value.get("anyOf", ())]:
            if "$ref" in option:
                yield key, option
        for _, named in inner({"patternProperties": value.get("patternProperties", {})}):
            yield f"{key}.NAME", named
    for named in schema.get("patternProperties", {}).values():
        if "$ref" in named:
            yield "NAME", named


def target(reference: Schema) -> str:
    """Return the name of the definition that `reference` points to."""
    name: str = reference["$ref"].rsplit("/", 1)[-1]
    return name


def key_row(key: str, value: Schema, required: bool, default: Any) -> str:
    """Return one row of a key table."""
    shown = "required" if required else "below" if "$ref" in value else in_yaml(default)
    meaning = " ".join(value["description"].replace("``", "`").split())
    cells = [f"`{key}`", kind(value), shown, meaning]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def kind(value: Schema) -> str:
    """Put the type of a value and its bounds into words."""
    if "$ref" in value:
        return "mapping"
    if "anyOf" in value:
        return " or ".join(kind(option) for option in value["anyOf"])
    if "enum" in value:
        return " or ".join(f"`{option}`" for option in value["enum"])
    if "prefixItems" in value:
        return f"list of {len(value['prefixItems'])} {kind(value['prefixItems'][0])}s"
    if value.get("type") == "array":
        return f"list of: {kind(value['items'])}"
    if value.get("type") in ("integer", "number"):
        return ", ".join([value["type"], *bounds(value)])
    if value.get("type") == "boolean":
        return "`true` or `false`"
    if "pattern" in value:
        return "name"
    return {"string": "text", "null": "`null`"}.get(value.get("type", ""), "mapping")


def bounds(value: Schema) -> Iterator[str]:
    """Put the bounds of a number into words."""
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    yield from (f"{word} {short(value[bound])}" for bound, word in words.items() if bound in value)


def short(number: float) -> str:
    """Write a bound; those that come from the width of integers as powers of two."""
    return f"{number:.10g}" if abs(number) < 2**31 else f"2^{math.log2(number):g}"


def in_yaml(value: Any) -> str:
    """Write a default as one would in YAML, on one line."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)
    return f"`{text.removesuffix('...\n').strip()}`"


def between_markers(text: str, marker: str, inside: str) -> str:
    """Replace what stands in `text` between the two comments that name `marker`."""
    start, end = f"<!-- {marker}: generated -->", f"<!-- {marker}: end -->"
    head, rest = text.split(start)
    _, tail = rest.split(end)
    return f"{head}{start}\n{inside}\n{end}{tail}"


if __name__ == "__main__":
    main()
