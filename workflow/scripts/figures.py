from pathlib import Path

from moralscale.figures import FIGURES, FigureData, save
from moralscale.scripting import job

with job(snakemake.log[0]):
    files = ("quantities", "scenes", "composites", "published")
    data = FigureData.read(
        **{key: snakemake.input[key] for key in files},
        **{key: snakemake.params[key] for key in ("reporting", "origin")},
        **{key: snakemake.wildcards[key] for key in ("fit", "run")},
        truth=snakemake.input.get("truth"),
    )
    for path in map(Path, snakemake.output):
        if path.suffix == ".pdf":
            save(FIGURES[path.name.split(".")[0]].draw(data), path.with_suffix(""))
