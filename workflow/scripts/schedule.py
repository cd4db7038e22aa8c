import pandas as pd

from moralscale.design import make_schedule
from moralscale.scenes import load_scenes
from moralscale.scripting import job

with job(snakemake.log[0]):
    names = ("judges", "judgments", "repeats", "pairing", "prompts", "seed", "orders")
    make_schedule(
        snakemake.wildcards.arena,
        load_scenes(snakemake.input.scenes),
        pd.read_parquet(snakemake.input.composites),
        **{name: snakemake.params[name] for name in names},
    ).to_parquet(snakemake.output[0], index=False)
