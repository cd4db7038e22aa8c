"""
The page about a run.

Inputs: tables, checks and figures of the run, and of the comparison of runs; what `snakemake compare`,
`snakemake sensitivity` and `snakemake audit` made, as far as it exists.
Outputs: results/{run}/fits/{fit}/composites_judge.csv, results/{run}/report.html.
"""


rule composites_by_judge:
    input:
        posterior="results/{run}/fits/{fit}/posterior.nc",
        passed="results/{run}/checks/{fit}/passed.txt",
    output:
        "results/{run}/fits/{fit}/composites_judge.csv",
    log:
        "results/{run}/logs/composites_judge/{fit}.log",
    conda:
        "../../environment.yml"
    params:
        reporting=SETTINGS["reporting"],
        code=code_digest("moralscale.report.contestants"),
    script:
        "../scripts/composites_by_judge.py"


rule report:
    input:
        estimates="results/{run}/tables/estimates.csv",
        published="results/{run}/tables/published.csv",
        study="results/{run}/tables/study.csv",
        outcomes="results/{run}/tables/outcomes.csv",
        missingness="results/{run}/tables/missingness.csv",
        missingness_test="results/{run}/tables/missingness_test.csv",
        scenes="results/{run}/tables/scenes.csv",
        composites="results/{run}/tables/composites.csv",
        by_judge=of_fits("results/{run}/fits/{fit}/composites_judge.csv"),
        checks=of_fits("results/{run}/checks/{fit}/checks.csv"),
        recovery=recovery_of,
        figures=report_figures,
        further=further_outputs,
        audit=audit_of_report,
    output:
        report(
            "results/{run}/report.html",
            category="Reports",
            caption="../report/report.rst",
        ),
    log:
        "results/{run}/logs/report.log",
    conda:
        "../../environment.yml"
    params:
        config=SETTINGS,
        code=code_digest("moralscale.report", "moralscale.figures"),
    script:
        "../scripts/report.py"
