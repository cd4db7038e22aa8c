"""
Tables over all fits of a run, once every one of them has passed its gate.

Inputs: results/{run}/fits/*/estimates.csv, results/{run}/checks/*/passed.txt, config/published.yaml.
Outputs: results/{run}/tables/; recovery.csv for simulated panels only; missingness*.csv, from judgments alone.
"""

TABLES = expand(
    "results/{{run}}/tables/{table}.csv",
    table=[
        "estimates",
        "beta",
        "foundation_residuals",
        "intensity_sums",
        "anchoring",
        "convergence",
        "scenes",
        "composites",
        "position_bias",
        "consistency",
        "published",
    ],
)


rule tables:
    input:
        estimates=of_fits("results/{run}/fits/{fit}/estimates.csv"),
        passed=of_fits("results/{run}/checks/{fit}/passed.txt"),
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        published="config/published.yaml",
    output:
        TABLES,
    log:
        "results/{run}/logs/tables.log",
    conda:
        "../../environment.yml"
    params:
        fits=FITS,
        origin=origin_of,
        code=code_digest("moralscale.tables"),
    script:
        "../scripts/tables.py"


rule recovery:
    input:
        estimates="results/{run}/tables/estimates.csv",
        truth="results/{run}/truth.nc",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        "results/{run}/tables/recovery.csv",
    log:
        "results/{run}/logs/recovery.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.projections", "moralscale.tables"),
    script:
        "../scripts/recovery.py"


rule missingness:
    input:
        judgments="results/{run}/judgments/judgments.parquet",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        counts="results/{run}/tables/missingness.csv",
        tests="results/{run}/tables/missingness_test.csv",
    log:
        "results/{run}/logs/missingness.log",
    conda:
        "../../environment.yml"
    params:
        seed=CONFIG.seed,
        code=code_digest("moralscale.missingness"),
    script:
        "../scripts/missingness.py"
