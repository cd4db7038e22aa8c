from moralscale.config import FigureWidths
from moralscale.figures import CROSS_RUN, save
from moralscale.scripting import job
from moralscale.tables import identification, read_estimates

with job(snakemake.log[0]):
    found = map(read_estimates, snakemake.input)
    table = identification(dict(zip(snakemake.params.runs, found, strict=True)))
    table.to_csv(snakemake.output.table, index=False)
    figure = CROSS_RUN["identification"].draw(table, widths=FigureWidths(**snakemake.params.widths))
    save(figure, snakemake.output.figure[0].removesuffix(".pdf"))
