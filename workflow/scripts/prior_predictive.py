from moralscale.checks.prior import prior_table_from_files
from moralscale.config import FigureWidths
from moralscale.figures import TABLED, save
from moralscale.scripting import job

with job(snakemake.log[0]):
    table = prior_table_from_files(
        **{key: snakemake.input[key] for key in ("scenes", "composites", "schedules", "priors")},
        rule=snakemake.wildcards.composition,
        **{key: snakemake.params[key] for key in ("options", "seed")},
    )
    table.to_csv(snakemake.output.table, index=False)
    figure = TABLED["prior_predictive"].draw(table, widths=FigureWidths(**snakemake.params.widths))
    save(figure, snakemake.output.figure[0].removesuffix(".pdf"))
