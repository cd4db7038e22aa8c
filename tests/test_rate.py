"""Rating any file: reading it, the three methods, what is printed and written, bad input."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from moralscale import rate
from moralscale.cli.main import main
from moralscale.errors import ConfigError, GateError, JudgmentError, UnboundedError
from moralscale.rating import read_comparisons
from moralscale.rating.bayes import _gate, build_rating_model

HEADER = "first,second,outcome"
GOOD = "a,b,first\nb,a,first\na,b,second\nb,c,first\nc,b,first\na,c,first\nc,a,first\nb,c,second\n"


@pytest.fixture(scope="module")
def games() -> pd.DataFrame:
    """500 judgments of eight contestants by three judges, a third of them ties."""
    rng = np.random.default_rng(3)
    strength = np.linspace(-1.5, 1.5, 8)
    first = rng.integers(8, size=500)
    second = (first + rng.integers(1, 8, size=500)) % 8
    half = (strength[first] - strength[second] + 0.4) / 2
    chance = np.exp([half, -half, np.zeros(500)])
    above = rng.random(500) > np.cumsum(chance / chance.sum(axis=0), axis=0)[:2]
    names = np.array([f"c{i}" for i in range(8)])
    return pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "outcome": np.array(["first", "second", "tie"])[above.sum(axis=0)],
            "judge": np.array(["x", "y", "z"])[rng.integers(3, size=500)],
        }
    )


def write(folder, text, name="games.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def command(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["rate", *map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code or 0, shown.out, shown.err


# Reading


def test_every_format_gives_the_same(tmp_path, games):
    games.to_csv(tmp_path / "g.csv", index=False)
    games.to_csv(tmp_path / "g.tsv", index=False, sep="\t")
    games.to_json(tmp_path / "g.jsonl", orient="records", lines=True)
    games.to_parquet(tmp_path / "g.parquet")
    expected = rate(games)
    for name in ("g.csv", "g.tsv", "g.jsonl", "g.parquet"):
        pd.testing.assert_frame_equal(rate(tmp_path / name), expected)


def test_columns_and_labels_have_names_of_their_own(tmp_path, games):
    theirs = games.rename(columns={"first": "home", "second": "away", "outcome": "result"})
    theirs["result"] = theirs["result"].map({"first": "1", "second": "2", "tie": "X"})
    theirs["first"] = "something else"
    path = tmp_path / "g.csv"
    theirs.to_csv(path, index=False)
    found = rate(
        path,
        columns={"first": "home", "second": "away", "outcome": "result"},
        outcomes={"1": "first", "2": "second", "X": "tie"},
    )
    pd.testing.assert_frame_equal(found, rate(games))


def test_numbers_and_text_may_name_contestants(tmp_path):
    numbered = (
        GOOD.replace("a", "1").replace("b", "2").replace("c", "10").replace("se10ond", "second")
    )
    found = read_comparisons(write(tmp_path, f"{HEADER}\n{numbered}"))
    assert found.contestants == ("1", "10", "2")
    rows = pd.DataFrame({"first": [1, 2], "second": [2, 1], "outcome": ["first", "tie"]})
    assert read_comparisons(rows).contestants == ("1", "2")


@pytest.mark.parametrize(
    ("before", "after"), [("", "\n\n"), ("\ufeff", ""), (" \t".strip(), "a , b,tie\n")]
)
def test_harmless_variants_are_read(tmp_path, before, after):
    found = read_comparisons(write(tmp_path, f"{before}{HEADER}\n{GOOD}{after}"))
    assert found.contestants == ("a", "b", "c")
    windows = f"{before}{HEADER}\n{GOOD}{after}".replace("\n", "\r\n")
    assert read_comparisons(write(tmp_path, windows)).contestants == ("a", "b", "c")


def test_n_is_how_often(tmp_path):
    rows = GOOD.splitlines()
    often = "\n".join(f"{row},{1 + i % 3}" for i, row in enumerate(rows))
    repeated = "\n".join(row for i, row in enumerate(rows) for _ in range(1 + i % 3))
    counted = rate(write(tmp_path, f"{HEADER},n\n{often}"))
    pd.testing.assert_frame_equal(counted, rate(write(tmp_path, f"{HEADER}\n{repeated}")))
    assert counted["n"].sum() == 2 * len(repeated.splitlines())


def test_ignored_labels_are_counted_and_leave_no_trace(tmp_path):
    more = "a,b,both bad\nz,a,both bad\n"
    path = write(tmp_path, f"{HEADER}\n{GOOD}{more}")
    found = rate(path, ignore=["both bad"])
    assert found.attrs["summary"]["ignored"] == {"both bad": 2}
    plain = rate(write(tmp_path, f"{HEADER}\n{GOOD}", "plain.csv"))
    pd.testing.assert_frame_equal(found, plain)


BAD_ROWS = {
    "a,a,first": "row 10, column second: 'a' is compared with itself",
    "a,b,both bad": "row 10, column outcome: unknown outcome 'both bad'",
    "a,b,b": "row 10, column outcome: the winner is given by name, 'b'; write 'second'",
    "a,b,a": "row 10, column outcome: the winner is given by name, 'a'; write 'first'",
    "a,,first": "row 10, column second: missing value",
    "a,b,NaN": "row 10, column outcome: missing value",
    "a,b": "Row #10: Expected 3 columns, got 2",
    "a,b,first,more": "Row #10: Expected 3 columns, got 4",
    "z,a,first": "contestant 'z' wins every judgment",
    "z,a,second": "contestant 'z' loses every judgment",
    "y,z,first\nz,y,first": "2 groups that never meet: 'a', 'b', 'c' | 'y', 'z'",
}


@pytest.mark.parametrize("row", BAD_ROWS)
def test_a_bad_row_is_named(tmp_path, capsys, row):
    code, out, err = command(capsys, write(tmp_path, f"{HEADER}\n{GOOD}{row}\n"))
    assert (code, out) == (2, "")
    assert BAD_ROWS[row] in err
    assert err.startswith(f"error: {tmp_path}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("value", ["-1", "0", "1.5", "", "x", "inf", "nan", "1e300"])
def test_a_bad_number_is_named(tmp_path, capsys, value):
    text = f"{HEADER},n\na,b,first,2\nb,a,first,{value}\n"
    code, _, err = command(capsys, write(tmp_path, text))
    assert code == 2
    assert "row 3, column n: " in err
    if value not in ("1.5",):
        code, _, err = command(capsys, write(tmp_path, text.replace(",n\n", ",weight\n")))
        assert code == 2 or value == "1e300"


BAD_FILES = {
    "empty.csv": (b"", "the file is empty"),
    "header.csv": (f"{HEADER}\n".encode(), "no judgments"),
    "latin.csv": (f"{HEADER}\n{GOOD}\xe9,b,tie\n".encode("latin-1"), "row 10: byte 0xe9 is not"),
    "wide.csv": (b",".join(b"c%d" % i for i in range(10**6)), "at least 144,961 columns"),
    "many.csv": (b",".join(b"c%d" % i for i in range(2000)), "2,000 columns"),
    "junk.csv": (bytes(range(256)) * 9, "row 1: this is not text"),
    "junk.parquet": (bytes(range(256)) * 9, "not a parquet table"),
    "junk.jsonl": (b"\xff\xfa\xfe" * 9, "row 1: byte 0xff is not UTF-8"),
    "list.jsonl": (b"[1, 2]\n", "not a JSON object"),
    "cut.jsonl": (b'{"first": "a", "seco', "not JSON"),
    "deep.jsonl": (b'{"first":' * 50_000, "not JSON"),
    "utf16.csv": (f"{HEADER}\n{GOOD}".encode("utf-16"), "row 1: this is UTF-16"),
    "returns.csv": (f"{HEADER}\n{GOOD}".replace("\n", "\r").encode(), "end lines with a line feed"),
    "semicolons.csv": (f"{HEADER}\n{GOOD}".replace(",", ";").encode(), "separated by ';', not by"),
    "blank.csv": (b"\n\n\n", "row 1: no names of columns"),
    "games.txt": (b"a b\n", "unknown format '.txt'"),
    "twice.csv": (b"first,second,outcome,first\na,b,first,c\n", "column 'first' is there twice"),
    "misspelt.csv": (b"firstt,second,outcome\na,b,first\n", "did you mean 'firstt'?"),
    "one.csv": (f"{HEADER}\na,b,first\n".encode(), "'a' wins every judgment"),
    "ties.csv": (f"{HEADER}\na,b,tie\nb,a,tie\n".encode(), "every judgment is a tie"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line(tmp_path, capsys, name):
    text, message = BAD_FILES[name]
    code, out, err = command(capsys, write(tmp_path, text, name))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert len(err) < 500


FRAMES = {
    "no file or table": (lambda frame: [1, 2], "list is no table"),
    "numbers and words": (lambda frame: frame.assign(first=[1, "b", *"abcabc"]), "make it text"),
    "nested": (lambda frame: frame.assign(first=[{}] * len(frame)), "not text"),
    "no columns": (lambda frame: pd.DataFrame(), "no names of columns"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_bad_table_is_a_typed_error(name):
    frame = pd.read_csv(io.StringIO(f"{HEADER}\n{GOOD}"))
    spoil, message = FRAMES[name]
    with pytest.raises(JudgmentError, match=message):
        rate(spoil(frame))


def test_one_label_to_ignore_may_be_a_text(tmp_path):
    path = write(tmp_path, f"{HEADER}\n{GOOD}a,b,bad\n")
    assert rate(path, ignore="bad").attrs["summary"]["ignored"] == {"bad": 1}


def test_what_is_read_is_never_written_over(tmp_path, capsys):
    path = write(tmp_path, f"{HEADER}\n{GOOD}")
    before = path.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for target in (path, link):
        code, _, err = command(capsys, path, "--out", target)
        assert (code, path.read_bytes()) == (2, before)
        assert "is read, or written, by the same command" in err
    both = ["--out", tmp_path / "a", "--summary", tmp_path / "a"]
    assert command(capsys, path, *both)[0] == 2
    assert "this is a folder" in command(capsys, path, "--out", tmp_path)[2]


def test_no_file_at_all(tmp_path, capsys):
    assert "file not found" in command(capsys, tmp_path / "none.csv")[2]
    assert "this is a folder" in command(capsys, tmp_path)[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "firstt=a"], "unknown column 'firstt'; did you mean 'first'?"),
        (["--columns", "first"], "--columns: cannot read 'first'"),
        (["--columns", "first=second"], "one column of the file is named twice"),
        (["--outcomes", "H=home"], "unknown outcome 'home'"),
        (["--method", "glicko"], "rate, method"),
        (["--errors", "robust"], "rate, errors"),
        (["--method", "elo", "--k", "-1"], "rate, k"),
        (["--method", "bayes", "--ci-prob", "2"], "rate, ci_prob"),
        (["--out", "/dev/null/a.csv"], "cannot be written"),
    ],
)
def test_a_bad_option_is_one_line(tmp_path, capsys, options, message):
    code, out, err = command(capsys, write(tmp_path, f"{HEADER}\n{GOOD}"), *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


# Maximum likelihood


def test_the_table_is_shown_or_written(project, tmp_path, capsys):
    file = project / "tests/data/citations.csv"
    code, shown, _ = command(capsys, file, "--no-position-bias")
    assert code == 0
    assert "JRSS-B           1.059  0.053     0.059    1184  1265" in shown
    out, summary = tmp_path / "new/out.csv", tmp_path / "summary.json"
    code, shown, _ = command(capsys, file, "--out", out, "--summary", summary)
    assert "JRSS-B" not in shown
    assert "position bias, toward first (log-odds): -0.040, standard error 0.115" in shown
    table, facts = pd.read_csv(out), json.loads(summary.read_text())
    assert list(table) == ["contestant", "strength", "se", "quasi_se", "rating", "n"]
    pd.testing.assert_frame_equal(table, rate(file), check_exact=False)
    assert facts == rate(file).attrs["summary"]
    assert table["strength"].sum() == pytest.approx(0, abs=1e-12)
    assert table["rating"].mean() == pytest.approx(1000)


def test_spelling_of_names_does_not_matter(games):
    wide = {f"c{i}": f"m{i:02d}" for i in range(8)}
    narrow = {f"c{i}": f"m{i + 7}" for i in range(8)}
    one, other = (
        rate(games.assign(first=games["first"].map(m), second=games["second"].map(m)))
        for m in (wide, narrow)
    )
    other["contestant"] = other["contestant"].map({narrow[c]: wide[c] for c in wide})
    pd.testing.assert_frame_equal(one, other)


def test_weights_bring_the_sandwich(games):
    plain, weighted = rate(games), rate(games.assign(weight=2.0))
    np.testing.assert_allclose(weighted["strength"], plain["strength"], atol=1e-9)
    robust = rate(games, errors="sandwich")
    np.testing.assert_allclose(weighted["se"], robust["se"], rtol=1e-9)
    assert weighted.attrs["summary"]["errors"] == "sandwich"
    assert plain.attrs["summary"]["errors"] == "hessian"
    for method in ("bayes", "elo"):
        with pytest.raises(JudgmentError, match="weights"):
            rate(games.assign(weight=2.0), method=method)


# Elo


def test_elo_reports_its_spread_over_orders_and_not_the_order_of_the_file(games, capsys, tmp_path):
    one = rate(games, method="elo", orders=30)
    shuffled = games.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(one, rate(shuffled, method="elo", orders=30))
    pd.testing.assert_frame_equal(rate(games), rate(shuffled))
    assert (one["spread"] > 10).all()
    assert one["rating"].mean() == pytest.approx(1000)
    games.to_csv(tmp_path / "g.csv", index=False)
    shown = command(capsys, tmp_path / "g.csv", "--method", "elo", "--orders", 30)[1]
    assert "one order alone moves a rating by a median of" in shown


def test_too_many_contestants_to_invert_have_no_errors(games, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("moralscale.bradley_terry.estimate.DENSE", 0)
    monkeypatch.setattr("moralscale.bradley_terry.covariance.INVERTED", 0)
    games.to_csv(tmp_path / "g.csv", index=False)
    code, shown, _ = command(capsys, tmp_path / "g.csv")
    assert code == 0
    assert "warning: no standard errors: 8 contestants are too many to invert" in shown
    assert "standard error unknown" in shown


def test_elo_can_rate_what_likelihood_cannot(tmp_path, capsys):
    path = write(tmp_path, f"{HEADER}\na,b,first\n")
    assert rate(path, method="elo", orders=1, k=20)["rating"].tolist() == [1010.0, 990.0]
    shown = command(capsys, path, "--method", "elo", "--orders", 1)[1]
    assert "one random order" in shown
    with pytest.raises(UnboundedError):
        rate(path)


# Bayes


def test_bayes_rates_by_judges_with_ties(games):
    found = rate(games, method="bayes", draws=1500, tune=500, target_accept=0.95)
    planted = found["contestant"].map({f"c{i}": s for i, s in enumerate(np.linspace(-1.5, 1.5, 8))})
    assert found["contestant"].iloc[0] == "c7"
    np.testing.assert_allclose(found["strength"], planted, atol=0.6)
    assert (found["low"] < found["strength"]).all()
    assert (found["strength"] < found["high"]).all()
    summary = found.attrs["summary"]
    assert summary["position_bias"]["low"] < 0.4 < summary["position_bias"]["high"]
    assert summary["log_tie"]["low"] < 0 < summary["log_tie"]["high"]
    assert summary["judge_sd"]["estimate"] < 0.6
    json.dumps(summary, allow_nan=False)


def test_bayes_warns_of_groups_that_never_meet_and_bounds_who_always_wins(tmp_path, capsys):
    text = f"{HEADER},n\na,b,first,10\nc,b,first,9\nb,c,first,6\nx,y,first,8\ny,x,first,5\n"
    out = tmp_path / "out.csv"
    code, shown, _ = command(
        capsys,
        write(tmp_path, text),
        "--method",
        "bayes",
        "--no-position-bias",
        "--out",
        out,
    )
    assert code == 0
    assert "warning: 2 groups of contestants never meet" in shown
    assert "'a', 'b', 'c' | 'x', 'y'" in shown
    table = pd.read_csv(out).set_index("contestant")
    width = table["high"] - table["low"]
    assert np.isfinite(table[["strength", "low", "high"]]).all(axis=None)
    assert width["a"] == width.max()
    assert table["strength"].idxmax() == "a"


@pytest.mark.parametrize(("judged", "tied"), [(False, False), (True, True)])
def test_log_likelihood_is_that_of_the_rows(games, judged, tied):
    rows = games if tied else games[games["outcome"] != "tie"]
    rows = rows if judged else rows.drop(columns="judge")
    model = build_rating_model(read_comparisons(rows), position_bias=True)
    rng = np.random.default_rng(0)
    value = {
        name: rng.normal(size=np.shape(start)) for name, start in model.initial_point().items()
    }
    reported = ["strength", "position_bias"]
    reported += ["judge_sd", "own_z", "position_bias_sd", "position_bias_z"] if judged else []
    reported += ["log_tie"] if tied else []
    compute = model.compile_fn(
        [model.replace_rvs_by_values([model[name]])[0] for name in reported]
        + model.replace_rvs_by_values(model.potentials),
        inputs=model.value_vars,
        mode="FAST_COMPILE",
        on_unused_input="ignore",
    )
    *values, found = compute(value)
    at = dict(zip(reported, values, strict=True))
    expected = 0.0
    for row in rows.itertuples():
        first, second = int(row.first[1]), int(row.second[1])
        eta = at["strength"][first] - at["strength"][second] + at["position_bias"]
        if judged:
            j = "xyz".index(row.judge)
            eta += at["judge_sd"] * (at["own_z"][j, first] - at["own_z"][j, second])
            eta += at["position_bias_sd"] * at["position_bias_z"][j]
        nu = np.exp(at["log_tie"]) if tied else 0.0
        worth = {"first": np.exp(eta / 2), "second": np.exp(-eta / 2), "tie": nu}
        expected += np.log(worth[row.outcome] / sum(worth.values()))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_unconverged_chains_are_not_reported():
    import xarray as xr

    rng = np.random.default_rng(0)
    apart = rng.normal(size=(4, 500, 2)) + np.arange(4)[:, None, None]
    draws = xr.Dataset(
        {"strength": (("chain", "draw", "contestant"), apart)}, {"contestant": ["a", "b"]}
    )
    stats = xr.Dataset(
        {
            "diverging": (("chain", "draw"), np.zeros((4, 500), bool)),
            "energy": (("chain", "draw"), rng.normal(size=(4, 500))),
        }
    )
    with pytest.raises(GateError, match="largest rhat"):
        _gate(xr.DataTree.from_dict({"posterior": draws, "sample_stats": stats}), draws)


def test_settings_are_checked(games):
    with pytest.raises(ConfigError, match="unknown key 'drawz'"):
        rate(games, drawz=3)
