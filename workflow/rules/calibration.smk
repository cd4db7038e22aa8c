"""
Prove that fits are right: recovery with coverage, and simulation-based calibration. `snakemake calibration`
runs both and writes docs/calibration.md; neither is part of the default run. Replicates lie outside all
rule outputs (results/calibration/replicates/), so that a run that was stopped goes on where it was.

Inputs: the corpus, config/priors/{prior}.yaml.
Outputs: results/calibration/jobs/{kind}-{job}.csv, results/calibration/tables/*.csv,
docs/calibration.md and docs/figures/calibration_{coverage,ranks}.{pdf,svg,png}.
"""


rule replicates:
    input:
        corpus=CONFIG.scenes,
        priors=f"config/priors/{CONFIG.calibration.prior}.yaml",
    output:
        "results/calibration/jobs/{kind}-{job}.csv",
    log:
        "results/calibration/logs/{kind}-{job}.log",
    wildcard_constraints:
        kind="recovery|ranks",
        job=r"\d+",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(240),
    params:
        numbers=replicates_of,
        settings=SETTINGS["calibration"],
        reporting=SETTINGS["reporting"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.calibration.running"),
        folder="results/calibration/replicates",
    script:
        "../scripts/replicates.py"


rule calibration:
    input:
        recovery=calibration_jobs("recovery"),
        ranks=calibration_jobs("ranks"),
    output:
        coverage="results/calibration/tables/coverage.csv",
        ranks="results/calibration/tables/ranks.csv",
        page="docs/calibration.md",
        figures=expand(
            "docs/figures/calibration_{figure}.{extension}",
            figure=["coverage", "ranks"],
            extension=["pdf", "svg", "png"],
        ),
    log:
        "results/calibration/logs/calibration.log",
    conda:
        "../../environment.yml"
    params:
        settings=SETTINGS["calibration"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.calibration.running"),
        widths=SETTINGS["figures"],
        page=code_digest(
            "moralscale.calibration",
            "moralscale.calibration.page",
            "moralscale.figures",
        ),
    script:
        "../scripts/calibration.py"
