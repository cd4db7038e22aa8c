"""Judgments in a file to a posterior: what is asked for is found, or the error says what is not."""

from __future__ import annotations

import pandas as pd
import pytest

from moralscale import fit_judgments
from moralscale.cli.main import main
from moralscale.errors import ConfigError, JudgmentError, ModelError
from moralscale.judgments import write_judgments


@pytest.fixture
def run_folder(few_judgments, few_composites, tmp_path):
    """A run's folder with judgments and design."""
    plain = {"attempts": 1, "input_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0}
    table = few_judgments.assign(**plain, origin="simulated")
    write_judgments(table, tmp_path / "judgments/judgments.parquet")
    (tmp_path / "design").mkdir()
    few_composites.to_parquet(tmp_path / "design/composites.parquet", index=False)
    return tmp_path


def test_an_unknown_rule_names_the_nearest(run_folder):
    with pytest.raises(ConfigError, match=r"unknown composition rule 'compresed'.*'compressed'"):
        fit_judgments(run_folder / "judgments/judgments.parquet", rule="compresed")


def test_a_missing_prior_file_is_named(run_folder):
    with pytest.raises(ConfigError, match=r"config/priors/wide\.yaml: file not found"):
        fit_judgments(run_folder / "judgments/judgments.parquet", prior="wide")


def test_composites_are_those_of_the_run_or_an_error(run_folder, few_judgments, project):
    prior = project / "config/priors/default.yaml"
    (run_folder / "design/composites.parquet").unlink()
    with pytest.raises(ModelError, match=r"design/composites\.parquet: no file of composites"):
        fit_judgments(run_folder / "judgments/judgments.parquet", prior=prior)
    with pytest.raises(ModelError, match="no composites"):
        fit_judgments(few_judgments, prior=prior)
    (run_folder / "design/composites.parquet").write_text("a,b\n")
    with pytest.raises(JudgmentError, match="not a Parquet file"):
        fit_judgments(run_folder / "judgments/judgments.parquet", prior=prior)


def test_scenes_that_were_not_judged_are_an_error_in_one_line(run_folder, project, capsys):
    arguments = [
        *("fit", str(run_folder / "judgments/judgments.parquet")),
        *("--prior", str(project / "config/priors/default.yaml")),
        *("--scenes", str(project / "scenarios/scenes.csv")),
        *("--out", str(run_folder / "posterior.nc")),
    ]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (run_folder / "posterior.nc").exists()


def test_refused_judgments_are_not_fitted(few_judgments, few_composites, tiny_scenes, project):
    refused = few_judgments.assign(outcome="refusal")
    with pytest.raises(ModelError, match="no decided judgment in the single arena"):
        fit_judgments(
            refused,
            scenes=tiny_scenes,
            composites=few_composites,
            prior=project / "config/priors/default.yaml",
        )


@pytest.mark.parametrize("command", ["check", "compare"])
def test_a_file_that_is_no_posterior_is_one_line(command, tmp_path, capsys):
    pd.DataFrame({"a": [1]}).to_csv(tmp_path / "posterior.nc")
    with pytest.raises(SystemExit) as ended:
        main([command, str(tmp_path / "posterior.nc"), *["x"] * (command == "compare")])
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert shown.count("\n") == 1
