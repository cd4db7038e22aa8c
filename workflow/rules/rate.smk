"""
The study's own estimators, which rate each arena by itself, and what they find beside the joint model.

Inputs: results/{run}/judgments/judgments.parquet, the corpus, composites, results/{run}/tables/estimates.csv,
config/published.yaml, results/{run}/truth.nc where there is one.
Outputs: results/{run}/ratings/, results/{run}/tables/study.csv, results/{run}/figures/slopes[.simulated].*.
"""


rule two_step:
    input:
        judgments="results/{run}/judgments/judgments.parquet",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        contestants="results/{run}/ratings/contestants.csv",
        lines="results/{run}/ratings/lines.csv",
        estimates="results/{run}/ratings/estimates.csv",
    log:
        "results/{run}/logs/two_step.log",
    conda:
        "../../environment.yml"
    params:
        settings=SETTINGS["twostep"],
        ci_prob=CONFIG.reporting.ci_prob,
        seed=CONFIG.seed,
        code=code_digest("moralscale.study.analyses", "moralscale.judgments"),
    script:
        "../scripts/two_step.py"


rule study:
    input:
        two_step="results/{run}/ratings/estimates.csv",
        estimates="results/{run}/tables/estimates.csv",
        published="config/published.yaml",
        truth=truth_of,
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        "results/{run}/tables/study.csv",
    log:
        "results/{run}/logs/study.log",
    conda:
        "../../environment.yml"
    params:
        origin=origin_of,
        code=code_digest("moralscale.study"),
    script:
        "../scripts/study.py"


rule slopes:
    input:
        "results/{run}/tables/study.csv",
    output:
        multiext("results/{run}/figures/slopes{mark}", ".pdf", ".svg", ".png"),
    log:
        "results/{run}/logs/slopes{mark}.log",
    conda:
        "../../environment.yml"
    params:
        origin=origin_of,
        ci_prob=CONFIG.reporting.ci_prob,
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.figures", "moralscale.study"),
    script:
        "../scripts/slopes.py"
