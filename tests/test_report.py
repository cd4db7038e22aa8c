"""The report: its numbers, its honesty, and that no text can break it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from made_up import by_judge, fit, further, make_inputs

from moralscale.config import Config, Reporting
from moralscale.estimands import Estimands
from moralscale.projections import in_elo, quantities
from moralscale.records import Origin
from moralscale.report import build_report, read_inputs
from moralscale.report.contestants import composites_by_judge
from moralscale.report.signal import signal
from moralscale.report.verdict import verdict

HOSTILE = "<script>alert('x')</script>&\"'"
VOID = {"meta", "img", "br", "link", "hr", "input"}


class Page(HTMLParser):
    """Text, attributes and balance of a page."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.links, self.cells, self.pieces = [], [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.pieces.append(data)
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data

    @property
    def text(self):
        return " ".join("".join(self.pieces).split())


@pytest.fixture
def inputs(tmp_path):
    return make_inputs(tmp_path)


def test_page_is_balanced_and_loads_nothing(inputs):
    html = build_report(inputs)
    page = Page(html)
    assert page.open == []
    pictures = [link for link in page.links if link.startswith("data:image/png;base64,")]
    others = [link for link in page.links if link not in pictures]
    assert pictures
    assert all(link.startswith("#") or link == "data:," for link in others)
    outside = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    for word in ("http://", "https://", "url(", "@import", "<script>"):
        assert word not in outside


def test_numbers_stand_to_the_printed_digit(inputs):
    cells = Page(build_report(inputs)).cells
    assert "0.852 [0.752, 0.952]" in cells
    assert "0.867 [0.767, 0.967]" in cells
    assert "-9.2 [-12.2, -6.2]" in cells
    assert "0.862" in cells
    assert "0.980 [0.880, 1.080]" in cells


def test_study_and_bridged_stand_side_by_side(inputs):
    cells = Page(build_report(inputs)).cells
    start = cells.index("beta, compression slope")
    assert cells[start + 1 : start + 3] == ["0.852 [0.752, 0.952]", "0.867 [0.767, 0.967]"]
    start = cells.index("consistency on composites, over scenes")
    assert cells[start + 1 : start + 3] == ["not identified", "0.980 [0.880, 1.080]"]


def test_counts_planned_answered_and_used(inputs):
    cells = Page(build_report(inputs)).cells
    start = cells.index("single")
    assert cells[start + 1 : start + 5] == ["2,320", "2,317", "2,300", "17"]
    start = cells.index("all")
    assert cells[start + 1 : start + 5] == ["2,360", "2,357", "2,340", "17"]


def test_simulated_runs_say_so_first_and_what_was_planted(inputs):
    text = Page(build_report(inputs)).text
    banner = "Simulated data. No model was asked."
    assert text.index(banner) < text.index("Run “tiny”")
    assert "the simulated panel “noisy-additive”; planted: beta 1.000" in text
    live = replace(inputs, origin=Origin.LIVE, recovery=None)
    text = Page(build_report(live)).text
    assert "Simulated data" not in text
    assert "Planted truth" not in text


def test_missed_truths_are_marked(inputs):
    cells = Page(build_report(inputs)).cells
    assert "0.867 [0.767, 0.967] missed" in cells
    assert "0.980 [0.880, 1.080]" in cells
    assert "0.980 [0.880, 1.080] missed" not in cells
    assert "0 of 1" in cells


def test_beta_is_explained_for_the_data_at_hand(inputs):
    both = Page(build_report(inputs)).text
    assert "in units of single-arena choice noise" in both
    assert "free of choice noise" in both
    study = inputs.estimates[inputs.estimates["data"] == "study"]
    alone = Page(build_report(replace(inputs, estimates=study))).text
    assert "in units of single-arena choice noise" in alone
    assert "free of choice noise" not in alone


def test_failed_checks_are_loud(inputs):
    assert "All 2 checks of the fits passed" in Page(build_report(inputs)).text
    failing = replace(inputs, checks=inputs.checks.assign(passed=[True, False]))
    page = Page(build_report(failing))
    assert "1 of 2 checks failed." in page.text
    assert page.cells.count("fail") == 1
    assert ' fail">fail</td>' in build_report(failing)


