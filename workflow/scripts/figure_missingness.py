from pathlib import Path

import pandas as pd

from moralscale.config import FigureWidths
from moralscale.figures import OF_RUN, save
from moralscale.records import Origin
from moralscale.scripting import job

with job(snakemake.log[0]):
    counts, tests = pd.read_csv(snakemake.input.counts), pd.read_csv(snakemake.input.tests)
    origin, widths = Origin(snakemake.params.origin), FigureWidths(**snakemake.params.widths)
    figure = OF_RUN["missingness"].draw(counts, tests, origin, widths=widths)
    save(figure, Path(snakemake.output.pdf).with_suffix(""))
