from moralscale.calibration.running import run_job
from moralscale.scripting import job

with job(snakemake.log[0]):
    names = ("settings", "reporting", "seed", "code", "folder", "numbers")
    run_job(
        snakemake.wildcards.kind,
        corpus=snakemake.input.corpus,
        priors=snakemake.input.priors,
        **{name: snakemake.params[name] for name in names},
    ).to_csv(snakemake.output[0], index=False)
