"""
Ask each real judge one question, once, for the manifest: model that answers, settings, reasoning, tokens.
`moralscale probe CONFIG` does the same before anything else is asked, and its file is then taken as it is.

Inputs: prompts; results/{run}/judgments/judgments.parquet, so that no judge is probed that was not collected.
Outputs: results/{run}/probe.json.
"""


rule probe:
    input:
        prompt=ancient(first_prompt),
        judgments=ancient("results/{run}/judgments/judgments.parquet"),
    output:
        "results/{run}/probe.json",
    log:
        "results/{run}/logs/probe.log",
    conda:
        "../../environment.yml"
    params:
        judges=descriptions,
    script:
        "../scripts/probe.py"