def test_hostile_texts_are_escaped(inputs):
    estimates = pd.concat([fit("study", judge=HOSTILE)], ignore_index=True)
    html = build_report(
        replace(
            inputs,
            run=HOSTILE,
            panel=HOSTILE,
            estimates=estimates,
            outcomes=inputs.outcomes.assign(judge=HOSTILE),
            scenes=inputs.scenes.assign(text=HOSTILE, foundation=HOSTILE),
            composites=inputs.composites.assign(profile=HOSTILE, config=HOSTILE),
            by_judge=by_judge(HOSTILE),
            further={name: table.assign(note=HOSTILE) for name, table in further().items()},
            checks=inputs.checks.assign(text=HOSTILE),
            figures=(replace_caption(inputs.figures[0]),),
            provenance={HOSTILE: HOSTILE, "versions": {HOSTILE: [HOSTILE]}},
        )
    )
    page = Page(html)
    assert page.tags.count("script") == build_report(inputs).count("<script")
    assert HOSTILE not in html
    assert embedded(html)["composites"][0]["profile"] == HOSTILE
    assert page.open == []
    assert HOSTILE in page.cells
    assert f"Run “{HOSTILE}”" in page.text


def embedded(html):
    """Data of the figure of composites."""
    pattern = r'<script type="application/json" id="composites-data">(.*?)</script>'
    return json.loads(re.search(pattern, html, re.DOTALL).group(1))


def replace_caption(figure):
    return figure._replace(name=HOSTILE, caption=HOSTILE)


def test_clear_signal_is_called_clear():
    found = signal(fit("study"))
    assert not found.weak
    assert found.resolved > 0.95
    assert "clear moral signal" in found.verdict
    assert "against a typical gap" in found.bias_verdict


def test_answers_without_signal_are_said_to_have_none(inputs):
    weak = fit("study", spread=0.02, slope=0.01, bias=3.0)
    found = signal(weak)
    assert found.weak
    assert found.excluding == 0
    text = Page(build_report(replace(inputs, estimates=weak))).text
    assert "These answers carry hardly any moral signal" in text
    assert "where an option stands decides more often than what it says" in text


def test_order_that_ignores_intensity_is_not_called_moral():
    found = signal(fit("study", slope=0.05))
    assert not found.weak
    assert "not along the intensity labels" in found.verdict


def test_fits_under_several_priors_are_told_apart(inputs):
    wide = fit("study", beta=0.9111).assign(prior="wide")
    both = pd.concat([inputs.estimates, wide], ignore_index=True)
    cells = Page(build_report(replace(inputs, estimates=both))).cells
    assert "study, wide" in cells
    assert "0.911 [0.811, 1.011]" in cells


def read_run(inputs, folder, **files):
    """Write the tables of a run and read them again."""
    if "checks" not in files:
        path = folder / "study/compressed/default/checks.csv"
        path.parent.mkdir(parents=True)
        inputs.checks.drop(columns=["data", "rule", "prior"]).to_csv(path, index=False)
        files["checks"] = [path]
    names = ("estimates", "published", "study", "outcomes", "scenes", "composites")
    for name in names:
        getattr(inputs, name).to_csv(folder / f"{name}.csv", index=False)
    config = Config(runs={"tiny": {"panel": "p"}}, panels={"p": {}}).model_dump(mode="json")
    tables = {name: folder / f"{name}.csv" for name in names}
    return read_inputs("tiny", config=config, **tables, **files)


