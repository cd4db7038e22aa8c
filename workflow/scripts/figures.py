from pathlib import Path

from moralscale.config import FigureWidths
from moralscale.figures import FIGURES, FigureData, save
from moralscale.scripting import job

with job(snakemake.log[0]):
    files = ("quantities", "scenes", "composites", "published")
    data = FigureData.read(
        **{key: snakemake.input[key] for key in files},
        **{key: snakemake.params[key] for key in ("reporting", "origin")},
        **{key: snakemake.wildcards[key] for key in ("fit", "run")},
        truth=snakemake.input.get("truth"),
        beside=snakemake.input.beside,
    )
    widths = FigureWidths(**snakemake.params.widths)
    for path in (Path(path) for path in snakemake.output if path.endswith(".pdf")):
        save(FIGURES[path.name.split(".")[0]].draw(data, widths=widths), path.with_suffix(""))
