"""A project of one's own, as `moralscale new` writes it."""

from __future__ import annotations

import pytest

from moralscale import new_project
from moralscale.config import read_config
from moralscale.errors import ConfigError
from moralscale.resources import find, project_folder, workflow_file


@pytest.mark.parametrize("name", ["mine", "wïth spaces", 'it\'s "quoted"', "a/b/c"])
def test_a_project_is_complete_and_valid(tmp_path, name):
    folder = tmp_path / name
    files = new_project(folder)
    assert all(path.is_file() for path in files)
    config = read_config(folder / "config/config.yaml", root=folder)
    assert set(config.runs) == {"mine"}
    for part in ("scenarios/scenes.csv", "config/priors/default.yaml", "config/judges.yaml"):
        assert (folder / part).read_bytes() == (project_folder() / part).read_bytes()


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"not empty, it holds 'notes\.txt'"):
        new_project(tmp_path)
    with pytest.raises(ConfigError, match="this is a file"):
        new_project(tmp_path / "notes.txt")
    with pytest.raises(ConfigError, match="cannot be written"):
        new_project(tmp_path / "notes.txt/below")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_what_the_package_brings_along_gives_way_to_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    brought = find("config/priors/default.yaml")
    assert brought == project_folder() / "config/priors/default.yaml"
    (tmp_path / "config/priors").mkdir(parents=True)
    (tmp_path / "config/priors/default.yaml").write_text("own")
    assert find("config/priors/default.yaml").read_text() == "own"
    assert not find("config/priors/missing.yaml").exists()


def test_the_workflow_is_found(tmp_path):
    with open(workflow_file(), encoding="utf-8") as file:
        assert "rule all:" in file.read()
