"""
Check every fit. `check` writes what was found, `gate` stops the run where a check failed: the posterior
and the table of checks stay, and nothing is reported from them. `predictive` and `prior_predictive` draw
what the posterior and the priors say of judgments.

Inputs: results/{run}/fits/{fit}/posterior.nc and estimates.csv; the design, of imports the judgments.
Outputs: results/{run}/checks/{fit}/checks.csv, passed.txt, predictive[.simulated].csv and its figure;
results/{run}/checks/prior/{composition}/{prior}.csv and its figure.
"""


rule check:
    input:
        posterior="results/{run}/fits/{fit}/posterior.nc",
        estimates="results/{run}/fits/{fit}/estimates.csv",
    output:
        "results/{run}/checks/{fit}/checks.csv",
    log:
        "results/{run}/logs/check/{fit}.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        gates=SETTINGS["gates"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.checks"),
    script:
        "../scripts/check.py"


localrules:
    gate,


rule gate:
    input:
        "results/{run}/checks/{fit}/checks.csv",
    output:
        "results/{run}/checks/{fit}/passed.txt",
    log:
        "results/{run}/logs/gate/{fit}.log",
    priority: 1
    # What was found will not be other at the next attempt.
    retries: 0
    conda:
        "../../environment.yml"
    script:
        "../scripts/gate.py"


rule predictive:
    input:
        "results/{run}/fits/{fit}/posterior.nc",
    output:
        table="results/{run}/checks/{fit}/predictive{mark}.csv",
        figure=multiext(
            "results/{run}/checks/{fit}/predictive{mark}", ".pdf", ".svg", ".png"
        ),
    log:
        "results/{run}/logs/predictive/{fit}{mark}.log",
    conda:
        "../../environment.yml"
    params:
        seed=CONFIG.seed,
        ci_prob=CONFIG.reporting.ci_prob,
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.checks.predicted", "moralscale.figures"),
    script:
        "../scripts/predictive.py"


rule prior_predictive:
    input:
        scenes=corpus_of,
        composites="results/{run}/design/composites.parquet",
        schedules=planned,
        priors="config/priors/{prior}.yaml",
    output:
        table="results/{run}/checks/prior/{composition}/{prior}.csv",
        figure=multiext(
            "results/{run}/checks/prior/{composition}/{prior}", ".pdf", ".svg", ".png"
        ),
    log:
        "results/{run}/logs/prior_predictive-{composition}-{prior}.log",
    conda:
        "../../environment.yml"
    params:
        seed=CONFIG.seed,
        options=SETTINGS["model"],
        widths=SETTINGS["figures"],
        code=code_digest("moralscale.checks.prior", "moralscale.figures"),
    script:
        "../scripts/prior_predictive.py"
