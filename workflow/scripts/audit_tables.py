import pandas as pd

from moralscale.audit.tables import (
    audit_table,
    false_alarm_table,
    laplace_table,
    sensitivity_table,
)
from moralscale.scripting import job

with job(snakemake.log[0]):
    replicates = pd.concat(map(pd.read_parquet, snakemake.input), ignore_index=True)
    audit_table(replicates).to_csv(snakemake.output.audit, index=False)
    sensitivity_table(replicates).to_csv(snakemake.output.sensitivity, index=False)
    false_alarm_table(replicates).to_csv(snakemake.output.false_alarms, index=False)
    laplace_table(replicates).to_csv(snakemake.output.laplace, index=False)