def test_inputs_are_read_from_a_run_s_files(inputs, tmp_path):
    judges = ["NA", "nan"]  # names that a careless reader takes for missing values
    estimates = pd.concat([fit("bridged", judge=name) for name in judges], ignore_index=True)
    folder = tmp_path / "bridged/compressed/default"
    folder.mkdir(parents=True)
    picture = inputs.figures[0].png.read_bytes()
    names = ("identification", "slopes")
    pictures = [tmp_path / f"{name}.simulated.png" for name in names]
    pictures.append(folder / "beta.simulated.png")
    for path in pictures:
        path.write_bytes(picture)
    own = inputs.checks.drop(columns=["data", "rule", "prior"])
    own.to_csv(folder / "checks.csv", index=False)
    read = read_run(
        replace(inputs, estimates=estimates),
        tmp_path,
        checks=[folder / "checks.csv"],
        figures=pictures,
    )
    assert (read.origin, read.panel, read.recovery) == (Origin.SIMULATED, "p", None)
    assert [(figure.name, figure.data) for figure in read.figures] == [
        ("identification", ""),
        ("slopes", ""),
        ("beta", "bridged"),
    ]
    assert set(read.checks["data"]) == {"bridged"}
    page = Page(build_report(read))
    assert page.open == []
    assert set(judges) <= set(page.cells)
    assert "20260611" in page.text


def test_estimators_stand_side_by_side_for_key_quantities(inputs):
    page = Page(build_report(inputs))
    start = page.cells.index("0.562 [0.544, 0.581]")
    assert page.cells[start - 4 : start + 1] == [
        *("slope", "0.862", "1.000", "-", "0.562 [0.544, 0.581]"),
    ]
    assert "slope judge judge-a" not in page.cells
    assert "intensity mean +1 (Elo)" in page.cells
    assert "intensity mean +3 (Elo)" not in page.cells
    assert "own estimators" not in Page(build_report(replace(inputs, study=None))).text


def test_published_figures_that_no_fit_has_are_shown_as_such(inputs):
    lost = {"quantity": "convergence", "index": "", "unit": "correlation", "published": 0.939}
    published = pd.concat([inputs.published, pd.DataFrame([lost])], ignore_index=True)
    published["data"] = published["data"].fillna("")
    cells = Page(build_report(replace(inputs, published=published))).cells
    start = cells.index("convergence")
    assert cells[start + 1 : start + 4] == ["0.939", "not identified", "not identified"]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.7, 0.95, "below 1"), (0.9, 1.1, "adding is not excluded"), (1.05, 1.3, "above 1")],
)
def test_verdict_follows_the_interval(low, high, words):
    row = {"quantity": "beta", "mean": (low + high) / 2, "hdi_low": low, "hdi_high": high}
    for data in ("study", "bridged"):
        text = verdict(pd.DataFrame([row | {"data": data}]), "94% HDI")
        assert words in text
        assert ("consistently" in text) == (data == "study" and not low < 1 < high)


def test_a_rule_without_beta_has_no_verdict():
    assert verdict(pd.DataFrame([{"quantity": "slope"}]), "94% HDI") == ""


def test_dependence_of_what_is_missing_is_told_with_both_p_values(inputs):
    assert "Does it depend" not in build_report(inputs)
    tests = pd.DataFrame(
        {
            "judge": ["judge-a", "judge-a", "judge-b"],
            "kind": "declined",
            "content": ["foundation", "intensity", "intensity"],
            "answered": 400,
            "events": [40, 40, 0],
            "p_value": [0.4, 0.0001, np.nan],
            "p_adjusted": [0.4, 0.0002, np.nan],
            "level": ["care", "-2", ""],
            "share_with": [0.11, 0.25, np.nan],
            "share_without": [0.09, 0.0, np.nan],
        }
    )
    page = Page(build_report(replace(inputs, missingness_test=tests)))
    start = page.cells.index("-2") - 4
    told = ["judge-a", "declined", "intensity", "40 of 400", "-2", "25.0% against 0.0%"]
    assert page.cells[start : start + 8] == [*told, "< 0.001", "< 0.001"]
    assert "judge-b" not in page.cells
    nothing = tests.assign(p_value=np.nan, p_adjusted=np.nan)
    assert "Does it depend" not in build_report(replace(inputs, missingness_test=nothing))


