# The workflow lives in workflow/; this shim lets `snakemake` run from the project's root.
include: "workflow/Snakefile"


rule default:
    default_target: True
    input:
        rules.all.input,
