import pandas as pd

from moralscale.config import FigureWidths
from moralscale.figures import SENSITIVITY, save
from moralscale.records import Origin
from moralscale.scripting import job
from moralscale.sensitivity import passing, read_refits

with job(snakemake.log[0]):
    shared = Origin(snakemake.params.origin), FigureWidths(**snakemake.params.widths)
    moved = pd.read_csv(snakemake.input.shifts, keep_default_na=False)
    tornado, overlay = (SENSITIVITY[name].draw for name in ("tornado", "overlay"))
    figure = tornado(moved, shared[0], threshold=snakemake.params.threshold, widths=shared[1])
    save(figure, snakemake.output.tornado[0].removesuffix(".pdf"))
    kept = passing(read_refits(snakemake.input.priors), moved)
    figure = overlay(kept, shared[0], widths=shared[1])
    save(figure, snakemake.output.overlay[0].removesuffix(".pdf"))
