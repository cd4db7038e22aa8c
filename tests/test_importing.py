"""Judgments that were collected elsewhere: read in three formats, refused row by row."""

import json

import pandas as pd
import pytest

from moralscale.config import Import
from moralscale.errors import JudgmentError
from moralscale.importing import import_judgments, load_composites
from moralscale.importing.reading import read_table
from moralscale.judgment_schema import COLUMNS


@pytest.fixture(scope="module")
def theirs(few_composites):
    """Judgments as somebody else would write them, one in every arena and a repeat."""
    one, two = few_composites["composite_id"].iloc[[0, -1]]
    rows = [
        ("lab/m-1", "care+1-0", "care-2-0", "model_a", 1),
        ("lab/m-1", "care+1-0", "care-2-0", "model_b", 2),
        ("lab/m-1", one, two, "tie (both bad)", 1),
        ("m-2", "loyalty+1-1", two, "refused", 1),
    ]
    return pd.DataFrame(rows, columns=["model", "a", "b", "winner", "round"])


SETTINGS = {
    "columns": {"judge": "model", "first": "a", "second": "b", "outcome": "winner"},
    "outcomes": {
        "model_a": "first",
        "model_b": "second",
        "tie (both bad)": "tie",
        "refused": "refusal",
    },
    "judges": {"lab/m-1": "m-1"},
}


@pytest.fixture
def take(tmp_path, tiny_scenes, few_composites):
    """Import a table, written as CSV, under `SETTINGS` with changes."""

    def imported(table, **changes):
        path = tmp_path / "votes.csv"
        table.to_csv(path, index=False)
        settings = {**SETTINGS, "file": str(path), **changes}
        return import_judgments(Import(**settings), tiny_scenes, few_composites)

    return imported


REPEATED = {"columns": {**SETTINGS["columns"], "repeat": "round"}}


def test_columns_and_labels_are_mapped_and_the_rest_follows(take, theirs):
    table = take(theirs, **REPEATED)
    assert tuple(table.columns) == COLUMNS
    assert table["arena"].tolist() == ["single", "single", "composite", "bridge"]
    assert table["outcome"].value_counts().to_dict() == {
        "first": 1,
        "second": 1,
        "tie": 1,
        "refusal": 1,
    }
    assert table["judge"].tolist() == ["m-1", "m-1", "m-1", "m-2"]
    assert sorted(table["repeat"]) == [1, 1, 1, 2]
    assert table["first_order"].tolist() == ["a", "a", "ab", "a"]
    assert set(table["origin"]) == {"imported"}
    assert table["comparison_id"].is_unique


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_judgments(
    take, theirs, suffix, tmp_path, tiny_scenes, few_composites
):
    path = tmp_path / f"votes{suffix}"
    if suffix == ".csv":
        path.write_text("\ufeff" + theirs.to_csv(index=False), encoding="utf-8")
    elif suffix == ".jsonl":
        lines = [json.dumps(row) for row in theirs.to_dict("records")]
        path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    else:
        theirs.assign(unused=1.5).to_parquet(path)
    settings = Import(**{**SETTINGS, **REPEATED, "file": str(path)})
    found = import_judgments(settings, tiny_scenes, few_composites)
    pd.testing.assert_frame_equal(found, take(theirs, **REPEATED))


@pytest.mark.parametrize(
    ("row", "column", "value", "told"),
    [
        (1, "winner", "model_c", r"row 2, column winner: value 'model_c' is not allowed; .*outc"),
        (1, "winner", "", r"row 2, column winner: the value is missing"),
        (0, "winner", "care-2-0", r"row 1, column winner: .* not a side; set `winner: contestant`"),
        (3, "a", "loyalty+1-7", r"row 4, column a: 'loyalty\+1-7' is neither .*did you mean"),
        (3, "a", "kindness", r"row 4, column a: 'kindness' is neither a scene nor a composite"),
        (3, "b", None, r"row 4, column b: the value is missing"),
        (0, "b", "care+1-0", r"row 1, column b: 'care\+1-0' meets itself"),
        (0, "model", "lab/m-9", r"row 1, column model: 'lab/m-9' cannot name a judge"),
        (0, "model", "../m", r"row 1, column model: '\.\./m' cannot name a judge"),
        (2, "round", "0", r"row 3, column round: value '0' is not allowed; .*from 1 up"),
        (2, "round", "1.5", r"row 3, column round: value '1\.5' is not allowed"),
        (1, "round", 1, r"row 2, column a: the same judgment stands in row 1"),
    ],
)
def test_a_bad_row_is_named_with_file_row_column_and_value(take, theirs, row, column, value, told):
    table = theirs.astype(object)
    table.loc[row, column] = value
    with pytest.raises(JudgmentError, match=rf"votes\.csv, {told}"):
        take(table, **REPEATED)


def test_a_judgment_that_stands_twice_needs_a_count_or_an_id(take, theirs):
    with pytest.raises(JudgmentError, match=r"row 2, .* stands in row 1; .*`repeat`"):
        take(theirs)
    ids = {"columns": {**SETTINGS["columns"], "comparison_id": "id"}}
    table = take(theirs.assign(id=["x1", "x2", "x3", "x4"]), **ids)
    assert sorted(table["repeat"]) == [1, 1, 1, 2]
    assert set(table["comparison_id"]) == {"x1", "x2", "x3", "x4"}
    with pytest.raises(JudgmentError, match="'x1' stands twice"):
        take(theirs.assign(id=["x1", "x1", "x3", "x4"]), **ids)


