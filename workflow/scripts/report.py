from pathlib import Path

from moralscale.report import build_report, read_inputs
from moralscale.scripting import job

with job(snakemake.log[0]):
    names = ("estimates", "published", "study", "outcomes", "checks", "figures")
    names += ("missingness", "missingness_test", "scenes", "composites", "by_judge")
    names += ("further", "audit")
    inputs = read_inputs(
        snakemake.wildcards.run,
        config=snakemake.params.config,
        recovery=snakemake.input.get("recovery"),
        **{name: snakemake.input[name] for name in names},
    )
    Path(snakemake.output[0]).write_text(build_report(inputs), encoding="utf-8")
