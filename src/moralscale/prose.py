r"""Numbers and tables for a manuscript, so that it never holds a typed number.

``numbers/macros.tex`` defines one command, ``\moralscale{KEY}``, and what each key stands for; an
unknown key is an error when the manuscript is compiled. Every number is a file of its own too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from moralscale.inspection import key_rows
from moralscale.markup import escaped, latex_table
from moralscale.printing import JUDGE, KEY, estimate, interval, number, percent
from moralscale.records import Origin
from moralscale.report import tables as printed

#: What is said of a quantity, by the last part of a key; the key without it is the mean.
PARTS: dict[str, Callable[[pd.Series], str]] = {
    "": lambda row: number(row["mean"], row["unit"]),
    "median": lambda row: number(row["median"], row["unit"]),
    "sd": lambda row: number(row["sd"], row["unit"]),
    "low": lambda row: number(row["hdi_low"], row["unit"]),
    "high": lambda row: number(row["hdi_high"], row["unit"]),
    "interval": interval,
    "estimate": estimate,
    "direction": lambda row: percent(row["pd"]),
    "rope": lambda row: percent(row["rope"]),
}

_HEAD = r"""% Written by moralscale from {run}; do not edit.
\makeatletter
\newcommand{{\moralscale}}[1]{{%
  \@ifundefined{{moralscale@#1}}%
    {{\PackageError{{moralscale}}{{There is no number '#1'}}{{Look it up in macros.tex.}}}}%
    {{\csname moralscale@#1\endcsname}}}}
\newcommand{{\moralscalesimulated}}[2]{{{choice}}}
"""


def numbers(estimates: pd.DataFrame, *, run: str) -> dict[str, str]:
    """Give every number that prose may quote, by key.

    Parameters
    ----------
    estimates : DataFrame
        ``tables/estimates.csv`` of a run.
    run : str
        Name of the run.

    Returns
    -------
    dict
        Texts by key: ``bridged.beta``, ``bridged.beta.interval``,
        ``bridged.foundation_residual.care.sd``, and ``run`` and ``origin``. A fit is named by its
        data, and by rule and prior where there are several.
    """
    out = {"run": run, "origin": str(estimates["origin"].iloc[0])}
    for fit, rows in printed.fits(estimates).items():
        for _, row in key_rows(rows, (*KEY, *JUDGE)).iterrows():
            name = ".".join(
                part for part in (*fit.split(", "), row["quantity"], row["index"]) if part
            )
            for part, said in PARTS.items():
                text = said(row)
                if text != "-":
                    out[f"{name}.{part}".rstrip(".")] = text
    return out


def macros(texts: Mapping[str, str]) -> str:
    r"""Write the macro file of `numbers`.

    ``\moralscalesimulated{A}{B}`` gives A where the judgments are simulated, else B.
    """
    choice = "#1" if texts["origin"] == Origin.SIMULATED else "#2"
    lines = [
        rf"\expandafter\def\csname moralscale@{key}\endcsname{{{escaped(text)}}}"
        for key, text in texts.items()
    ]
    head = _HEAD.format(run=f"run {texts['run']}, {texts['origin']} data", choice=choice)
    return head + "\n".join(lines) + "\n\\makeatother\n"


def write_numbers(texts: Mapping[str, str], folder: str | Path) -> None:
    """Write ``macros.tex`` and one file a number, ``KEY.tex``, into a folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "macros.tex").write_text(macros(texts), encoding="utf-8")
    for key, text in texts.items():
        (folder / f"{key}.tex").write_text(f"{escaped(text)}%\n", encoding="utf-8")


def latex_tables(
    estimates: pd.DataFrame, published: pd.DataFrame, recovery: pd.DataFrame | None
) -> Iterator[tuple[str, str]]:
    """Set the main tables of a run for LaTeX: pairs of name and text.

    Parameters
    ----------
    estimates, published, recovery : DataFrame
        Tables of a run; no recovery where nothing was planted.
    """
    by_fit = printed.fits(estimates)
    yield "key", _set(printed.key_estimates(by_fit))
    for fit, rows in by_fit.items():
        name = fit.replace(", ", "-")
        yield f"judges-{name}", _set(printed.judge_estimates(fit, rows))
    yield "published", _set(printed.published_found(published))
    if recovery is not None:
        yield "recovery", _set(printed.recovered(recovery))


def _set(table: printed.Table) -> str:
    return latex_table(pd.DataFrame(table.rows, columns=pd.Index(table.headers)))
