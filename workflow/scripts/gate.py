from pathlib import Path

import pandas as pd

from moralscale.checks import gate
from moralscale.scripting import job

with job(snakemake.log[0]):
    where = f"{snakemake.wildcards.run}, {snakemake.wildcards.fit}"
    passed = gate(pd.read_csv(snakemake.input[0]), where=where)
    Path(snakemake.output[0]).write_text(passed + "\n", encoding="utf-8")
