"""
Sensitivity of the conclusions to priors, likelihood and data: `snakemake sensitivity`.

Inputs: the posterior of the main fit of a run, what it was made of, and config/priors/*.yaml.
Outputs: results/{run}/sensitivity/ with one refit a file, results/{run}/tables/sensitivity*.csv, and figures.
"""


rule sensitivity:
    input:
        [
            sensitivity_outputs(run)
            for run in CONFIG.sensitivity.runs or list(CONFIG.runs)[:1]
        ],


rule refit:
    input:
        posterior=f"results/{{run}}/fits/{MAIN_FIT}/posterior.nc",
        passed=f"results/{{run}}/checks/{MAIN_FIT}/passed.txt",
        judgments="results/{run}/judgments/judgments.parquet",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        priors=f"config/priors/{MAIN_FIT.rsplit('/',1)[-1]}.yaml",
        alternatives=priors_of_refits,
    output:
        directory("results/{run}/sensitivity/{kind}/{alternative}"),
    log:
        "results/{run}/logs/sensitivity/{kind}-{alternative}.log",
    # Jobs with most refits first, and what is shorter than a refit last: others end beside them.
    priority: lambda wildcards: {"judge": 4, "prior": 3, "foundation": 2}.get(wildcards.kind, 1)
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        values=refit_values,
        sampler=SETTINGS["sensitivity"]["sampler"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.sensitivity"),
    script:
        "../scripts/refit.py"


rule power_scaling:
    input:
        posterior=f"results/{{run}}/fits/{MAIN_FIT}/posterior.nc",
        quantities=f"results/{{run}}/fits/{MAIN_FIT}/quantities.nc",
        judgments="results/{run}/judgments/judgments.parquet",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        priors=f"config/priors/{MAIN_FIT.rsplit('/',1)[-1]}.yaml",
    output:
        "results/{run}/tables/power_scaling.csv",
    log:
        "results/{run}/logs/sensitivity/power_scaling.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.sensitivity"),
    script:
        "../scripts/power_scaling.py"


rule sensitivity_tables:
    input:
        refits=refit_folders,
    output:
        shifts="results/{run}/tables/sensitivity.csv",
        verdicts="results/{run}/tables/sensitivity_verdicts.csv",
    log:
        "results/{run}/logs/sensitivity/tables.log",
    conda:
        "../../environment.yml"
    params:
        settings=SETTINGS["sensitivity"],
        reporting=SETTINGS["reporting"],
        code=code_digest("moralscale.sensitivity"),
    script:
        "../scripts/sensitivity_tables.py"


rule sensitivity_figures:
    input:
        priors=lambda wildcards: refit_folders(wildcards, only="prior"),
        shifts="results/{run}/tables/sensitivity.csv",
    output:
        tornado=multiext(
            "results/{run}/figures/sensitivity/tornado{mark}", ".pdf", ".svg", ".png"
        ),
        overlay=multiext(
            "results/{run}/figures/sensitivity/overlay{mark}", ".pdf", ".svg", ".png"
        ),
    log:
        "results/{run}/logs/sensitivity/figures{mark}.log",
    conda:
        "../../environment.yml"
    params:
        threshold=CONFIG.sensitivity.threshold,
        origin=origin_of,
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.figures"),
    script:
        "../scripts/sensitivity_figures.py"
