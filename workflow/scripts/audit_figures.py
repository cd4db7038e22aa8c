from pathlib import Path

import pandas as pd

from moralscale.figures import AUDIT, save
from moralscale.scripting import job

with job(snakemake.log[0]):
    table = pd.read_csv(snakemake.input.audit)
    for path in map(Path, snakemake.output):
        if path.suffix == ".pdf":
            save(AUDIT[path.name.split(".")[0]].draw(table), path.with_suffix(""))
