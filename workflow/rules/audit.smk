"""
Estimators against known truth, over a grid: a small one in the default run, the whole by `snakemake audit`.

Inputs: the corpus, config/priors/default.yaml, `audit` and `audit_full` of the configuration.
Outputs: results/{audit}/cells/{cell}.parquet, one job each, so that an interrupted audit goes on where it was;
results/{audit}/tables/{audit,sensitivity,false_alarms}.csv; figures of simulated data.
"""

AUDITS = {"audit": CONFIG.audit, "audit-full": CONFIG.audit_full}
AUDIT_FIGURES = ["estimates", "battles", "confounding"]


def audit_cells(wildcards):
    """Replicates of every cell of a grid."""
    return expand(
        "results/{audit}/cells/{cell}.parquet",
        audit=wildcards.audit,
        cell=[cell.name for cell in grid(AUDITS[wildcards.audit])],
    )


def audit_cell(wildcards):
    """Settings of a cell."""
    cells = {cell.name: cell for cell in grid(AUDITS[wildcards.audit])}
    return asdict(cells[wildcards.cell])


def audit_outputs(audit):
    """What an audit ends with."""
    return [
        f"results/{audit}/tables/audit.csv",
        f"results/{audit}/tables/sensitivity.csv",
        f"results/{audit}/tables/false_alarms.csv",
        *expand(
            "results/{audit}/figures/{figure}.simulated.{extension}",
            audit=audit,
            figure=AUDIT_FIGURES,
            extension=["pdf", "svg", "png"],
        ),
    ]


def default_audit_outputs():
    """The small audit, where a run is simulated: it asks nobody."""
    return audit_outputs("audit") if all(map(is_simulated, CONFIG.runs)) else []


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
