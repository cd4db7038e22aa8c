from moralscale.posterior_file import load, load_dataset
from moralscale.scripting import job
from moralscale.sensitivity import power_scaling, read_base

with job(snakemake.log[0]):
    files = {
        name: snakemake.input[name] for name in ("judgments", "scenes", "composites", "priors")
    }
    base = read_base(posterior=load(snakemake.input.posterior), **files)
    draws = load_dataset(snakemake.input.quantities, "quantities")
    power_scaling(base, draws).to_csv(snakemake.output[0], index=False)
