"""
Estimators against known truth, over a grid: a small one in the default run, the whole by `snakemake audit`.

Inputs: the corpus, config/priors/default.yaml, `audit` and `audit_full` of the configuration.
Outputs: results/{audit}/cells/{cell}.parquet, one job each, so that an interrupted audit goes on where it was;
results/{audit}/tables/{audit,sensitivity,false_alarms,laplace}.csv; figures of simulated data.
"""


rule audit:
    input:
        [audit_outputs(name) for name in AUDITS],


rule audit_cell:
    input:
        scenes=CONFIG.scenes,
        priors="config/priors/default.yaml",
    output:
        "results/{audit}/cells/{cell}.parquet",
    log:
        "results/{audit}/logs/{cell}.log",
    wildcard_constraints:
        audit="audit|audit-full",
        cell="[0-9a-f]{12}",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(120),
    params:
        cell=audit_cell,
        two_step=SETTINGS["twostep"],
        seed=CONFIG.seed,
        code=code_digest("moralscale.audit.replicates"),
    script:
        "../scripts/audit_cell.py"


rule audit_tables:
    input:
        audit_cells,
    output:
        audit="results/{audit}/tables/audit.csv",
        sensitivity="results/{audit}/tables/sensitivity.csv",
        false_alarms="results/{audit}/tables/false_alarms.csv",
        laplace="results/{audit}/tables/laplace.csv",
    log:
        "results/{audit}/logs/tables.log",
    wildcard_constraints:
        audit="audit|audit-full",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.audit.tables"),
    script:
        "../scripts/audit_tables.py"


rule audit_figures:
    input:
        audit="results/{audit}/tables/audit.csv",
    output:
        expand(
            "results/{{audit}}/figures/{figure}.simulated.{extension}",
            figure=AUDIT_FIGURES,
            extension=["pdf", "svg", "png"],
        ),
    log:
        "results/{audit}/logs/figures.log",
    wildcard_constraints:
        audit="audit|audit-full",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("moralscale.figures"),
    script:
        "../scripts/audit_figures.py"
