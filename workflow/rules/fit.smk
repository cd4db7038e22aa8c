"""
Sample the joint model, and compute every reported quantity from its draws.

Inputs: results/{run}/judgments/judgments.parquet, the corpus, composites, config/priors/{prior}.yaml.
Outputs: results/{run}/fits/{data}/{composition}/{prior}/ with posterior.nc, quantities.nc, estimates.csv.
"""


rule fit:
    input:
        judgments="results/{run}/judgments/judgments.parquet",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        priors="config/priors/{prior}.yaml",
    output:
        "results/{run}/fits/{data}/{composition}/{prior}/posterior.nc",
    log:
        "results/{run}/logs/fit-{data}-{composition}-{prior}.log",
    priority: 1
    conda:
        "../../environment.yml"
    threads: fit_threads
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        model=SETTINGS["model"],
        about=about_run,
        sampler=SETTINGS["sampler"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.fit"),
    script:
        "../scripts/fit.py"


rule project:
    input:
        posterior="results/{run}/fits/{fit}/posterior.nc",
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        quantities="results/{run}/fits/{fit}/quantities.nc",
        estimates="results/{run}/fits/{fit}/estimates.csv",
    log:
        "results/{run}/logs/project/{fit}.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        reporting=SETTINGS["reporting"],
        code=code_digest("moralscale.projections", "moralscale.summaries"),
    script:
        "../scripts/project.py"
