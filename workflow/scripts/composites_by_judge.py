from moralscale.config import Reporting
from moralscale.posterior import estimands_of
from moralscale.posterior_file import load
from moralscale.report.contestants import composites_by_judge
from moralscale.scripting import job

with job(snakemake.log[0]):
    tree = load(snakemake.input.posterior)
    draws, reporting = tree["posterior"].to_dataset(), Reporting(**snakemake.params.reporting)
    table = composites_by_judge(draws, estimands_of(tree), reporting)
    table.to_csv(snakemake.output[0], index=False)
