from pathlib import Path

from moralscale.provenance import archive_run
from moralscale.scripting import job

with job(snakemake.log[0]):
    archive_run(Path(snakemake.input.manifest).parent, snakemake.output[0])
