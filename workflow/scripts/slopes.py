from moralscale.config import FigureWidths
from moralscale.figures import OF_RUN, save
from moralscale.records import Origin
from moralscale.scripting import job
from moralscale.study import read_study

with job(snakemake.log[0]):
    origin, ci_prob = Origin(snakemake.params.origin), snakemake.params.ci_prob
    table, widths = read_study(snakemake.input[0]), FigureWidths(**snakemake.params.widths)
    figure = OF_RUN["slopes"].draw(table, origin, ci_prob=ci_prob, widths=widths)
    save(figure, snakemake.output[0].removesuffix(".pdf"))
