"""Looking at a posterior: summary, open_run, comparison of runs, numbers for prose."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from moralscale.cli.main import main
from moralscale.config import Reporting
from moralscale.errors import ModelError, MoralscaleError
from moralscale.estimands import Estimands
from moralscale.inspection import printed, sheet, summary
from moralscale.markup import FORMS, escaped, render
from moralscale.posterior_file import save, save_dataset
from moralscale.projections import quantities
from moralscale.prose import latex_tables, macros, numbers, write_numbers
from moralscale.records import FOUNDATIONS, BetaMeaning
from moralscale.report import tables as report_tables
from moralscale.run_comparison import compare_runs
from moralscale.run_comparison import sheet as comparison_sheet
from moralscale.runs import open_run
from moralscale.summaries import summarise
from moralscale.tables import run_tables

DRAWN = (
    *("theta", "phi", "beta", "beta_judge", "alpha", "position_bias", "position_bias_judge"),
    *("consistency", "composite_consistency", "bridge_consistency"),
)
FIT = "bridged/compressed/default"


def make_fit(truth, scenes, composites, *, seed=0, shift=0.0):
    """A posterior that scatters around a truth, beta shifted: 2 chains of 60 draws."""
    rng = np.random.default_rng(seed)
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(60), **truth.coords})
    for name in DRAWN:
        spread = 0.02 * rng.standard_normal((2, 60, *truth[name].shape))
        draws[name] = (("chain", "draw", *truth[name].dims), truth[name].values + spread)
    draws["beta"] = draws["beta"] + shift
    estimands = Estimands.from_composites(scenes, composites)
    constant = estimands.to_dataset().assign(
        foundation_idx=("scene", scenes["foundation"].map(FOUNDATIONS.index).to_numpy()),
        intensity=("scene", scenes["intensity"].to_numpy()),
    )
    tree = xr.DataTree.from_dict({"posterior": draws, "constant_data": constant})
    tree.attrs = {
        "data": "bridged",
        "rule": "compressed",
        "prior": "default",
        "origin": "simulated",
        "beta_meaning": str(BetaMeaning.IDENTIFIED),
    }
    return tree


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_truth, tiny_scenes, tiny_composites):
    """Folders of two runs that differ by 0.2 in beta."""
    folder = tmp_path_factory.mktemp("results")
    estimands = Estimands.from_composites(tiny_scenes, tiny_composites)
    figures = pd.DataFrame(
        [("compression", "slope", "", "ratio", 0.862)],
        columns=["analysis", "quantity", "index", "unit", "value"],
    )
    for seed, (run, shift) in enumerate({"one": 0.0, "two": 0.2}.items()):
        fit = folder / run / "fits" / FIT
        fit.mkdir(parents=True)
        tree = make_fit(tiny_truth, tiny_scenes, tiny_composites, seed=seed, shift=shift)
        tree.attrs["run"] = run
        save(tree, fit / "posterior.nc")
        found = quantities(tree["posterior"].to_dataset().astype("float32"), estimands)
        save_dataset(found, fit / "quantities.nc")
        estimates = summarise(found, Reporting())
        estimates.to_csv(fit / "estimates.csv", index=False)
        (folder / run / "tables").mkdir()
        tables = run_tables({FIT: estimates}, tiny_scenes, tiny_composites, figures, "simulated")
        for name in ("estimates", "published", "beta"):
            tables[name].to_csv(folder / run / "tables" / f"{name}.csv", index=False)
        tiny_truth.to_netcdf(folder / run / "truth.nc", engine="h5netcdf")
    return folder


@pytest.fixture(scope="module")
def posterior(runs):
    return runs / "one" / "fits" / FIT / "posterior.nc"


@pytest.fixture(scope="module")
def found(posterior):
    return summary(posterior)


def test_summary_has_the_answers_in_order(found):
    assert list(found["quantity"].iloc[:2]) == ["beta", "slope"]
    wanted = {"foundation_residual", "anchoring", "convergence", "composite_consistency"}
    assert wanted <= set(found["quantity"])
    assert found.attrs["data"] == "bridged"
    assert "free of choice noise" in found.attrs["meaning"]


def test_summary_agrees_with_estimates_and_report_to_the_printed_digit(runs, found):
    estimates = open_run(runs / "one").estimates()
    on_page = report_tables.key_estimates({"bridged": estimates}).rows
    shown = printed(found)
    cells = shown["mean"] + " " + shown["94% HDI"]
    assert [list(pair) for pair in zip(shown["quantity"], cells, strict=True)] == on_page


def test_what_a_rule_adds_is_among_the_key_estimates(runs):
    estimates = open_run(runs / "one").estimates()
    anchored = estimates[estimates["quantity"] == "beta"].assign(quantity="omega", unit="weight")
    shown = report_tables.key_estimates({"bridged": pd.concat([estimates, anchored])}).rows
    labels = [label for label, _ in shown]
    assert labels[1] == "extra weight of the more extreme component"


def test_judges_can_be_left_out(posterior, found):
    without = summary(posterior, judges=False)
    assert not without["quantity"].str.endswith("_judge").any()
    assert found["quantity"].str.endswith("_judge").any()


def test_the_interval_is_the_one_asked_for(posterior, found):
    narrow = summary(posterior, reporting=Reporting(ci_prob=0.5, ci_kind="eti"))
    assert narrow.attrs["interval"] == "50% ETI"
    widths = (narrow["hdi_high"] - narrow["hdi_low"]) / (found["hdi_high"] - found["hdi_low"])
    assert widths.max() < 0.7


def test_every_form_holds_beta(found):
    shown = sheet(found)
    mean = f"{found['mean'].iloc[0]:.3f}"
    for form in ("table", "latex", "md"):
        assert mean in render(shown, form)
        assert "simulated" in render(shown, form)
    rows = list(csv.DictReader(io.StringIO(render(shown, "csv"))))
    assert float(rows[0]["mean"]) == pytest.approx(found["mean"].iloc[0], rel=1e-12)
    data = json.loads(render(shown, "json"))
    assert data["origin"] == "simulated"
    assert data["quantities"][0]["mean"] == pytest.approx(found["mean"].iloc[0], rel=1e-12)
    with pytest.raises(MoralscaleError, match="did you mean 'latex'"):
        render(shown, "latx")


def test_a_narrow_terminal_loses_nothing(found, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = render(sheet(found), "table")
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert set(FORMS) == {"table", "csv", "json", "latex", "md"}


def test_open_run_gives_draws_tables_and_truth(runs, tiny_truth):
    run = open_run(runs / "one")
    assert run.fits == [FIT]
    assert run.tables == ["beta", "estimates", "published"]
    assert run.origin == "simulated"
    assert {"beta", "slope"} <= set(run.table("beta")["quantity"])
    assert float(run.truth["beta"]) == pytest.approx(float(tiny_truth["beta"]))
    assert run.posterior("bridged")["posterior"]["beta"].shape == (2, 60)
    assert run.quantities()["slope"].attrs["unit"] == "ratio"
    assert run.manifest == {}


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda runs: open_run(runs / "on"), "did you mean"),
        (lambda runs: open_run(runs / "one").posterior("study"), "no fit 'study'"),
        (lambda runs: open_run(runs / "one").table("bta"), "did you mean 'beta'"),
    ],
)
def test_what_is_not_there_is_said(runs, ask, told):
    with pytest.raises(MoralscaleError, match=told):
        ask(runs)


@pytest.mark.parametrize(
    ("file", "content", "ask", "told"),
    [
        ("tables/beta.csv", b"", lambda run: run.table("beta"), "not a table: No columns"),
        ("tables/beta.csv", b'a,b\n1,"2\n', lambda run: run.table("beta"), "not a table"),
        ("tables/beta.csv", b"\xff\xfe\x00", lambda run: run.table("beta"), "not a table"),
        ("manifest.json", b"{", lambda run: run.manifest, "not a manifest"),
        ("manifest.json", b"\xff", lambda run: run.manifest, "not a manifest"),
    ],
)
def test_damaged_files_of_a_run_are_named(runs, tmp_path, file, content, ask, told):
    shutil.copytree(runs / "one", tmp_path / "one")
    (tmp_path / "one" / file).write_bytes(content)
    with pytest.raises(ModelError, match=told) as error:
        ask(open_run(tmp_path / "one"))
    assert str(tmp_path / "one" / file) in str(error.value)


def test_a_planted_difference_between_runs_is_found(runs):
    table = compare_runs(open_run(runs / "one"), open_run(runs / "two"))
    beta = table[table["quantity"] == "beta"].iloc[0]
    assert beta["mean_difference"] == pytest.approx(0.2, abs=0.03)
    assert beta["low_difference"] > 0.1
    assert beta["pd"] > 0.99
    same = table[table["quantity"] == "alpha"].iloc[0]
    assert same["low_difference"] < 0 < same["high_difference"]
    agreement = table[table["index"] == "scenes"].iloc[0]
    assert agreement["mean_difference"] > 0.95
    assert agreement["unit"] == "correlation"
    shown = render(comparison_sheet(table), "md")
    assert "one (simulated data)" in shown.replace("a: ", "")
    assert "Simulated judges have the same names" in comparison_sheet(table).note


def test_runs_of_one_name_stay_apart(runs, tmp_path):
    """In two folders; and names are no markup."""
    shutil.copytree(runs / "two", tmp_path / "one")
    table = compare_runs(open_run(runs / "one"), open_run(tmp_path / "one"))
    (part,) = comparison_sheet(table).parts
    assert list(part) == ["quantity", "one (a)", "one (b)", "b - a", "direction"]
    table.attrs["a"] = "[red]one"
    assert "[red]one" in render(comparison_sheet(table), "table")


def test_what_one_run_cannot_tell_has_no_difference(runs, tmp_path):
    shutil.copytree(runs / "two", tmp_path / "two")
    (file,) = (tmp_path / "two").glob("fits/*/*/*/quantities.nc")
    found = open_run(tmp_path / "two").quantities()
    found["beta"] = found["beta"] * np.nan
    save_dataset(found, file)
    row = compare_runs(open_run(runs / "one"), open_run(tmp_path / "two")).iloc[0]
    assert row["quantity"] == "beta"
    assert row[["mean_b", "mean_difference", "pd"]].isna().all()
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(ModelError, match=r"quantities\.nc: cannot be read: .*cut short"):
        open_run(tmp_path / "two").quantities()


def test_a_comparison_says_whose_difference_it_is(runs, tmp_path):
    """Two live runs in two languages, of which the second has one judge less."""
    for name, kept in (("en", slice(None)), ("fr", slice(1, None))):
        run = open_run(runs / "one")
        tree, found = run.posterior(), run.quantities()
        tree.attrs |= {"origin": "live", "language": name}
        fit = tmp_path / name / "fits" / "bridged/compressed/default"
        fit.mkdir(parents=True)
        save(tree, fit / "posterior.nc")
        save_dataset(found.isel(judge=kept, other_judge=kept), fit / "quantities.nc")
    en, fr = (open_run(tmp_path / name) for name in ("en", "fr"))
    table = compare_runs(en, fr)
    both = en.quantities()["judge"].values[1:]
    shared = table[table["quantity"] == "slope_shared"].iloc[0]
    expected = float(en.quantities()["slope_judge"].sel(judge=both).mean())
    assert shared["mean_a"] == pytest.approx(expected)
    assert shared["mean_difference"] == pytest.approx(0, abs=1e-9)
    sheet = comparison_sheet(table)
    assert "a: en (live, en), b: fr (live, fr)" in render(sheet, "md")
    assert f"{len(both)} judges are in both runs, 1 in one alone" in sheet.note
    assert "of the population of judges" in sheet.note
    same = compare_runs(en, en)
    assert "slope_shared" not in set(same["quantity"])
    assert f"{len(both) + 1} judges are in both runs." in comparison_sheet(same).note


def test_runs_of_different_data_are_not_compared(runs, tmp_path, monkeypatch):
    one, two = (open_run(runs / name) for name in ("one", "two"))
    tree = two.posterior()
    tree.attrs["data"] = "study"
    fit = tmp_path / "three" / "fits" / "study/compressed/default"
    fit.mkdir(parents=True)
    save(tree, fit / "posterior.nc")
    save_dataset(two.quantities(), fit / "quantities.nc")
    with pytest.raises(MoralscaleError, match="'three' one of study data"):
        compare_runs(one, open_run(tmp_path / "three"))


def test_numbers_for_prose_are_those_of_the_tables(runs, tmp_path):
    estimates = open_run(runs / "one").table("estimates")
    texts = numbers(estimates, run="one")
    beta = estimates[(estimates["quantity"] == "beta")].iloc[0]
    assert texts["bridged.beta"] == f"{beta['mean']:.3f}"
    assert texts["bridged.beta.low"] == f"{beta['hdi_low']:.3f}"
    assert texts["bridged.foundation_residual.care.estimate"].count("[") == 1
    assert texts["origin"] == "simulated"
    write_numbers(texts, tmp_path)
    assert (tmp_path / "bridged.beta.tex").read_text() == f"{texts['bridged.beta']}%\n"
    defined = re.findall(r"moralscale@([^\\]+)\\endcsname\{", macros(texts))
    assert set(texts) <= set(defined)
    assert r"\newcommand{\moralscalesimulated}[2]{#1}" in macros(texts)
    assert r"[2]{#2}" in macros(texts | {"origin": "live"})


def test_latex_tables_are_closed_and_escaped(runs):
    run = open_run(runs / "one")
    made = dict(latex_tables(run.table("estimates"), run.table("published"), None))
    assert set(made) == {"key", "judges-bridged", "published"}
    for text in made.values():
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
        assert not re.search(r"(?<!\\)[_%#]", text)
    assert escaped("50% of a_b") == r"50\% of a\_b"


def test_negative_numbers_have_minus_signs_in_latex(runs):
    for text, latex in {
        "-15.6": r"\ensuremath{-}15.6",
        "-0.1 [-5.0, .5]": r"\ensuremath{-}0.1 [\ensuremath{-}5.0, .5]",
        "+2/-1 over +1/+1": r"+2/\ensuremath{-}1 over +1/+1",
        "simulated-01, model-2, 0.8-0.9, 2026-06-11, -": (
            "simulated-01, model-2, 0.8-0.9, 2026-06-11, -"
        ),
    }.items():
        assert escaped(text) == latex
    run = open_run(runs / "one")
    made = dict(latex_tables(run.table("estimates"), run.table("published"), None))
    assert r"+2/\ensuremath{-}1" in made["key"]


def test_the_commands_print_and_write(runs, posterior, tmp_path, capsys):
    for arguments in (
        ["summary", str(posterior), "--format", "csv"],
        ["summary", str(runs / "one"), "--no-judges"],
        ["compare-runs", str(runs / "one"), str(runs / "two"), "--out", str(tmp_path)],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert not ended.value.code
        assert "beta" in capsys.readouterr().out
    assert {path.name for path in Path(tmp_path).iterdir()} == {
        f"runs.simulated.{kind}" for kind in ("csv", "pdf", "svg", "png")
    }


def test_a_posterior_has_to_say_what_beta_means(runs):
    tree = open_run(runs / "one").posterior()
    for attrs in ({}, {"beta_meaning": "nonsense"}):
        tree.attrs = attrs
        with pytest.raises(ModelError, match="does not say what beta means"):
            summary(tree)


@pytest.mark.parametrize("content", [b"", b"not a posterior", None])
def test_what_is_no_posterior_is_one_line(tmp_path, capsys, content):
    path = tmp_path / "posterior.nc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["summary", str(path)])
    assert ended.value.code == 2
    what = "no such file" if content is None else "no posterior in this file"
    assert capsys.readouterr().err == f"error: {path}: {what}; check the path\n"
