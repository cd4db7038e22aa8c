import pandas as pd

from moralscale.config import load_yaml
from moralscale.scripting import job
from moralscale.study import read_planted, study_table
from moralscale.tables import read_estimates

with job(snakemake.log[0]):
    two_step, joint = map(read_estimates, (snakemake.input.two_step, snakemake.input.estimates))
    figures = pd.DataFrame(load_yaml(snakemake.input.published)["figures"])
    planted = snakemake.input.get("truth")
    about = (snakemake.input.scenes, snakemake.input.composites)
    truth = read_planted(planted, *about) if planted else None
    table = study_table(two_step, joint, figures, truth, snakemake.params.origin)
    table.to_csv(snakemake.output[0], index=False)
