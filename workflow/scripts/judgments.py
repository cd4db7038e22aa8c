from moralscale.judgments import count_outcomes, merge, write_judgments
from moralscale.scripting import job

with job(snakemake.log[0]):
    judgments = merge(snakemake.input.shards)
    write_judgments(judgments, snakemake.output.judgments)
    count_outcomes(judgments).to_csv(snakemake.output.outcomes, index=False)
