"""The choice of `markup.FORMS` as an option."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How a result is printed; csv and json hold the numbers in full."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    LATEX = "latex"
    MD = "md"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
