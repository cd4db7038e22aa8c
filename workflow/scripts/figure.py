from moralscale.figures import FIGURES, FigureData, save
from moralscale.scripting import job

with job(snakemake.log[0]):
    data = FigureData.read(
        **{
            key: snakemake.input[key] for key in ("quantities", "scenes", "composites", "published")
        },
        truth=snakemake.input.get("truth"),
        reporting=snakemake.params.reporting,
        origin=snakemake.params.origin,
        fit=snakemake.wildcards.fit,
        run=snakemake.wildcards.run,
    )
    figure = FIGURES[snakemake.wildcards.figure].draw(data)
    save(figure, snakemake.output[0].removesuffix(".pdf"))
