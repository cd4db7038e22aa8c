from moralscale.compare.kfold import folds_from_files
from moralscale.scripting import job

with job(snakemake.log[0]):
    compare = snakemake.params.compare
    table = folds_from_files(
        **{key: snakemake.input[key] for key in ("judgments", "scenes", "composites", "priors")},
        **{key: compare[key] for key in ("data", "sampler", "folds")},
        **{key: snakemake.params[key] for key in ("options", "seed")},
        rule=snakemake.wildcards.composition,
        cores=snakemake.threads,
    )
    table.to_parquet(snakemake.output[0], index=False)
