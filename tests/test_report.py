"""The report: its numbers, its honesty, and that no text can break it."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from moralscale.config import Config
from moralscale.figures.style import statement
from moralscale.records import Origin, Outcome
from moralscale.report import ReportFigure, ReportInputs, build_report, read_inputs
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
        if "style" not in self.open:
            self.pieces.append(data)
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data

    @property
    def text(self):
        return " ".join("".join(self.pieces).split())


def row(quantity, index, unit, mean, width=0.1):
    return {
        "quantity": quantity,
        "index": index,
        "unit": unit,
        "mean": mean,
        "sd": width / 2,
        "hdi_low": mean - width,
        "hdi_high": mean + width,
    }


def fit(data, *, beta=0.8674, spread=1.0, slope=0.7, bias=0.15, judge="judge-a"):
    """Estimates of one fit, with scenes that differ by `spread`."""
    rows = [
        row("beta", "", "ratio", beta),
        row("foundation_residual", "care", "elo", -9.2249, 3),
        row("foundation_residual", "care", "log-odds", -0.0531, 0.02),
        row("intensity_slope", "", "log-odds", slope),
        row("convergence", "", "correlation", 0.9494, 0.01),
        row("beta_judge", judge, "ratio", beta),
        row("position_bias_judge", judge, "log-odds", bias),
    ]
    if data == "bridged":
        rows.append(row("composite_consistency", "", "ratio", 0.9799))
    rows += [
        row("scene_strength", f"s{k}", "strength", spread * value)
        for k, value in enumerate(np.linspace(-1.5, 1.5, 31))
    ]
    return pd.DataFrame(rows).assign(
        data=data, rule="compressed", prior="default", origin="simulated"
    )


@pytest.fixture
def inputs(tmp_path):
    picture = tmp_path / "beta.png"
    statement(Origin.SIMULATED, "A picture.").savefig(picture, dpi=300)
    estimates = pd.concat([fit("study", beta=0.8523), fit("bridged")], ignore_index=True)
    key = estimates[estimates["quantity"].isin(["beta", "composite_consistency"])]
    outcomes = pd.DataFrame(0, index=[0, 1], columns=["planned", "answered", *Outcome, "valid"])
    outcomes = outcomes.assign(judge="judge-a", arena=["single", "composite"])
    outcomes = outcomes.assign(planned=[2320, 40], answered=[2317, 40], valid=[2300, 40])
    outcomes = outcomes.assign(first=[1200, 40], second=[1100, 0], refusal=[17, 0])
    checks = [
        ("study", "compressed", "default", "sampling", "rhat", 1.004, 1.01, True, "R-hat holds"),
        ("bridged", "compressed", "default", "sampling", "rhat", 1.004, 1.01, True, "R-hat holds"),
    ]
    columns = ["data", "rule", "prior", "check", "quantity", "value", "bound", "passed", "text"]
    return ReportInputs(
        run="tiny",
        origin=Origin.SIMULATED,
        estimates=estimates,
        published=key[key["quantity"] == "beta"].assign(analysis="composition", published=0.862),
        outcomes=outcomes,
        checks=pd.DataFrame(checks, columns=columns),
        recovery=key.assign(truth=1.0, covered=lambda table: table["hdi_high"] >= 1),
        figures=(ReportFigure("beta", "Slopes of judges.", picture, "study"),),
        provenance={"seed": 20260611, "versions": {"pymc": "6.3.0"}, "config": {"a": {"b": [1]}}},
        panel="noisy-additive",
    )


def test_page_is_balanced_and_loads_nothing(inputs):
    html = build_report(inputs)
    page = Page(html)
    assert page.open == []
    assert page.links
    assert all(link.startswith("data:image/png;base64,") for link in page.links)
    assert "http://" not in html
    assert "https://" not in html
    assert "url(" not in html
    assert "@import" not in html
    assert "script" not in page.tags


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
            checks=inputs.checks.assign(text=HOSTILE),
            figures=(replace_caption(inputs.figures[0]),),
            provenance={HOSTILE: HOSTILE, "versions": {HOSTILE: [HOSTILE]}},
        )
    )
    page = Page(html)
    assert "<script" not in html
    assert page.open == []
    assert HOSTILE in page.cells
    assert f"Run “{HOSTILE}”" in page.text


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


def test_inputs_are_read_from_a_run_s_files(inputs, tmp_path):
    judges = ["NA", "nan"]  # names that a careless reader takes for missing values
    estimates = pd.concat([fit("bridged", judge=name) for name in judges], ignore_index=True)
    folder = tmp_path / "bridged/compressed/default"
    folder.mkdir(parents=True)
    picture = inputs.figures[0].png.read_bytes()
    pictures = [folder / "beta.simulated.png", tmp_path / "identification.simulated.png"]
    for path in pictures:
        path.write_bytes(picture)
    own = inputs.checks.drop(columns=["data", "rule", "prior"])
    own.to_csv(folder / "checks.csv", index=False)
    tables = {"estimates": estimates, "published": inputs.published, "outcomes": inputs.outcomes}
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    config = Config(runs={"tiny": {"panel": "p"}}, panels={"p": {}}).model_dump(mode="json")
    read = read_inputs(
        "tiny",
        config=config,
        checks=[folder / "checks.csv"],
        figures=pictures,
        **{name: tmp_path / f"{name}.csv" for name in tables},
    )
    assert (read.origin, read.panel, read.recovery) == (Origin.SIMULATED, "p", None)
    assert [(figure.name, figure.data) for figure in read.figures] == [
        ("identification", ""),
        ("beta", "bridged"),
    ]
    assert set(read.checks["data"]) == {"bridged"}
    page = Page(build_report(read))
    assert page.open == []
    assert set(judges) <= set(page.cells)
    assert "20260611" in page.text


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
    assert words in verdict(pd.DataFrame([row]), "94% HDI")


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
