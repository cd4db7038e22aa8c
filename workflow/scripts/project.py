import pandas as pd

from moralscale.config import Reporting
from moralscale.estimands import Estimands
from moralscale.posterior_file import load, save_dataset
from moralscale.projections import quantities
from moralscale.scenes import load_scenes
from moralscale.scripting import job
from moralscale.summaries import summarise

with job(snakemake.log[0]):
    scenes, composites = map(str, (snakemake.input.scenes, snakemake.input.composites))
    estimands = Estimands.from_composites(load_scenes(scenes), pd.read_parquet(composites))
    found = quantities(load(snakemake.input.posterior)["posterior"].to_dataset(), estimands)
    save_dataset(found, snakemake.output.quantities)
    estimates = summarise(found, Reporting(**snakemake.params.reporting))
    estimates.to_csv(snakemake.output.estimates, index=False)
