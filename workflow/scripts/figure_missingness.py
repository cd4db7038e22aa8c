from pathlib import Path

import pandas as pd

from moralscale.figures import OF_RUN, save
from moralscale.records import Origin
from moralscale.scripting import job

with job(snakemake.log[0]):
    counts, tests = pd.read_csv(snakemake.input.counts), pd.read_csv(snakemake.input.tests)
    figure = OF_RUN["missingness"].draw(counts, tests, Origin(snakemake.params.origin))
    save(figure, Path(snakemake.output.pdf).with_suffix(""))