def test_a_winner_given_by_name_must_be_one_of_the_two(take, theirs):
    named = theirs.assign(winner=[theirs["a"][0], theirs["b"][1], "tie", "refused"])
    table = take(named, winner="contestant", **REPEATED)
    assert sorted(table["outcome"][:2]) == ["first", "second"]
    assert table["outcome"].tolist()[2:] == ["tie", "refusal"]
    named.loc[0, "winner"] = "fairness+1-0"
    with pytest.raises(JudgmentError, match=r"row 1, column winner: .* neither first nor second"):
        take(named, winner="contestant", **REPEATED)


def test_arena_and_orders_must_fit_the_contestants(take, theirs):
    orders = theirs.assign(
        arena=["single", "single", "composite", "bridge"],
        first_order=["a", "a", "ba", "a"],
        second_order=["a", "a", "ab", "ba"],
    )
    table = take(orders, **REPEATED)
    assert table["first_order"].tolist() == ["a", "a", "ba", "a"]
    with pytest.raises(JudgmentError, match=r"row 3, column first_order: 'a' does not fit"):
        take(orders.assign(first_order="a"), **REPEATED)
    with pytest.raises(JudgmentError, match=r"row 3, column arena: 'single' does not fit"):
        take(orders.assign(arena="single"), **REPEATED)


def test_a_file_that_cannot_be_read_is_named(tmp_path, tiny_scenes, few_composites):
    def told(name, text, words, **changes):
        (tmp_path / name).write_text(text, encoding="utf-8")
        settings = {**SETTINGS, "file": str(tmp_path / name), **changes}
        with pytest.raises(JudgmentError, match=words):
            import_judgments(Import(**settings), tiny_scenes, few_composites)

    told("votes.txt", "", r"unknown format '\.txt'; .*\.csv, \.jsonl, \.parquet")
    told("votes.parquet", "model,a", r"votes\.parquet: not parquet")
    told("votes.jsonl", '{"model": "m"}\n[1]\n', r"votes\.jsonl, line 2: not a JSON object")
    told("votes.jsonl", '{"model":' + "[" * 100_000, r"votes\.jsonl, line 1: not a JSON object")
    told("votes.jsonl", r'{"model": "\ud800"}', r"votes\.jsonl: not UTF-8")
    told("votes.csv", "", r"votes\.csv: not csv")
    told("votes.csv", f'"{"x" * 200_000}"', r"votes\.csv: not csv: field larger")
    told("votes.csv", "model,a,b,winner\n", r"votes\.csv: the file holds no rows")
    told("votes.csv", "a," * 20_000, r"votes\.csv: more than 10000 columns")
    told("votes.csv", "model;a\nm;x\n", r"no column 'judge' among: model;a", columns={})
    told("votes.csv", "model,model\nm,n\n", r"column 'model' is there twice")
    told("votes.csv", "model,a,b\nm,x,y\n", r"import\.columns\.outcome: the file has no column")
    told("votes.csv", "model,a,b\nm,x,y\n", r"there is no column 'judge'", columns={})
    with pytest.raises(JudgmentError, match="file not found"):
        import_judgments(Import(file="none.csv"), tiny_scenes, few_composites)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(JudgmentError, match="a folder, not a file"):
        import_judgments(Import(file=str(tmp_path / "folder.csv")), tiny_scenes, few_composites)


def test_a_value_in_a_message_stays_on_its_line(take, theirs):
    theirs.loc[0, "a"] = "\x1b[31m\n" + "z" * 1000
    with pytest.raises(JudgmentError) as caught:
        take(theirs, **REPEATED)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_texts_of_parquet_may_be_bytes(tmp_path):
    path = tmp_path / "votes.parquet"
    pd.DataFrame({"a": [b" x ", None]}).to_parquet(path)
    table = read_table(path)
    assert table["a"].iloc[0] == "x"
    assert table["a"].isna().tolist() == [False, True]


def test_composites_are_completed_from_the_corpus(tmp_path, tiny_scenes, few_composites):
    path = tmp_path / "composites.csv"
    few_composites[["composite_id", "scene_b", "scene_a"]].to_csv(path, index=False)
    found = load_composites(path, tiny_scenes)
    pd.testing.assert_frame_equal(found, few_composites, check_dtype=False)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("c,care+1-0,", r"row 1, column scene_b: the value is missing"),
        ("c,care+1-0,loyalty+1-9", r"row 1, column scene_b: .* not a scene .*did you mean"),
        ("c,care+1-0,loyalty+0-1", r"row 1, column scene_b: 'loyalty\+0-1' is neutral"),
        ("c,care+1-0,care+2-0", r"row 1, column scene_b: both scenes are of care"),
        ("c,loyalty+1-0,care+2-0", r"row 1, column scene_a: loyalty stands before care"),
        ("c,care+1-0,loyalty+1-0\nc,care+1-0,loyalty+2-0", r"row 2, .*: 'c' stands twice"),
    ],
)
def test_a_composite_that_this_model_has_no_place_for_is_refused(tmp_path, tiny_scenes, row, told):
    path = tmp_path / "composites.csv"
    path.write_text(f"composite_id,scene_a,scene_b\n{row}\n")
    with pytest.raises(JudgmentError, match=rf"composites\.csv, {told}"):
        load_composites(path, tiny_scenes)
