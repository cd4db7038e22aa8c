"""Judgments in a file to a posterior: what is asked for is found, or the error says what is not."""

from __future__ import annotations

import pandas as pd
import pytest

from moralscale import fit_judgments
from moralscale.cli.main import main
from moralscale.errors import ConfigError, JudgmentError, ModelError
from moralscale.importing import read_any
from moralscale.judgments import arrange, write_judgments


@pytest.fixture
def whole(few_judgments):
    """A whole table of judgments."""
    plain = {"attempts": 1, "input_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0}
    return arrange(few_judgments.assign(**plain, origin="simulated"))


@pytest.fixture
def run_folder(whole, few_composites, tmp_path):
    """A run's folder with judgments and design."""
    write_judgments(whole, tmp_path / "judgments/judgments.parquet")
    (tmp_path / "design").mkdir()
    few_composites.to_parquet(tmp_path / "design/composites.parquet", index=False)
    return tmp_path


def test_an_unknown_rule_names_the_nearest(run_folder):
    with pytest.raises(ConfigError, match=r"unknown composition rule 'compresed'.*'compressed'"):
        fit_judgments(run_folder / "judgments/judgments.parquet", rule="compresed")


def test_a_missing_prior_file_is_named(run_folder):
    with pytest.raises(ConfigError, match=r"priors/deflt\.yaml: file not found.*'default'\?"):
        fit_judgments(run_folder / "judgments/judgments.parquet", prior="deflt")


def test_composites_are_those_of_the_run_or_an_error(run_folder, few_judgments, project):
    prior = project / "config/priors/default.yaml"
    (run_folder / "design/composites.parquet").unlink()
    with pytest.raises(ModelError, match=r"composites\.parquet: no file .*`--composites`"):
        fit_judgments(run_folder / "judgments/judgments.parquet", prior=prior)
    with pytest.raises(ModelError, match="no composites"):
        fit_judgments(few_judgments, prior=prior)
    (run_folder / "design/composites.parquet").write_text("a,b\n")
    with pytest.raises(JudgmentError, match="not parquet: "):
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


WRITERS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    "parquet": lambda table, path: table.to_parquet(path, index=False),
}


@pytest.mark.parametrize("ending", list(WRITERS))
def test_judgments_are_the_same_in_every_format(
    ending, whole, tiny_scenes, few_composites, tmp_path
):
    path = tmp_path / f"judgments.{ending}"
    WRITERS[ending](whole.sample(frac=1, random_state=1), path)
    pd.testing.assert_frame_equal(read_any(path, tiny_scenes, few_composites), whole)
    # Somebody else's four columns are enough, and are not taken for simulated.
    WRITERS[ending](whole[["judge", "first", "second", "outcome"]].drop_duplicates(), path)
    found = read_any(path, tiny_scenes, few_composites)
    assert set(found["origin"]) == {"imported"}
    assert found["arena"].value_counts().to_dict().keys() == {"single", "composite", "bridge"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attempts": "many"}, r"row 1, column attempts: 'many' is no whole number"),
        ({"repeat": "1.5"}, r"row 1, column repeat: '1\.5' is no whole number"),
        ({"input_tokens": None}, r"row 1, column input_tokens: the value is missing"),
        ({"outcome": "won"}, r"row 1, column outcome: value 'won' is not allowed"),
        ({"origin": "dreamt"}, r"row 1, column origin: value 'dreamt' is not allowed"),
    ],
)
def test_a_wrong_value_is_named_with_its_row(
    change, message, whole, tiny_scenes, few_composites, tmp_path
):
    path = tmp_path / "judgments.csv"
    whole.assign(**change).to_csv(path, index=False)
    with pytest.raises(JudgmentError, match=message):
        read_any(path, tiny_scenes, few_composites)


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
def test_a_file_that_is_no_posterior_is_one_line(command, tmp_path, refused):
    pd.DataFrame({"a": [1]}).to_csv(tmp_path / "posterior.nc")
    refused(command, tmp_path / "posterior.nc", *["x"] * (command == "compare"))
