"""``moralscale rate``: ratings of anything that was compared in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moralscale.errors import ConfigError


def rate(
    file: Annotated[
        Path,
        typer.Argument(
            show_default=False,
            help="Comparisons as CSV, TSV, JSONL or Parquet: columns first, second, outcome (first,"
            " second or tie), and where there are n (how often), weight, judge.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            help="mle: Bradley-Terry by maximum likelihood. bayes: hierarchical."
            " elo: online Elo, averaged over orders."
        ),
    ] = "mle",
    out: Annotated[
        Path | None, typer.Option(help="CSV to write; the table is shown unless given.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="JSON to write: position bias, ties, counts, settings.")
    ] = None,
    columns: Annotated[
        str, typer.Option(help="The file's names of columns: first=home,second=away,...")
    ] = "",
    outcomes: Annotated[
        str, typer.Option(help="Meaning of the file's labels: H=first,A=second,D=tie.")
    ] = "",
    ignore: Annotated[
        str, typer.Option(help="Outcome labels whose rows are left out and counted: bad,error.")
    ] = "",
    position_bias: Annotated[
        bool, typer.Option(help="Whether what is first may have an advantage (mle, bayes).")
    ] = True,
    errors: Annotated[
        str, typer.Option(help="hessian or sandwich; sandwich where there are weights (mle).")
    ] = "",
    ci_prob: Annotated[
        float, typer.Option(help="Probability inside the intervals (bayes).")
    ] = 0.94,
    seed: Annotated[int, typer.Option(help="Seed (bayes, elo).")] = 1,
    draws: Annotated[int, typer.Option(help="Draws kept a chain (bayes).")] = 2000,
    tune: Annotated[int, typer.Option(help="Tuning iterations a chain (bayes).")] = 1000,
    chains: Annotated[int, typer.Option(help="Chains (bayes).")] = 4,
    target_accept: Annotated[float, typer.Option(help="Acceptance rate aimed at (bayes).")] = 0.98,
    k: Annotated[float, typer.Option(help="Largest step, in Elo (elo).")] = 32.0,
    start: Annotated[float, typer.Option(help="First rating of each (elo).")] = 1000.0,
    orders: Annotated[int, typer.Option(help="Random orders averaged over (elo).")] = 100,
) -> None:
    """Rate anything that was compared in pairs.

    Example: moralscale rate games.csv --columns first=home,second=away
    """
    from moralscale.cli.targets import check_targets
    from moralscale.rating import rate
    from moralscale.rating.output import show, write

    check_targets(out, summary, reads=[file])
    table = rate(
        file,
        method=method,
        columns=_pairs(columns, "columns"),
        outcomes=_pairs(outcomes, "outcomes"),
        ignore=[label.strip() for label in ignore.split(",") if label.strip()],
        position_bias=position_bias,
        errors=errors or None,
        ci_prob=ci_prob,
        seed=seed,
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        k=k,
        start=start,
        orders=orders,
    )
    write(table, out=out, summary=summary)
    show(table, rows=out is None)


def _pairs(text: str, option: str) -> dict[str, str]:
    """Read ``a=b,c=d``."""
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not key or not value:
            raise ConfigError(f"cannot read '{part}'", where=f"--{option}", mend="write NAME=VALUE")
        if key in pairs:
            raise ConfigError(f"'{key}' is there twice", where=f"--{option}")
        pairs[key] = value
    return pairs
