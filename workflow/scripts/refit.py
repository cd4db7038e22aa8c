from pathlib import Path

from moralscale.config import Sampler
from moralscale.posterior_file import load
from moralscale.scripting import job
from moralscale.sensitivity import read_base, refits, save_refit

with job(snakemake.log[0]):
    files = {
        name: snakemake.input[name] for name in ("judgments", "scenes", "composites", "priors")
    }
    base = read_base(posterior=load(snakemake.input.posterior), **files)
    how = {"sampler": Sampler(**snakemake.params.sampler), "seed": snakemake.params.seed}
    kind, values = snakemake.wildcards.kind, snakemake.params.values
    for value, refit in refits(kind, values, base=base, cores=snakemake.threads, **how):
        save_refit(refit, Path(snakemake.output[0], f"{value}.nc"))
