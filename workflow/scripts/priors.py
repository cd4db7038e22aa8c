from pathlib import Path

import yaml

from moralscale.priors import load_priors
from moralscale.scripting import job

with job(snakemake.log[0]):
    priors = {Path(path).stem: load_priors(path).to_dict() for path in snakemake.input}
    Path(snakemake.output[0]).write_text(yaml.safe_dump(priors, sort_keys=False), encoding="utf-8")
