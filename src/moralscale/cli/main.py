"""The command ``moralscale``: its commands, and how it ends on an error."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated

import typer

from moralscale import __version__
from moralscale.errors import MoralscaleError
from moralscale.scripting import INTERRUPTED, USER_ERROR, of_system

#: Commands under their headings, in the order of the help; ``compare-runs`` is the function
#: ``compare_runs`` of ``cli/compare_runs.py``. What takes time to import is imported inside that
#: function. A docstring begins with a line that fits the help's screen and ends with an example.
PANELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Begin": ("new", "doctor", "rate"),
        "Collect": ("power", "estimate", "probe"),
        "Fit and look": ("fit", "check", "compare", "summary", "compare-runs", "verify", "archive"),
    }
)
COMMANDS: tuple[str, ...] = tuple(name for names in PANELS.values() for name in names)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"moralscale {__version__}")
        raise typer.Exit


def _about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How language models weigh moral acts, alone and combined."""


def make_app() -> typer.Typer:
    """Assemble the commands."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(_about)
    for panel, names in PANELS.items():
        for name in names:
            module = import_module(f"moralscale.cli.{name.replace('-', '_')}")
            command = getattr(module, name.replace("-", "_"))
            app.command(name, rich_help_panel=panel)(command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's error is one line on standard error.

    Raises
    ------
    SystemExit
        Always: 0, or 2 after an error that a user can mend, or 130 after an interrupt.
    """
    try:
        make_app()(args=arguments, prog_name="moralscale")
    except MoralscaleError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Who reads standard output (head, less) has seen enough.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        print(f"error: {of_system(error)}", file=sys.stderr)
        sys.exit(USER_ERROR)


def _drop_output() -> None:
    """Let what is left of standard output go nowhere: it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
