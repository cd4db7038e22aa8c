"""``moralscale fit``: the joint model of arena judgments, from a file to a posterior."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fit(
    file: Annotated[
        Path, typer.Argument(help="Judgments, .parquet, .csv or .jsonl (docs/data.md).")
    ],
    rule: Annotated[str, typer.Option(help="Composition rule (docs/model.md).")] = "compressed",
    prior: Annotated[
        str, typer.Option(help="Prior file, or the name of one in config/priors.")
    ] = "default",
    out: Annotated[Path, typer.Option(help="Where the posterior goes.")] = Path("posterior.nc"),
    scenes: Annotated[Path, typer.Option(help="The corpus.")] = Path("scenarios/scenes.csv"),
    composites: Annotated[
        Path | None,
        typer.Option(help="Composites; unless given, those of the run that FILE belongs to."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="study (two arenas) or bridged (three); all judged unless given."),
    ] = None,
    ties: Annotated[bool, typer.Option(help="Let ties enter (Davidson).")] = False,
    lapse: Annotated[bool, typer.Option(help="Let judges choose at random now and then.")] = False,
    position_by_arena: Annotated[
        bool, typer.Option(help="Let position bias differ between arenas.")
    ] = False,
    position_by_strength: Annotated[
        bool, typer.Option(help="Let position bias grow with the strength of what is shown.")
    ] = False,
    chains: Annotated[int, typer.Option(min=2, help="Chains.")] = 4,
    tune: Annotated[int, typer.Option(min=10, help="Tuning iterations a chain.")] = 1000,
    draws: Annotated[int, typer.Option(min=10, help="Draws kept a chain.")] = 1000,
    thin: Annotated[int, typer.Option(min=1, help="Iterations for each draw kept.")] = 2,
    target_accept: Annotated[float, typer.Option(help="Target acceptance rate of NUTS.")] = 0.8,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed.")] = 0,
    cores: Annotated[int, typer.Option(min=1, help="Chains at a time.")] = 2,
) -> None:
    """Fit the joint model to judgments in a file.

    Keeps the posterior and says whether it passes its gates; exit code 2 where it does not.

    Example: moralscale fit judgments.csv --composites composites.csv
    """
    from moralscale.checks import gate
    from moralscale.checks.posterior import check_posterior
    from moralscale.cli.printing import print_checks
    from moralscale.cli.targets import check_targets
    from moralscale.config import Observation, Sampler, validate
    from moralscale.fitting import fit_judgments
    from moralscale.posterior_file import save

    check_targets(out, reads=[file, scenes, composites])
    asked = {
        "chains": chains,
        "tune": tune,
        "draws": draws,
        "thin": thin,
        "target_accept": target_accept,
    }
    posterior = fit_judgments(
        file,
        scenes=scenes,
        composites=composites,
        rule=rule,
        prior=prior,
        data=data,
        options=Observation(
            ties="davidson" if ties else "left_out",
            lapse=lapse,
            position_by_arena=position_by_arena,
            position_by_strength=position_by_strength,
        ),
        sampler=validate(Sampler, asked, source="fit"),
        seed=seed,
        cores=cores,
    )
    save(posterior, out)
    print(f"wrote {out}")
    checks = check_posterior(posterior, seed=seed)
    print_checks(checks)
    print(gate(checks, where=str(out)))
