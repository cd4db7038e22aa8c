from moralscale.design.composites import make_composites
from moralscale.scenes import load_scenes
from moralscale.scripting import job

with job(snakemake.log[0]):
    scenes = load_scenes(snakemake.input.scenes)
    composites = make_composites(
        scenes, realisations=snakemake.params.realisations, seed=snakemake.params.seed
    )
    composites.to_parquet(snakemake.output[0], index=False)
