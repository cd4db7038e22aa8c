"""``moralscale check``: the gates of a fit, from its posterior alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def check(
    posterior: Annotated[Path, typer.Argument(help="posterior.nc of a fit.")],
    config: Annotated[
        Path | None, typer.Option(help="Configuration whose bounds (`gates`) hold.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the replicated judgments.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the table of checks, CSV.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw predicted against observed judgments (PDF, SVG, PNG).")
    ] = None,
) -> None:
    """Check a posterior against its gates.

    Exit code 0 where every gate passed, 2 with one line where one failed.

    Example: moralscale check posterior.nc --figure check.pdf
    """
    from moralscale.checks import gate
    from moralscale.checks.posterior import check_posterior
    from moralscale.checks.predicted import predictive_table
    from moralscale.cli.printing import print_checks
    from moralscale.cli.targets import check_targets
    from moralscale.config import Gates, load_yaml, validate
    from moralscale.figures import TABLED, save
    from moralscale.posterior import origin_of
    from moralscale.posterior_file import load

    check_targets(out, figure, reads=[posterior, config])
    given = load_yaml(config).get("gates", {}) if config else {}
    tree = load(posterior)
    table = check_posterior(
        tree, gates=validate(Gates, given, source=f"{config}, gates"), seed=seed, where=posterior
    )
    print_checks(table)
    if out:
        table.to_csv(out, index=False)
    if figure:
        predicted = predictive_table(tree, seed=seed)
        save(TABLED["predictive"].draw(predicted, origin_of(tree)), figure.with_suffix(""))
    print(gate(table, where=str(posterior)))
