"""The workflow as a module of somebody else's Snakefile."""

import shutil

import yaml
from small_run import small_project
from test_workflow import ROOT, snakemake

SNAKEFILE = """
configfile: "config/small.yaml"

module moralscale:
    snakefile: "{workflow}/Snakefile"
    config: config

use rule * from moralscale as moral_*

rule mine:
    default_target: True
    input:
        "results/small/design/composites.parquet",
    output:
        "size.txt",
    shell:
        "wc -c < {{input}} > {{output}}"
"""


def test_another_workflow_uses_this_one_as_a_module(tmp_path):
    theirs = small_project(tmp_path / "theirs")
    shutil.rmtree(theirs / "workflow")
    (theirs / "Snakefile").write_text(SNAKEFILE.format(workflow=ROOT / "workflow"))
    planned = snakemake(theirs, "-n", "results/small/manifest.json")
    assert planned.returncode == 0, planned.stderr
    assert "rule moral_fit:" in planned.stdout
    done = snakemake(theirs)
    assert done.returncode == 0, done.stderr[-5000:]
    assert int((theirs / "size.txt").read_text()) > 0


def test_the_catalogue_finds_what_standardised_usage_asks_for():
    described = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    assert set(described["usage"]) == {
        "mandatory-flags",
        "software-stack-deployment",
        "report",
    }
    for name in ("workflow/Snakefile", "config/config.yaml", "config/README.md", "LICENSE"):
        assert (ROOT / name).is_file()
