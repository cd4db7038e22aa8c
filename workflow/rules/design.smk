"""
What is asked, and of whom.

Inputs: the corpus (scenarios/scenes.csv), config/priors/{prior}.yaml, composites of an imported run.
Outputs: results/{run}/design/composites.parquet, results/{run}/design/{arena}.parquet, priors.yaml (read
and found valid), and results/{run}/truth.nc for simulated panels.
"""


rule composites:
    input:
        scenes=corpus_of,
        given=imported_composites,
    output:
        "results/{run}/design/composites.parquet",
    log:
        "results/{run}/logs/composites.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        realisations=CONFIG.design.realisations,
        seed=CONFIG.seed,
        code=code_digest(
            "moralscale.importing.composites", "moralscale.design.composites"
        ),
    script:
        "../scripts/composites.py"


rule schedule:
    input:
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        "results/{run}/design/{arena}.parquet",
    log:
        "results/{run}/logs/schedule-{arena}.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        judges=judges_of,
        judgments=arena_total,
        repeats=CONFIG.design.repeats,
        pairing=CONFIG.design.pairing,
        prompts=prompts_of,
        orders=CONFIG.design.orders,
        seed=CONFIG.seed,
        code=code_digest("moralscale.design", "moralscale.scenes"),
    script:
        "../scripts/schedule.py"


rule truth:
    input:
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
    output:
        "results/{run}/truth.nc",
    log:
        "results/{run}/logs/truth.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        panel=panel_of,
        judges=judges_of,
        seed=CONFIG.seed,
        code=code_digest("moralscale.simulate"),
    script:
        "../scripts/truth.py"


rule priors:
    input:
        expand("config/priors/{prior}.yaml", prior=CONFIG.fits.priors),
    output:
        "results/{run}/design/priors.yaml",
    log:
        "results/{run}/logs/priors.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.priors"),
    script:
        "../scripts/priors.py"
