"""The table of judgments: typed, ordered, the same bytes for the same judgments."""

import pandas as pd
import pytest

from moralscale.errors import JudgmentError
from moralscale.judgment_schema import COLUMNS, validate
from moralscale.judgments import arrange, count_outcomes, merge, read_judgments, write_judgments


def judgments(judge="j1", n=6):
    outcomes = ["first", "second", None, "tie", "refusal", "truncated"]
    arenas = ["single", "composite", "bridge"]
    return pd.DataFrame(
        {
            "comparison_id": [f"{judge}-{i:03d}" for i in range(n)],
            "arena": [arenas[i % 3] for i in range(n)],
            "judge": judge,
            "first": [f"a{i}" for i in range(n)],
            "second": [f"b{i}" for i in range(n)],
            "first_order": "a",
            "second_order": "ab",
            "repeat": 1,
            "prompt": "trolley",
            "outcome": [outcomes[i % 6] for i in range(n)],
            "attempts": [0 if i % 6 == 2 else 1 for i in range(n)],
            "input_tokens": 10,
            "output_tokens": 1,
            "reasoning_tokens": 0,
            "origin": "live",
        }
    )


def test_round_trip_and_order(tmp_path):
    path = tmp_path / "shard.parquet"
    write_judgments(judgments(n=12), path)
    table = read_judgments(path)
    assert tuple(table.columns) == COLUMNS
    assert table["arena"].drop_duplicates().tolist() == ["single", "composite", "bridge"]
    assert table["outcome"].isna().sum() == 2
    pd.testing.assert_frame_equal(table, arrange(judgments(n=12)))


def test_same_judgments_same_bytes(tmp_path):
    table = judgments(n=40)
    write_judgments(table, tmp_path / "a.parquet")
    shuffled = table.sample(frac=1, random_state=3)[list(reversed(COLUMNS))]
    write_judgments(shuffled, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_all_outcomes_may_be_missing_and_none_may_be_there(tmp_path):
    unanswered = judgments().assign(outcome=None)
    write_judgments(unanswered, tmp_path / "none.parquet")
    assert read_judgments(tmp_path / "none.parquet")["outcome"].isna().all()
    write_judgments(judgments().iloc[:0], tmp_path / "empty.parquet")
    assert len(read_judgments(tmp_path / "empty.parquet")) == 0


@pytest.mark.parametrize(
    ("column", "row", "value", "told"),
    [
        ("outcome", 3, "winner", r"row 4, column outcome: value 'winner' is not allowed; use one"),
        ("arena", 0, "pairs", r"row 1, column arena: value 'pairs' is not allowed; use one"),
        ("origin", 5, "", r"row 6, column origin: value '' is not allowed; use one"),
        ("judge", 2, "", r"row 3, column judge: value '' is not allowed"),
        ("judge", 2, None, r"row 3, column judge: the value is missing"),
        ("repeat", 1, 0, r"row 2, column repeat: value 0 is not allowed; .* from 1 up"),
        ("attempts", 1, -1, r"row 2, column attempts: value -1 is not allowed; .* from 0 up"),
        ("second_order", 4, "bb", r"row 5, column second_order: value 'bb' .*use one of a, ab, ba"),
        ("second", 4, "a4", r"row 5, column second: 'a4' meets itself"),
        ("comparison_id", 5, "j1-001", r"row 6, column comparison_id: .*'j1-001' stands twice"),
    ],
)
def test_bad_value_is_named_with_file_and_row(column, row, value, told):
    table = judgments()
    table.loc[row, column] = value
    with pytest.raises(JudgmentError, match=r"^votes\.parquet, " + told):
        validate(table, source="votes.parquet")


def test_first_of_several_faults_is_shown():
    table = judgments()
    table.loc[4, "arena"] = "pairs"
    table.loc[1, "outcome"] = "winner"
    with pytest.raises(JudgmentError, match=r"row 2, column outcome"):
        validate(table, source="votes.parquet")


def test_wrong_type_and_wrong_columns():
    with pytest.raises(JudgmentError, match=r"column repeat: .*whole numbers"):
        validate(judgments().assign(repeat=1.5), source="votes.parquet")
    with pytest.raises(JudgmentError, match=r"votes\.parquet: column 'judge' is missing"):
        validate(judgments().drop(columns="judge"), source="votes.parquet")
    with pytest.raises(JudgmentError, match="unknown column 'winner'"):
        validate(judgments().assign(winner="x"), source="votes.parquet")


def test_merge_orders_and_rejects_doubles(tmp_path):
    for judge in ("j2", "j1"):
        write_judgments(judgments(judge), tmp_path / f"{judge}.parquet")
    paths = [tmp_path / "j2.parquet", tmp_path / "j1.parquet"]
    merged = merge(paths)
    pd.testing.assert_frame_equal(merged, merge(reversed(paths)))
    assert (
        merged.groupby("arena", sort=False)["judge"].unique().map(list).tolist()
        == [["j1", "j2"]] * 3
    )
    write_judgments(judgments("j1"), tmp_path / "again.parquet")
    with pytest.raises(JudgmentError, match=r"again\.parquet, row 1, .* is in .*j1\.parquet too"):
        merge([*paths, tmp_path / "again.parquet"])
    with pytest.raises(JudgmentError, match="no judgments"):
        merge([])


def test_unreadable_files(tmp_path):
    with pytest.raises(JudgmentError, match="file not found"):
        read_judgments(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("comparison_id,arena\n")
    with pytest.raises(JudgmentError, match="not a Parquet file"):
        read_judgments(tmp_path / "text.parquet")


def test_what_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "taken").write_text("a file where a folder should be")
    with pytest.raises(JudgmentError, match=r"j1\.parquet: cannot be written: .*; make room"):
        write_judgments(judgments(n=12), tmp_path / "taken" / "j1.parquet")


def test_counts():
    counts = count_outcomes(judgments(n=12)).set_index("arena")
    assert counts["planned"].to_dict() == {"single": 4, "composite": 4, "bridge": 4}
    assert counts["answered"].to_dict() == {"single": 4, "composite": 4, "bridge": 2}
    assert counts["attempted"].to_dict() == {"single": 4, "composite": 4, "bridge": 2}
    assert counts.loc["single", ["first", "tie", "valid"]].tolist() == [2, 2, 4]
    assert counts.loc["composite", ["second", "refusal", "valid"]].tolist() == [2, 2, 2]
    assert counts.loc["bridge", ["truncated", "valid"]].tolist() == [2, 0]