def test_embedded_estimates_are_those_of_the_tables(inputs):
    data = embedded(build_report(inputs))
    first, *_ = data["composites"]
    assert first["id"] == "care-2.loyalty-2.r1"
    assert first["acts"] == ["They care -2.", "They loyalty -2."]
    panel, judge = data["fits"][0]["points"]
    table = inputs.composites.query("unit == 'elo'")
    assert panel[3:] == [table[name].to_list() for name in ("mean", "hdi_low", "hdi_high")]
    assert panel[0][0] == pytest.approx(-4 * 400 / np.log(10), abs=0.06)
    assert judge[3:] == [inputs.by_judge[f"rating{end}"].to_list() for end in ("", "_low", "_high")]
    assert data["fits"][0]["slopes"] == [[0.8523, 0.7523, 0.9523], [0.9023, 0.8023, 1.0023]]


def test_a_judge_without_estimates_in_a_fit_has_none_in_the_figure(inputs):
    both = pd.concat([inputs.by_judge, by_judge("judge-b").assign(data="bridged")])
    data = embedded(build_report(replace(inputs, by_judge=both)))
    assert data["fits"][0]["points"][2] == [[None] * 9] * 6
    assert data["fits"][0]["slopes"][2] is None


def test_what_was_not_made_names_its_command(inputs):
    text = Page(build_report(inputs)).text
    for target in ("compare", "sensitivity", "audit"):
        assert f"snakemake {target} makes it" in text


def test_what_was_made_stands_in_its_section(inputs):
    page = Page(build_report(replace(inputs, further=further())))
    assert "makes it" not in page.text
    start = page.cells.index("additive")
    assert page.cells[start + 1 : start + 4] == ["-1240.0", "-5.5 ± 2.5", "0.10"]
    start = page.cells.index("robust to the prior")
    assert page.cells[start + 1] == "3, 1 failed"
    start = page.cells.index("prior wide")
    assert page.cells[start + 3 : start + 5] == ["0.860", "0.870"]
    assert "0.25 ± 0.05" in page.cells
    assert "joint, Laplace" in page.cells


def test_tables_of_other_targets_are_read_by_name(inputs, tmp_path):
    ours, audits = tmp_path / "run/tables", tmp_path / "audit/tables"
    paths = {"further": [], "audit": []}
    for name, table in further().items():
        folder, kind = (audits, "audit") if name.startswith("audit/") else (ours, "further")
        folder.mkdir(parents=True, exist_ok=True)
        paths[kind].append(folder / f"{name.removeprefix('audit/')}.csv")
        table.to_csv(paths[kind][-1], index=False)
    read = read_run(inputs, tmp_path, **paths)
    assert set(read.further) == set(further())
    assert "joint, Laplace" in Page(build_report(read)).cells


def test_composites_of_judges_average_to_those_of_the_panel(tiny_scenes, few_composites):
    rng = np.random.default_rng(3)
    names = {"judge": ["b", "a"], "composite": list(few_composites["composite_id"])}
    names["scene"] = list(tiny_scenes["id"])
    shape = {"chain": 2, "draw": 30, "judge": 2}
    draws = xr.Dataset(
        {
            name: (
                (*shape, dim),
                rng.normal(size=(*shape.values(), len(names[dim]))),
            )
            for name, dim in {"theta": "scene", "phi": "composite"}.items()
        },
        coords=names,
    )
    draws["theta"] = draws["theta"] - draws["theta"].mean("scene")  # as in every posterior
    estimands = Estimands.from_composites(tiny_scenes, few_composites)
    table = composites_by_judge(draws, estimands, Reporting())
    assert list(table["judge"]) == ["b"] * 50 + ["a"] * 50
    mean = table.groupby("composite", sort=False)[["sum", "rating"]].mean()
    panel = quantities(draws, estimands).mean(("chain", "draw"), keep_attrs=True)
    rated = in_elo(panel["composite_strength"])
    np.testing.assert_allclose(mean["rating"], rated.values, rtol=1e-9)
    sums = panel["component_sum"].values * 400 / np.log(10)
    np.testing.assert_allclose(mean["sum"], sums, rtol=1e-9, atol=1e-9)
    for name in ("sum", "rating"):
        assert (table[f"{name}_low"] < table[name]).all()
        assert (table[name] < table[f"{name}_high"]).all()
