import json
from pathlib import Path

from moralscale.manifest import make_manifest
from moralscale.scripting import job

with job(snakemake.log[0]):
    made = f"results/{snakemake.wildcards.run}/"
    manifest = make_manifest(
        snakemake.wildcards.run,
        origin=snakemake.params.origin,
        config=snakemake.params.config,
        inputs=[path for path in snakemake.input if not path.startswith(made)],
        outputs=[path for path in snakemake.input if path.startswith(made)],
    )
    Path(snakemake.output[0]).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
