"""
Set composition rules side by side: PSIS-LOO over judgments, and whole profiles held out. `snakemake
compare` makes both for every run; neither is part of the default run.

Inputs: results/{run}/fits/{data}/{composition}/{prior}/posterior.nc of the rules that `compare` names.
Outputs: results/{run}/comparison/folds-{composition}.parquet, results/{run}/tables/comparison.csv,
results/{run}/comparison/comparison[.simulated].{pdf,svg,png}.
"""


rule folds:
    input:
        judgments="results/{run}/judgments/judgments.parquet",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        priors=f"config/priors/{CONFIG.compare.prior}.yaml",
    output:
        "results/{run}/comparison/folds-{composition}.parquet",
    log:
        "results/{run}/logs/folds-{composition}.log",
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        compare=SETTINGS["compare"],
        options=SETTINGS["model"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.compare.kfold"),
    script:
        "../scripts/folds.py"


rule comparison:
    input:
        posteriors=expand(
            "results/{{run}}/fits/{data}/{composition}/{prior}/posterior.nc",
            data=CONFIG.compare.data,
            composition=CONFIG.compare.rules,
            prior=CONFIG.compare.prior,
        ),
        folds=expand(
            "results/{{run}}/comparison/folds-{composition}.parquet",
            composition=CONFIG.compare.rules if CONFIG.compare.folds else [],
        ),
    output:
        "results/{run}/tables/comparison.csv",
    log:
        "results/{run}/logs/comparison.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(4000),
    params:
        rules=CONFIG.compare.rules,
        draws=CONFIG.compare.draws,
        seed=CONFIG.seed,
        code=code_digest("moralscale.compare.ranking", "moralscale.compare.kfold"),
    script:
        "../scripts/comparison.py"


rule comparison_figure:
    input:
        "results/{run}/tables/comparison.csv",
    output:
        multiext("results/{run}/comparison/comparison{mark}", ".pdf", ".svg", ".png"),
    log:
        "results/{run}/logs/comparison{mark}.log",
    conda:
        "../../environment.yml"
    params:
        origin=origin_of,
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.figures"),
    script:
        "../scripts/comparison_figure.py"


rule compare:
    input:
        [f"results/{run}/comparison/comparison{mark(run)}.pdf" for run in CONFIG.runs],
