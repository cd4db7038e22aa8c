"""The data dictionary knows the columns that the package writes."""

from __future__ import annotations

import pytest

import dictionary
from moralscale.audit.tables import AUDIT
from moralscale.calibration import replicate
from moralscale.compare import ranking
from moralscale.tables import TABLES


@pytest.fixture(scope="module")
def columns(project):
    """Columns by name of file."""
    return {
        name: list(table["columns"])
        for table in dictionary.tables(project)
        for name in [table["file"], *table.get("also", [])]
    }


def test_tables_with_columns_in_src_have_these(columns):
    assert columns["results/RUN/tables/comparison.csv"] == list(ranking.COLUMNS)
    assert columns["results/calibration/jobs/KIND-N.csv"] == list(replicate.COLUMNS)
    assert columns["results/audit/tables/audit.csv"][: len(AUDIT)] == AUDIT


def test_every_table_of_a_run_is_there(columns):
    assert {f"results/RUN/tables/{name}.csv" for name in TABLES} <= set(columns)


def test_each_column_has_a_type_and_a_meaning(project):
    for table in dictionary.tables(project):
        for name, (kind, meaning) in table["columns"].items():
            assert kind.split(",")[0] in {"text", "int", "number", "bool"}, (table["file"], name)
            assert meaning.strip()


def test_a_column_that_only_src_knows_is_an_error(monkeypatch, project):
    more = {"scenarios/scenes.csv": (*dictionary.scenes.COLUMNS, "language")}
    monkeypatch.setattr(dictionary, "SCHEMAS", more)
    with pytest.raises(ValueError, match=r"scenes\.csv.*language"):
        dictionary.page(project)
