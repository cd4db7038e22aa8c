"""
The page about a run, and the manifest of everything that went in and came out.

Inputs: tables, checks and figures of the run, and of the comparison of runs; what `snakemake compare`,
`snakemake sensitivity` and `snakemake audit` made, as far as it exists.
Outputs: results/{run}/fits/{fit}/composites_judge.csv, results/{run}/report.html, results/{run}/manifest.json.
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


rule manifest:
    input:
        scenes=corpus_of,
        prompts=prompt_files,
        priors=expand("config/priors/{prior}.yaml", prior=CONFIG.fits.priors),
        published="config/published.yaml",
        truth=truth_of,
        composites="results/{run}/design/composites.parquet",
        schedules=schedules,
        imported=imported_file,
        imported_composites=imported_composites,
        judgments="results/{run}/judgments/judgments.parquet",
        probe=probe_of,
        posteriors=of_fits("results/{run}/fits/{fit}/posterior.nc"),
        quantities=of_fits("results/{run}/fits/{fit}/quantities.nc"),
        estimates=of_fits("results/{run}/fits/{fit}/estimates.csv"),
        checks=of_fits("results/{run}/checks/{fit}/checks.csv"),
        outcomes="results/{run}/tables/outcomes.csv",
        missingness="results/{run}/tables/missingness.csv",
        missingness_test="results/{run}/tables/missingness_test.csv",
        tables=TABLES,
        ratings=rules.two_step.output,
        study="results/{run}/tables/study.csv",
        recovery=recovery_of,
        numbers="results/{run}/numbers",
        figures=figures_of_run,
        by_judge=of_fits("results/{run}/fits/{fit}/composites_judge.csv"),
        further=further_outputs,
        report="results/{run}/report.html",
    output:
        "results/{run}/manifest.json",
    log:
        "results/{run}/logs/manifest.log",
    conda:
        "../../environment.yml"
    params:
        config=SETTINGS,
        origin=origin_of,
        code=code_digest("moralscale.manifest"),
    script:
        "../scripts/manifest.py"
