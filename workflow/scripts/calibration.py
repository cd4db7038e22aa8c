from pathlib import Path

from moralscale.calibration.page import conclude
from moralscale.config import FigureWidths
from moralscale.figures import TABLED, save
from moralscale.scripting import job

with job(snakemake.log[0]):
    found = conclude(
        recovery=snakemake.input.recovery,
        ranks=snakemake.input.ranks,
        **{name: snakemake.params[name] for name in ("settings", "seed", "code")},
    )
    found.coverage.to_csv(snakemake.output.coverage, index=False)
    found.ranks.to_csv(snakemake.output.ranks, index=False)
    Path(snakemake.output.page).write_text(found.page, encoding="utf-8")
    for name, table in (("coverage", found.coverage), ("ranks", found.replicates)):
        figure = TABLED[name].draw(table, widths=FigureWidths(**snakemake.params.widths))
        save(figure, f"docs/figures/calibration_{name}")
