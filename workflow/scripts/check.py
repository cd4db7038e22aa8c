from moralscale.checks import check_fit, to_table
from moralscale.config import Gates
from moralscale.posterior_file import load
from moralscale.scripting import job
from moralscale.tables import read_estimates

with job(snakemake.log[0]):
    posterior, estimates = (
        load(snakemake.input.posterior),
        read_estimates(snakemake.input.estimates),
    )
    gates, seed = Gates(**snakemake.params.gates), snakemake.params.seed
    to_table(check_fit(posterior, estimates, gates, seed=seed)).to_csv(
        snakemake.output[0], index=False
    )
