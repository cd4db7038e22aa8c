"""The command line: what it prints, and how it ends."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys

import pytest
import typer

import moralscale
from moralscale.cli.main import COMMANDS, PANELS, main, make_app
from moralscale.errors import ConfigError
from moralscale.scripting import job


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


def shown_at(width, *arguments):
    """What is printed on a terminal of a width."""
    environment = {**os.environ, "COLUMNS": str(width), "TERMINAL_WIDTH": str(width)}
    return subprocess.run(
        [sys.executable, "-c", "from moralscale.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    ).stdout


def test_help_is_one_screen_under_headings():
    lines = shown_at(80, "--help").splitlines()
    assert len(lines) <= 34
    assert max(map(len, lines)) <= 80
    # One line a command: where a summary wraps, the screen is too small for the next command.
    for panel, names in PANELS.items():
        start = next(k for k, line in enumerate(lines) if f" {panel} " in line)
        assert [line.split()[1] for line in lines[start + 1 : start + 1 + len(names)]] == [*names]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_it_understands(name):
    command = typer.main.get_command(make_app()).commands[name]
    found = re.search(r"Example: moralscale (.+)", command.help)
    assert found, "end the docstring with an example"
    first, *arguments = shlex.split(found[1])
    assert first == name
    command.make_context(name, arguments)  # an unknown option or a missing argument raises


@pytest.mark.parametrize(
    "line",
    [
        "fit j.csv --seed -1",
        f"fit j.csv --seed {2**63}",
        "check p.nc --seed -1",
        "compare a.nc b.nc --seed -1",
        "power --beta -1",
        "power --beta nan",
        "power --judges 1000",
        "power --consistency inf",
        "power --table .",
    ],
)
def test_an_option_out_of_bounds_is_refused_before_anything_is_read(line, capsys):
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert "rror" in capsys.readouterr().err


def test_help_of_a_command_fits_a_narrow_terminal():
    assert max(map(len, shown_at(40, "rate", "--help").splitlines())) <= 40


@pytest.mark.parametrize(
    ("words", "wanted"), [("moralscale do", "doctor"), ("moralscale summary --form", "--format")]
)
def test_a_shell_completes_commands_and_options(words, wanted):
    completing = {
        "_MORALSCALE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from moralscale.cli.main import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **completing},
    )
    assert done.stdout.split() == [wanted]


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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from moralscale.cli.main import main; main(['--version'])"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "error: output: No space left on device; make room, then run the same command again\n"
    )


def test_a_full_disk_ends_a_job_in_one_line_and_other_faults_are_shown(capsys):
    with pytest.raises(SystemExit) as ended, job():
        raise OSError(errno.ENOSPC, "No space left on device", "results/mine/posterior.nc")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: results/mine/posterior.nc: No space left on device; make room")
    with pytest.raises(ConnectionError), job():
        raise ConnectionError("reset")
