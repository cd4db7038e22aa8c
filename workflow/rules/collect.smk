"""
Ask every judge its schedule, or import what others asked. The journal
(results/{run}/journal/{judge}.jsonl) is no output of a rule:
it outlives failed and repeated jobs, and what it holds is never asked again. No code digest here:
edited code must not ask, or pay, again.

Inputs: results/{run}/design/, prompts, results/{run}/truth.nc for simulated judges; the file of an import.
Outputs: results/{run}/judgments/shards/{judge}.parquet or imported.parquet, judgments.parquet,
results/{run}/tables/outcomes.csv.
"""

# A journal must outlive its job: where jobs and Snakemake share no files, it is Snakemake that asks.
if not jobs_share_files():

    localrules:
        collect,
        probe,


rule collect:
    input:
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        schedules=schedules,
        prompts=prompt_files,
        truth=truth_of,
        # Nothing is asked, or paid, for a fit whose priors are not valid; new priors ask nothing anew.
        priors=ancient("results/{run}/design/priors.yaml"),
    output:
        "results/{run}/judgments/shards/{judge}.parquet",
    log:
        "results/{run}/logs/collect-{judge}.log",
    priority: 1
    conda:
        "../../environment.yml"
    resources:
        api_slots=1,
    params:
        judge=judge_settings,
        journal="results/{run}/journal/{judge}.jsonl",
        prices=CONFIG.prices_file,
        budget=run_budget,
    script:
        "../scripts/collect.py"


rule import_judgments:
    input:
        file=imported_file,
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        "results/{run}/judgments/imported.parquet",
    log:
        "results/{run}/logs/import.log",
    conda:
        "../../environment.yml"
    params:
        settings=import_settings,
        code=code_digest("moralscale.importing"),
    script:
        "../scripts/import.py"


rule judgments:
    input:
        shards=shards,
    output:
        judgments="results/{run}/judgments/judgments.parquet",
        outcomes="results/{run}/tables/outcomes.csv",
    log:
        "results/{run}/logs/judgments.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.judgments"),
    script:
        "../scripts/judgments.py"
