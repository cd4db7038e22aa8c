from moralscale.collect import collect_from_files
from moralscale.judgments import write_judgments
from moralscale.scripting import job

with job(snakemake.log[0]):
    judgments = collect_from_files(
        snakemake.wildcards.judge,
        settings=snakemake.params.judge,
        journal_path=snakemake.params.journal,
        truth_path=snakemake.input.get("truth"),
        prices_path=snakemake.params.prices,
        run_budget=snakemake.params.budget,
        **{key: snakemake.input[key] for key in ("schedules", "scenes", "composites", "prompts")},
    )
    write_judgments(judgments, snakemake.output[0])
