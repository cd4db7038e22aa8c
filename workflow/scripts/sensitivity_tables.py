import xarray as xr

from moralscale.config import Reporting, Sensitivity
from moralscale.posterior_file import load
from moralscale.scripting import job
from moralscale.sensitivity import power_scaling, read_base, read_refits, shifts, verdicts

with job(snakemake.log[0]):
    settings = Sensitivity(**snakemake.params.settings)
    moved = shifts(
        read_refits(snakemake.input.refits), Reporting(**snakemake.params.reporting), settings.gates
    )
    moved.to_csv(snakemake.output.shifts, index=False)
    found = verdicts(moved, threshold=settings.threshold)
    found.to_csv(snakemake.output.verdicts, index=False)
    files = {
        name: snakemake.input[name] for name in ("judgments", "scenes", "composites", "priors")
    }
    base = read_base(posterior=load(snakemake.input.posterior), **files)
    draws = xr.load_dataset(snakemake.input.quantities, engine="h5netcdf")
    power_scaling(base, draws).to_csv(snakemake.output.power_scaling, index=False)
