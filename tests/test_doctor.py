"""What `moralscale doctor` finds, and that it never shows a key."""

from __future__ import annotations

import re
from collections import namedtuple

import pytest
import yaml

from moralscale import new_project
from moralscale.cli.main import main
from moralscale.doctor import State, diagnose

KEY, SECRET = "MORALSCALE_TEST_KEY", "do-not-show-this"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A fresh project, and the working directory in it."""
    new_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def ask(project, **judge):
    """Let the run ask one real judge."""
    described = {"provider": "compatible", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    (project / "config/judges.yaml").write_text(yaml.safe_dump({"asked": described | judge}))
    config = {"runs": {"mine": {"judges": ["asked"]}}}
    (project / "config/real.yaml").write_text(yaml.safe_dump(config))
    return project / "config/real.yaml"


def state_of(found, what):
    return next(each for each in found if each.what == what)


def test_a_fresh_project_lacks_nothing_essential(project):
    found = diagnose()
    assert [each for each in found if each.state is State.MISSING] == []
    assert state_of(found, "configuration").state is State.OK


def test_a_missing_key_is_named_with_its_judges_and_how_to_mend_it(project, monkeypatch, capsys):
    monkeypatch.delenv(KEY, raising=False)
    config = ask(project, api_key_env=KEY)
    missing = state_of(diagnose(config), f"key {KEY}")
    assert (missing.state, missing.text) == (State.MISSING, "not set, needed by asked")
    assert f"export {KEY}" in missing.mend
    with pytest.raises(SystemExit) as ended:
        main(["doctor", str(config)])
    assert ended.value.code == 2
    assert re.search(r"^\d missing$", capsys.readouterr().out, flags=re.MULTILINE)


def test_a_key_that_is_set_is_never_shown(project, monkeypatch, capsys):
    monkeypatch.setenv(KEY, SECRET)
    config = ask(project, api_key_env=KEY)
    with pytest.raises(SystemExit) as ended:
        main(["doctor", str(config)])
    assert ended.value.code == 0
    said = capsys.readouterr()
    assert KEY in said.out
    assert SECRET not in said.out + said.err


def test_a_fault_of_the_configuration_is_a_finding(project):
    path = project / "config/config.yaml"
    path.write_text(path.read_text().replace("panel: small", "panel: smaal"))
    found = state_of(diagnose(), "configuration")
    assert found.state is State.MISSING
    assert "unknown panel 'smaal'" in found.text
    assert "small" in found.mend


def test_a_folder_that_cannot_be_written_and_a_full_disk_are_missing(project, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(10**12, 10**12, 10**7))
    found = diagnose(folder=project / "config/config.yaml")
    assert state_of(found, "folder of the run").state is State.MISSING
    assert state_of(found, "disk").state is State.MISSING


def test_a_package_that_is_too_old_is_named(monkeypatch):
    from moralscale import doctor

    there = doctor.version
    monkeypatch.setattr(doctor, "version", lambda n: "0.1" if n == "typer" else there(n))
    found = state_of(diagnose(), "packages")
    assert found.state is State.MISSING
    assert found.text.startswith("typer 0.1, where >=")
    assert "typer 0.1" in state_of(diagnose(), "versions").text


def test_without_a_compiler_there_is_a_warning(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert state_of(diagnose(), "compiler").state is State.WARNING
