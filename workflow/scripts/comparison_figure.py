import pandas as pd

from moralscale.config import FigureWidths
from moralscale.figures import TABLED, save
from moralscale.records import Origin
from moralscale.scripting import job

with job(snakemake.log[0]):
    table = pd.read_csv(snakemake.input[0])
    origin, widths = Origin(snakemake.params.origin), FigureWidths(**snakemake.params.widths)
    figure = TABLED["comparison"].draw(table, origin, widths=widths)
    save(figure, snakemake.output[0].removesuffix(".pdf"))
