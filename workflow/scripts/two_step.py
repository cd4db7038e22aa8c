import pandas as pd

from moralscale.arrays import make_arrays
from moralscale.config import TwoStep
from moralscale.judgments import read_judgments
from moralscale.scenes import load_scenes
from moralscale.scripting import job
from moralscale.study import two_step_tables

with job(snakemake.log[0]):
    judgments = read_judgments(snakemake.input.judgments)
    corpus = load_scenes(snakemake.input.scenes), pd.read_parquet(snakemake.input.composites)
    arrays = make_arrays(judgments, *corpus, data="study")
    settings, keys = TwoStep(**snakemake.params.settings), ("ci_prob", "seed")
    found = two_step_tables(arrays, settings, **{key: snakemake.params[key] for key in keys})
    for name, path in snakemake.output.items():
        getattr(found, name).to_csv(path, index=False)
