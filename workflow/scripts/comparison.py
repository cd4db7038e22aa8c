import pandas as pd

from moralscale.compare.ranking import comparison_from_files
from moralscale.scripting import job

with job(snakemake.log[0]):
    table = comparison_from_files(
        list(snakemake.params.rules),
        posteriors=list(snakemake.input.posteriors),
        folds=[pd.read_parquet(path) for path in snakemake.input.folds],
        draws=snakemake.params.draws,
        seed=snakemake.params.seed,
    )
    table.to_csv(snakemake.output[0], index=False)
