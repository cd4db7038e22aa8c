"""
Figures of every fit, of a run's missing comparisons, and those that set runs side by side. `snakemake figures`
makes these and all others that need no further fits.

Inputs: results/{run}/fits/{fit}/quantities.nc of fits that passed their gates, the corpus, composites,
config/published.yaml, results/{run}/truth.nc where there is one.
Outputs: results/{run}/figures/{fit}/{figure}[.simulated].{pdf,svg,png} and results/comparison/.
"""


rule figures:
    input:
        [all_figures(run) + checking_figures(run) for run in CONFIG.runs],
        [identification_figure(kind) + run_comparisons(kind) for kind in FIGURE_KINDS],


rule fit_figures:
    input:
        quantities="results/{run}/fits/{fit}/quantities.nc",
        passed="results/{run}/checks/{fit}/passed.txt",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        published="config/published.yaml",
        truth=truth_of,
        beside=other_fits,
    output:
        expand(
            "results/{{run}}/figures/{{fit}}/{figure}{{mark}}.{extension}",
            figure=FIGURES,
            extension=FIGURE_KINDS,
        ),
    log:
        "results/{run}/logs/figures/{fit}{mark}.log",
    conda:
        "../../environment.yml"
    params:
        reporting=SETTINGS["reporting"],
        widths=SETTINGS["figures"],
        origin=origin_of,
        code=code_digest("moralscale.figures"),
    script:
        "../scripts/figures.py"


rule figure_missingness:
    input:
        counts="results/{run}/tables/missingness.csv",
        tests="results/{run}/tables/missingness_test.csv",
    output:
        pdf="results/{run}/figures/missingness{mark}.pdf",
        svg="results/{run}/figures/missingness{mark}.svg",
        png="results/{run}/figures/missingness{mark}.png",
    log:
        "results/{run}/logs/figure-missingness{mark}.log",
    conda:
        "../../environment.yml"
    params:
        origin=origin_of,
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.figures.missingness"),
    script:
        "../scripts/figure_missingness.py"


rule identification:
    input:
        expand("results/{run}/tables/recovery.csv", run=CONFIG.runs),
    output:
        table="results/comparison/tables/identification.csv",
        figure=multiext(
            "results/comparison/figures/identification.simulated",
            ".pdf",
            ".svg",
            ".png",
        ),
    log:
        "results/comparison/logs/identification.log",
    conda:
        "../../environment.yml"
    params:
        runs=list(CONFIG.runs),
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.figures", "moralscale.tables"),
    script:
        "../scripts/identification.py"


rule compare_runs:
    input:
        expand(
            "results/{run}/{file}",
            run=["{run}", "{other}"],
            file=[
                f"fits/{MAIN_FIT}/posterior.nc",
                f"fits/{MAIN_FIT}/quantities.nc",
                f"checks/{MAIN_FIT}/passed.txt",
            ],
        ),
    output:
        multiext(
            "results/comparison/{run}/{other}/runs{mark}",
            ".csv",
            ".pdf",
            ".svg",
            ".png",
        ),
    log:
        "results/comparison/logs/{run}-{other}{mark}.log",
    conda:
        "../../environment.yml"
    params:
        fit=MAIN_FIT,
        reporting=SETTINGS["reporting"],
        seed=CONFIG.seed,
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.run_comparison", "moralscale.figures"),
    script:
        "../scripts/compare_runs.py"
