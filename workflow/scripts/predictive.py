from moralscale.checks.predicted import predictive_table
from moralscale.config import FigureWidths
from moralscale.figures import TABLED, save
from moralscale.posterior import origin_of
from moralscale.posterior_file import load
from moralscale.scripting import job

with job(snakemake.log[0]):
    posterior = load(snakemake.input[0])
    seed, ci_prob = snakemake.params.seed, snakemake.params.ci_prob
    table = predictive_table(posterior, seed=seed, ci_prob=ci_prob)
    table.to_csv(snakemake.output.table, index=False)
    widths = FigureWidths(**snakemake.params.widths)
    figure = TABLED["predictive"].draw(table, origin_of(posterior), widths=widths)
    save(figure, snakemake.output.figure[0].removesuffix(".pdf"))
