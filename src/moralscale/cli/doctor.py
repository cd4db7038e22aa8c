"""``moralscale doctor``: what is missing, and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_COLOURS = {"ok": "green", "warning": "yellow", "missing": "red"}


def doctor(
    config: Annotated[
        Path | None,
        typer.Argument(help="Configuration; config/config.yaml where that is.", show_default=False),
    ] = None,
) -> None:
    """Say what a run needs that is not there, and how to mend it.

    Looks at Python, packages, compiler, configuration, folders, disk and the keys of judges, of
    which it says the names alone. Exit code 2 if something essential is missing.

    Example: moralscale doctor config/frontier.yaml
    """
    from rich.console import Console
    from rich.text import Text

    from moralscale.doctor import State, diagnose
    from moralscale.scripting import USER_ERROR

    console = Console(soft_wrap=True, highlight=False)
    found = diagnose(config)
    for each in found:
        console.print(Text(f"{each.state:8}", _COLOURS[each.state]), Text(each.heading))
        if each.mend:
            console.print(Text(f"{'':8} {each.mend}"))
    missing = sum(each.state is State.MISSING for each in found)
    console.print(f"{missing} missing" if missing else "nothing essential is missing")
    if missing:
        raise typer.Exit(USER_ERROR)
