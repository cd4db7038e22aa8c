from moralscale.importing import design_composites
from moralscale.scripting import job

with job(snakemake.log[0]):
    design_composites(
        snakemake.input.scenes,
        snakemake.input.get("given"),
        realisations=snakemake.params.realisations,
        seed=snakemake.params.seed,
    ).to_parquet(snakemake.output[0], index=False)
