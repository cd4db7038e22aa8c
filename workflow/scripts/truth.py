import pandas as pd

from moralscale.config import Panel
from moralscale.scenes import load_scenes
from moralscale.scripting import job
from moralscale.simulate import simulate_panel

with job(snakemake.log[0]):
    scenes = load_scenes(snakemake.input.scenes)
    composites = pd.read_parquet(snakemake.input.composites)
    panel, judges = Panel(**snakemake.params.panel), snakemake.params.judges
    truth = simulate_panel(panel, scenes, composites, judges, seed=snakemake.params.seed)
    truth.to_netcdf(snakemake.output[0], engine="h5netcdf")
