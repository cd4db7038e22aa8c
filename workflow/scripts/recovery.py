import pandas as pd

from moralscale.estimands import Estimands
from moralscale.projections import read_truth
from moralscale.scenes import load_scenes
from moralscale.scripting import job
from moralscale.tables import read_estimates, recovery

with job(snakemake.log[0]):
    scenes = load_scenes(snakemake.input.scenes)
    composites = pd.read_parquet(snakemake.input.composites)
    truth = read_truth(snakemake.input.truth, Estimands.from_composites(scenes, composites))
    estimates = read_estimates(snakemake.input.estimates)
    recovery(estimates, truth).to_csv(snakemake.output[0], index=False)
