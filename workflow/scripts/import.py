from moralscale.importing import import_from_files
from moralscale.judgments import write_judgments
from moralscale.scripting import job

with job(snakemake.log[0]):
    judgments = import_from_files(
        snakemake.params.settings,
        scenes=snakemake.input.scenes,
        composites=snakemake.input.composites,
    )
    write_judgments(judgments, snakemake.output[0])
