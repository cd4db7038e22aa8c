import pandas as pd

from moralscale.config import load_yaml
from moralscale.scenes import load_scenes
from moralscale.scripting import job
from moralscale.tables import read_estimates, run_tables

with job(snakemake.log[0]):
    fits = dict(
        zip(snakemake.params.fits, map(read_estimates, snakemake.input.estimates), strict=True)
    )
    scenes = load_scenes(snakemake.input.scenes)
    composites = pd.read_parquet(snakemake.input.composites)
    figures = pd.DataFrame(load_yaml(snakemake.input.published)["figures"])
    tables = run_tables(fits, scenes, composites, figures, snakemake.params.origin)
    for path in snakemake.output:
        tables[path.rsplit("/", 1)[-1].removesuffix(".csv")].to_csv(path, index=False)
