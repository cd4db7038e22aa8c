from moralscale.fit import fit_from_files
from moralscale.posterior_file import save
from moralscale.scripting import job

with job(snakemake.log[0]):
    posterior = fit_from_files(
        **{key: snakemake.input[key] for key in ("judgments", "scenes", "composites", "priors")},
        data=snakemake.wildcards.data,
        rule=snakemake.wildcards.composition,
        options=snakemake.params.model,
        sampler=snakemake.params.sampler,
        seed=snakemake.params.seed,
        cores=snakemake.threads,
        attrs={**snakemake.params.about, "code_digest": snakemake.params.code},
    )
    save(posterior, snakemake.output[0])
