from pathlib import Path

from moralscale.provenance.describing import write_manifest
from moralscale.scripting import job

with job(snakemake.log[0]):
    write_manifest(
        snakemake.output[0],
        snakemake.input,
        run=snakemake.wildcards.run,
        origin=snakemake.params.origin,
        config=snakemake.params.config,
        workflow=Path(snakemake.scriptdir).resolve().parents[1],
    )
