import pandas as pd

from moralscale.figures import save
from moralscale.figures.sensitivity import overlay, tornado
from moralscale.records import Origin
from moralscale.scripting import job
from moralscale.sensitivity import read_refits

with job(snakemake.log[0]):
    origin, stem = Origin(snakemake.params.origin), snakemake.output[0].rsplit("tornado", 1)[0]
    mark = ".simulated" if origin is Origin.SIMULATED else ""
    moved = pd.read_csv(snakemake.input.shifts, keep_default_na=False)
    save(tornado(moved, origin, threshold=snakemake.params.threshold), f"{stem}tornado{mark}")
    save(overlay(read_refits(snakemake.input.refits), origin), f"{stem}overlay{mark}")
