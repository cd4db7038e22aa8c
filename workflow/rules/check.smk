"""
Check every fit. `check` writes what was found, `gate` stops the run where a check failed: the posterior
and the table of checks stay, and nothing is reported from them.

Inputs: results/{run}/fits/{fit}/posterior.nc and estimates.csv.
Outputs: results/{run}/checks/{fit}/checks.csv and passed.txt.
"""


rule check:
    input:
        posterior="results/{run}/fits/{fit}/posterior.nc",
        estimates="results/{run}/fits/{fit}/estimates.csv",
    output:
        "results/{run}/checks/{fit}/checks.csv",
    log:
        "results/{run}/logs/check/{fit}.log",
    conda:
        "../../environment.yml"
    params:
        gates=SETTINGS["gates"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.checks"),
    script:
        "../scripts/check.py"


rule gate:
    input:
        "results/{run}/checks/{fit}/checks.csv",
    output:
        "results/{run}/checks/{fit}/passed.txt",
    log:
        "results/{run}/logs/gate/{fit}.log",
    conda:
        "../../environment.yml"
    script:
        "../scripts/gate.py"
