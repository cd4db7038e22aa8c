"""
Numbers and tables for a manuscript.

Inputs: results/{run}/tables/estimates.csv, published.csv, and recovery.csv of simulated panels.
Outputs: results/{run}/numbers/ (macros.tex, one file a number) and results/{run}/tables/latex/.
"""


rule numbers:
    input:
        estimates="results/{run}/tables/estimates.csv",
        published="results/{run}/tables/published.csv",
        recovery=recovery_of,
    output:
        numbers=directory("results/{run}/numbers"),
        tables=directory("results/{run}/tables/latex"),
    log:
        "results/{run}/logs/numbers.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.prose"),
    script:
        "../scripts/numbers.py"
