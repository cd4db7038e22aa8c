from moralscale.audit.cells import Cell
from moralscale.audit.replicates import run_cell
from moralscale.config import TwoStep
from moralscale.priors import load_priors
from moralscale.scenes import load_scenes
from moralscale.scripting import job

with job(snakemake.log[0]):
    run_cell(
        Cell(**snakemake.params.cell),
        load_scenes(snakemake.input.scenes),
        priors=load_priors(snakemake.input.priors),
        two_step=TwoStep(**snakemake.params.two_step),
        seed=snakemake.params.seed,
    ).to_parquet(snakemake.output[0])
