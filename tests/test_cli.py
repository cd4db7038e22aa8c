"""The command line: what it prints, and how it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

import moralscale
from moralscale.cli.main import COMMANDS, main
from moralscale.errors import ConfigError


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from moralscale.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_names_every_command():
    shown = run("--help")
    assert shown.returncode == 0
    assert all(name in shown.stdout for name in COMMANDS)


def test_version():
    assert run("--version").stdout == f"moralscale {moralscale.__version__}\n"


def test_an_unknown_command_is_a_usage_error():
    assert run("rat").returncode == 2


def test_a_users_error_is_one_line_and_exit_code_2(monkeypatch, capsys):
    def broken():
        def app(**_):
            raise ConfigError("unknown key 'sed'", where="run.yaml", mend="did you mean 'seed'?")

        return app

    monkeypatch.setattr("moralscale.cli.main.make_app", broken)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert capsys.readouterr().err == ("error: run.yaml: unknown key 'sed'; did you mean 'seed'?\n")


def test_importing_the_package_loads_no_modelling_library():
    code = "import sys, moralscale.cli.main; sys.exit('pymc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_is_there():
    for name in moralscale.__all__:
        assert getattr(moralscale, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'rat'"):
        moralscale.rat  # noqa: B018
