import pandas as pd

from moralscale.figures import TABLED, save
from moralscale.records import Origin
from moralscale.scripting import job

with job(snakemake.log[0]):
    table = pd.read_csv(snakemake.input[0])
    figure = TABLED["comparison"].draw(table, Origin(snakemake.params.origin))
    save(figure, snakemake.output[0].removesuffix(".pdf"))
