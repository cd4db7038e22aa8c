from moralscale.probe import probe_from_files
from moralscale.scripting import job

with job(snakemake.log[0]):
    probe_from_files(
        snakemake.params.judges, prompt=snakemake.input.prompt, output=snakemake.output[0]
    )
