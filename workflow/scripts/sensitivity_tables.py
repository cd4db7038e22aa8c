from moralscale.config import Reporting, Sensitivity
from moralscale.scripting import job
from moralscale.sensitivity import read_refits, shifts, verdicts

with job(snakemake.log[0]):
    settings = Sensitivity(**snakemake.params.settings)
    moved = shifts(
        read_refits(snakemake.input.refits), Reporting(**snakemake.params.reporting), settings.gates
    )
    moved.to_csv(snakemake.output.shifts, index=False)
    found = verdicts(moved, threshold=settings.threshold)
    found.to_csv(snakemake.output.verdicts, index=False)
