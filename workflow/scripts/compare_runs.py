from pathlib import Path

from moralscale.config import FigureWidths, Reporting
from moralscale.figures.runs import save_comparison
from moralscale.run_comparison import compare_runs
from moralscale.runs import open_run
from moralscale.scripting import job

with job(snakemake.log[0]):
    table = compare_runs(
        open_run(f"results/{snakemake.wildcards.run}"),
        open_run(f"results/{snakemake.wildcards.other}"),
        fit=snakemake.params.fit,
        reporting=Reporting(**snakemake.params.reporting),
        seed=snakemake.params.seed,
    )
    widths = FigureWidths(**snakemake.params.widths)
    save_comparison(table, Path(snakemake.output[0]).parent, widths=widths)
