"""Digests of code and files, the manifest, and what scripts do around their call."""

import hashlib
import logging

import pytest

from moralscale import digest
from moralscale.digest import code_digest, file_digest
from moralscale.errors import ConfigError
from moralscale.manifest import digest_of, digests, make_manifest
from moralscale.scripting import job


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: fit imports model, plot imports neither and has a template."""
    files = {
        "fit.py": "from moralscale.model import build\n",
        "model.py": "def build(): ...\n",
        "plot/__init__.py": "from moralscale.plot import draw\n",
        "plot/draw.py": "import math\n",
        "plot/page.html.j2": "<p>",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(digest, "_PACKAGE", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("fit.py", {"moralscale.fit"}),
        ("model.py", {"moralscale.fit", "moralscale.model"}),
        ("plot/draw.py", {"moralscale.plot"}),
        ("plot/page.html.j2", {"moralscale.plot"}),
    ],
)
def test_code_digest_follows_imports(package, edited, changes):
    names = ("moralscale.fit", "moralscale.model", "moralscale.plot")
    before = {name: code_digest(name) for name in names}
    assert before == {name: code_digest(name) for name in names}
    with (package / edited).open("a") as file:
        file.write("# edited\n")
    assert {name for name in names if code_digest(name) != before[name]} == changes


def test_collection_code_is_no_part_of_the_digest_of_a_fit():
    sources = digest.code_digest("moralscale.fit")
    assert sources == digest.code_digest("moralscale.fit", "moralscale.model")


def test_digests_are_of_every_file_once_sorted(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("b.csv", "folder/a.csv", "folder/.snakemake_timestamp"):
        (tmp_path / name).write_text(name)
    found = digests([tmp_path / "folder", tmp_path / "b.csv"], root=f"{tmp_path}/")
    assert list(found) == ["b.csv", "folder/a.csv"]
    assert found["b.csv"] == hashlib.sha256(b"b.csv").hexdigest()
    assert found["b.csv"] == file_digest(tmp_path / "b.csv")


def test_a_manifest_holds_its_own_digest():
    files = {"inputs": {"b.csv": "00"}}
    found = make_manifest("quick", origin="simulated", config={"seed": 1}, files=files, git=None)
    assert found["config"] == {"seed": 1}
    assert found["seed"] == 1
    assert found["outputs"] == {}
    assert "pymc" in found["versions"]
    assert found["digest"] == digest_of(found)
    assert digest_of({**found, "seed": 2}) != found["digest"]


def test_the_digest_of_the_package_is_of_all_its_files(package):
    before = digest.package_digest()
    assert before == digest.package_digest()
    (package / "plot/page.html.j2").write_text("<p>edited")
    assert digest.package_digest() != before


def test_a_job_ends_a_users_error_in_one_line_with_code_two(tmp_path, capsys):
    log = tmp_path / "logs/job.log"
    with pytest.raises(SystemExit) as stop, job(log):
        raise ConfigError("unknown key 'x'", where="config.yaml", mend="did you mean 'y'?")
    assert stop.value.code == 2
    line = "error: config.yaml: unknown key 'x'; did you mean 'y'?\n"
    assert log.read_text() == line
    assert capsys.readouterr().err == line


def test_a_job_does_not_hide_other_errors_and_leaves_logging_as_it_was(tmp_path):
    handlers = list(logging.getLogger("moralscale").handlers)
    with pytest.raises(ZeroDivisionError), job(tmp_path / "job.log"):
        1 / 0  # noqa: B018
    assert logging.getLogger("moralscale").handlers == handlers
