from pathlib import Path

from moralscale.prose import latex_tables, numbers, write_numbers
from moralscale.scripting import job
from moralscale.tables import read_estimates

with job(snakemake.log[0]):
    estimates = read_estimates(snakemake.input.estimates)
    write_numbers(numbers(estimates, run=snakemake.wildcards.run), snakemake.output.numbers)
    published = read_estimates(snakemake.input.published)
    planted = snakemake.input.get("recovery")
    tables = latex_tables(estimates, published, read_estimates(planted) if planted else None)
    Path(snakemake.output.tables).mkdir(parents=True, exist_ok=True)
    for name, text in tables:
        Path(snakemake.output.tables, f"{name}.tex").write_text(text, encoding="utf-8")
