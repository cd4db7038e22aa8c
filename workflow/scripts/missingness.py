import pandas as pd

from moralscale.judgments import read_judgments
from moralscale.missingness import content_tests, count_missing
from moralscale.scenes import load_scenes
from moralscale.scripting import job

with job(snakemake.log[0]):
    judgments = read_judgments(snakemake.input.judgments)
    shown = (load_scenes(snakemake.input.scenes), pd.read_parquet(snakemake.input.composites))
    count_missing(judgments, *shown).to_csv(snakemake.output.counts, index=False)
    tests = content_tests(judgments, *shown, seed=snakemake.params.seed)
    tests.to_csv(snakemake.output.tests, index=False)
