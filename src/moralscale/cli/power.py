"""``moralscale power``: judgments and money for intervals of a wanted width."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def power(
    beta: Annotated[float | None, typer.Option(help="Wanted width of beta's interval.")] = None,
    anchoring: Annotated[
        float | None, typer.Option(help="Wanted width of the anchoring contrast's, Elo.")
    ] = None,
    residual: Annotated[
        float | None, typer.Option(help="Wanted width of a foundation residual's, Elo.")
    ] = None,
    judges: Annotated[int, typer.Option(min=2, max=200, help="Number of judges.")] = 10,
    consistency: Annotated[
        float, typer.Option(min=0.05, help="Consistency on composites to expect.")
    ] = 1.0,
    config: Annotated[
        Path | None, typer.Option(help="Configuration whose judges are priced.")
    ] = None,
    scenes: Annotated[Path, typer.Option(help="The corpus.")] = Path("scenarios/scenes.csv"),
    priors: Annotated[Path, typer.Option(help="Priors of the joint model.")] = Path(
        "config/priors/default.yaml"
    ),
    table: Annotated[Path | None, typer.Option(help="CSV of all designs to write.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Figure to write, without a suffix: PDF, SVG and PNG.")
    ] = None,
) -> None:
    """Reckon how many judgments a wanted width needs.

    The smallest designs whose 94% intervals have the wanted widths, and what they would cost.

    Example: moralscale power --beta 0.1 --judges 10
    """
    from moralscale.cli.targets import check_targets
    from moralscale.config import Panel, validate
    from moralscale.design import make_composites
    from moralscale.figures import POWER, save
    from moralscale.power import check_wanted, needed, power_table, usd_a_judgment
    from moralscale.priors import load_priors
    from moralscale.resources import find
    from moralscale.scenes import load_scenes

    wanted = {"beta": beta, "anchoring": anchoring, "residual": residual}
    asked = {name: width for name, width in wanted.items() if width is not None} or {"beta": 0.1}
    check_wanted(asked)
    check_targets(table, figure, reads=[config, scenes, priors])
    expected = {"judges": judges, "slope": 0.862 * consistency}
    expected["composite_consistency"] = consistency
    corpus = load_scenes(find(scenes))
    price = None if config is None else usd_a_judgment(config)
    designs = power_table(
        validate(Panel, expected, source="moralscale power"),
        corpus,
        make_composites(corpus, realisations=1, seed=1),
        load_priors(find(priors)),
        seed=1,
        usd_a_judgment=price,
    )
    if table is not None:
        designs.to_csv(table, index=False)
    if figure is not None:
        save(POWER.draw(designs), figure)
    shown = needed(designs, asked)
    if price is None:
        shown = shown.drop(columns="cost")
    if config is not None and price is None:
        typer.echo(f"No costs: {config} has no real judge, or the price of one is not known.")
    typer.echo("Judgments of a judge by arena, and of all judges, for 94% intervals of")
    typer.echo(", ".join(f"{name} {width:g}" for name, width in asked.items()))
    typer.echo(shown.to_string(index=False, float_format=lambda value: f"{value:.2f}"))
    typer.echo("Reckoned at simulated judges whose spreads are known: small designs need more.")
