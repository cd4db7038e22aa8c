import xarray as xr

from moralscale.posterior_file import load
from moralscale.scripting import job
from moralscale.sensitivity import power_scaling, read_base

with job(snakemake.log[0]):
    files = {
        name: snakemake.input[name] for name in ("judgments", "scenes", "composites", "priors")
    }
    base = read_base(posterior=load(snakemake.input.posterior), **files)
    draws = xr.load_dataset(snakemake.input.quantities, engine="h5netcdf")
    power_scaling(base, draws).to_csv(snakemake.output[0], index=False)
