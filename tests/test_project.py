"""The project's own files agree with each other."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import generate
import moralscale

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SCHEMAS = sorted((ROOT / "workflow/schemas").glob("*.json"))


def tracked_text():
    """Yield path and text of the files that git has or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listing.split("\0")):
        path = ROOT / name
        if path.is_file():
            yield name, path.read_bytes().decode(errors="ignore")


def pins(lock):
    """Versions and number of hashes in a lock, by normalised name."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)
    found = [(re.match(r"([\w.-]+)==([^\s;]+)", block), block) for block in blocks]
    return {
        normalised(match[1]): (match[2], block.count("--hash=sha256:"))
        for match, block in found
        if match
    }


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# Generated files


@pytest.mark.parametrize(
    ("path", "text"),
    generate.generated(ROOT).items(),
    ids=[str(path.relative_to(ROOT)) for path in generate.generated(ROOT)],
)
def test_generated_files_are_up_to_date(path, text):
    assert path.is_file(), "run `make generate`"
    assert path.read_text(encoding="utf-8") == text, "run `make generate`"


def objects(schema):
    """Yield every mapping with fixed keys or named sections in a schema."""
    for node in [schema, *schema.get("$defs", {}).values()]:
        for value in [node, *node.get("properties", {}).values()]:
            if "properties" in value or "patternProperties" in value:
                yield value


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_schemas_are_closed_and_say_what_each_key_means(path):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for node in objects(schema):
        assert node["additionalProperties"] is False
        for key, value in node.get("properties", {}).items():
            assert value["description"], key
            assert ("default" in value) != (key in node.get("required", [])), key


def test_schema_and_types_agree_on_a_misspelt_key():
    schema = json.loads((ROOT / "workflow/schemas/config.schema.json").read_text())
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    jsonschema.validate(config, schema)
    with pytest.raises(jsonschema.ValidationError, match="sampller"):
        jsonschema.validate(config | {"sampller": {}}, schema)
    with pytest.raises(jsonschema.ValidationError, match=r"\.\./out"):
        jsonschema.validate(config | {"runs": {"../out": {"panel": "compressed"}}}, schema)


# Pinned packages


def requirements(lock):
    if lock == "requirements.lock":
        return PYPROJECT["project"]["dependencies"] + PYPROJECT["dependency-groups"]["dev"]
    return PYPROJECT["dependency-groups"]["local"]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-local.lock"])
def test_lock_pins_what_pyproject_asks_for(lock):
    pinned = pins(lock)
    for requirement in map(Requirement, requirements(lock)):
        version, _ = pinned[normalised(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}: run `make lock`"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-local.lock"])
def test_lock_has_hashes_and_no_addresses(lock):
    assert "://" not in (ROOT / lock).read_text()
    assert all(hashes for _, hashes in pins(lock).values())


def test_build_backend_is_pinned():
    # Installing the project itself fetches nothing: its build requirements are in the lock.
    pinned = pins("requirements.lock")
    for requirement in map(Requirement, PYPROJECT["build-system"]["requires"]):
        assert requirement.specifier.contains(pinned[normalised(requirement.name)][0])


# Finding a Python


def find_python(**environment):
    return subprocess.run(
        ["/bin/sh", str(ROOT / ".ci/find-python")],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"} | environment,
        capture_output=True,
        text=True,
    )


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_python_that_does_not_run_is_passed_over(tmp_path):
    script(tmp_path / "python3.12", "echo 'command not found' >&2; exit 127")
    script(tmp_path / "python3", f'exec "{sys.executable}" "$@"')
    result = find_python(PATH=f"{tmp_path}:/usr/bin:/bin")
    assert result.returncode == 0, result.stderr
    found = Path(result.stdout.strip())
    assert found.parent != tmp_path
    version = [found, "-c", "import sys; sys.exit(not (3, 12) <= sys.version_info[:2] <= (3, 14))"]
    assert subprocess.run(version).returncode == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [("exit 3", "wrong version"), ("exit 4", "ensurepip"), ("exit 127", "does not run")],
)
def test_an_unfit_chosen_python_is_one_line(tmp_path, body, reason):
    script(tmp_path / "python", body)
    result = find_python(PYTHON=str(tmp_path / "python"))
    assert result.returncode == 1
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_python_versions_agree():
    supported = SpecifierSet(PYPROJECT["project"]["requires-python"])
    minors = {f"3.{minor}" for minor in range(30) if supported.contains(f"3.{minor}.0")}
    finder = (ROOT / ".ci/find-python").read_text()
    assert set(re.findall(r"python(3\.\d+):", finder)) == minors
    low, high = sorted(minors)[0], sorted(minors)[-1]
    assert f"({low.replace('.', ', ')}) <= sys" in finder
    assert f"<= ({high.replace('.', ', ')})" in finder
    assert (ROOT / ".python-version").read_text().strip() == low
    assert PYPROJECT["tool"]["mypy"]["python_version"] == low
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{low.replace('.', '')}"


# What the project says about itself


def test_versions_agree():
    version = PYPROJECT["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert moralscale.__version__ == version
    assert citation["version"] == version
    assert citation["license"] == PYPROJECT["project"]["license"]
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(rf"^## \[(Unreleased|{re.escape(version)})\]", changes, flags=re.MULTILINE)


def test_the_architecture_names_every_module_and_layer():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = text.split("## Rooms")[1].split("## Where")[0]
    package = ROOT / "src/moralscale"
    # A command, a figure and a check a file each: the rows of their folders say that much.
    many = {"cli", "figures", "checks"}
    modules = {
        path.stem
        for path in package.rglob("*.py")
        if "__" not in path.name and path.relative_to(package).parts[0] not in many
    }
    folders = {path.parent.name for path in package.rglob("__init__.py")} - {"moralscale"}
    told = set(re.findall(r"\w+", rooms))
    assert (modules | folders) - told == set()
    named = set(re.findall(r"`(\w+)/?`", rooms.replace("page.js", "")))
    every = {path.stem for path in package.rglob("*.py")} | folders
    assert named - every - {"CheckResult"} == set()

    layers = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    written = text.split("from a layer to those below it:")[1].split("```")[1].strip()
    words = [set(re.findall(r"\w+", layer)) for layer in layers]
    assert words == [set(re.findall(r"\w+", line)) for line in written.splitlines()]


def test_make_help_lists_every_target():
    listed = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert phony is not None
    assert sorted(listed) == sorted(phony[1].split())


# Written in pieces, so that this file does not hold what it looks for.
FOREIGN = {
    "a home folder": "/" + r"(root|home|Users)/[\w.]+",
    "a package index": r"py" + r"pi\.org|python" + r"hosted\.org",
    "something like a key": r"\bsk-" + r"[A-Za-z0-9]{20,}",
}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the git repository")
@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_names(what):
    files = dict(tracked_text())
    assert "pyproject.toml" in files
    assert [name for name, text in files.items() if re.search(FOREIGN[what], text)] == []
