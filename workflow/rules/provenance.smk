"""
What a third party can check: the manifest of everything that went in and came out, which `moralscale verify` holds
against the files, and by `snakemake crate` an archive of it all, a Workflow Run RO-Crate.

Inputs: all of a run.
Outputs: results/{run}/manifest.json, results/crates/{run}.zip.
"""

# The manifest lists journals and logs too, which are where Snakemake runs.
if not jobs_share_files():

    localrules:
        manifest,
        archive,


rule manifest:
    input:
        scenes=corpus_of,
        prompts=prompt_files,
        priors=expand("config/priors/{prior}.yaml", prior=CONFIG.fits.priors),
        published="config/published.yaml",
        real=settings_of_real_judges,
        truth=truth_of,
        read_priors="results/{run}/design/priors.yaml",
        composites="results/{run}/design/composites.parquet",
        schedules=schedules,
        imported=imported_file,
        imported_composites=imported_composites,
        shards=shards,
        judgments="results/{run}/judgments/judgments.parquet",
        probe=probe_of,
        posteriors=of_fits("results/{run}/fits/{fit}/posterior.nc"),
        quantities=of_fits("results/{run}/fits/{fit}/quantities.nc"),
        estimates=of_fits("results/{run}/fits/{fit}/estimates.csv"),
        checks=of_fits("results/{run}/checks/{fit}/checks.csv"),
        passed=of_fits("results/{run}/checks/{fit}/passed.txt"),
        outcomes="results/{run}/tables/outcomes.csv",
        missingness="results/{run}/tables/missingness.csv",
        missingness_test="results/{run}/tables/missingness_test.csv",
        tables=TABLES,
        ratings=rules.two_step.output,
        study="results/{run}/tables/study.csv",
        recovery=recovery_of,
        numbers="results/{run}/numbers",
        latex="results/{run}/tables/latex",
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
        code=code_digest("moralscale.provenance.describing"),
    script:
        "../scripts/manifest.py"


rule archive:
    input:
        manifest="results/{run}/manifest.json",
    output:
        "results/crates/{run}.zip",
    log:
        "results/{run}/logs/archive.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.provenance.archive"),
    script:
        "../scripts/archive.py"


rule crate:
    input:
        expand("results/crates/{run}.zip", run=CONFIG.runs),
