"""The report in a real browser: what is drawn, filters, sorting, and widths."""

import os
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from made_up import by_judge, further, make_inputs
from playwright.sync_api import expect, sync_playwright

from moralscale.report import build_report

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=alert(1)><b>&amp;" + "x" * 120
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser():
    """Chromium as the system has it; Playwright's own is not needed."""
    found = [path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))]
    if not found:
        missing = "no Chromium here; Debian has it as the package chromium"
        pytest.fail(missing) if "CI" in os.environ else pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found[0], args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return replace(make_inputs(tmp_path_factory.mktemp("figures")), further=further())


@pytest.fixture(scope="module")
def report(inputs, tmp_path_factory):
    return written(inputs, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def hostile_report(inputs, tmp_path_factory):
    names = {"index": {"judge-a": HOSTILE}, "judge": {"judge-a": HOSTILE}}
    bad = replace(
        inputs,
        run=HOSTILE,
        panel=HOSTILE,
        estimates=inputs.estimates.replace({"index": names["index"]}),
        outcomes=inputs.outcomes.replace({"judge": names["judge"]}),
        by_judge=by_judge(HOSTILE),
        scenes=inputs.scenes.assign(text=HOSTILE),
        composites=inputs.composites.assign(profile=HOSTILE),
    )
    return written(bad, tmp_path_factory.mktemp("hostile"))


def written(inputs, folder):
    path = folder / "report.html"
    path.write_text(build_report(inputs), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser):
    """Open pages; whatever they complain of or ask the network for fails the test."""
    contexts, complaints, requested = [], [], []

    def open_page(url, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requested.append(request.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert {url.partition(":")[0] for url in requested} <= {"file", "data"}


def points(page):
    return page.locator("#composites-plot .scatterlayer path.point")


def test_figures_are_visible_and_marked(visit, report):
    page = visit(report)
    plot = page.locator("#composites-plot")
    expect(points(page)).to_have_count(9)
    assert plot.bounding_box()["height"] > 400
    expect(plot.get_by_text("simulated data")).to_be_visible()
    assert page.locator("img").count() > 0
    for picture in page.locator("img").all():
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.naturalWidth") > 0


def test_composites_are_filtered_by_foundation_configuration_and_judge(visit, report):
    page = visit(report)
    count = page.locator("#composites-count")
    expect(count).to_have_text("9 of 9 composites shown")
    page.select_option("#composites-config", "+2/+1")
    expect(count).to_have_text("2 of 9 composites shown")
    expect(points(page)).to_have_count(2)
    page.select_option("#composites-config", "")
    page.select_option("#composites-foundation", "loyalty")
    expect(points(page)).to_have_count(9)
    legend = page.locator("#composites-plot .legend")
    expect(legend).to_contain_text("slope 0.852 [0.752, 0.952]")
    page.select_option("#composites-judge", label="judge-a")
    expect(legend).to_contain_text("slope 0.902 [0.802, 1.002]")


def test_pointing_at_a_composite_tells_its_estimates_and_acts(visit, report):
    page = visit(report)
    page.select_option("#composites-config", "+2/+2")
    expect(points(page)).to_have_count(1)
    page.locator("#composites-plot").scroll_into_view_if_needed()
    box = points(page).bounding_box()
    page.mouse.move(box["x"] - 40, box["y"] + 30)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    label = page.locator("#composites-plot .hovertext")
    expect(label).to_contain_text("care+2.loyalty+2")
    expect(label).to_contain_text("1360.0 [1340.0, 1380.0]")
    expect(page.locator("#composites-acts")).to_contain_text("They care 2. + They loyalty 2.")


def shown_scenes(page):
    return page.locator("#scenes-table tbody tr:visible th").all_inner_texts()


def test_scenes_are_filtered_by_foundation_intensity_and_words(visit, report):
    page = visit(report)
    count = page.locator("#scenes-count")
    expect(count).to_have_text("6 of 6 scenes shown")
    page.select_option("#scenes-foundation", "care")
    expect(count).to_have_text("3 of 6 scenes shown")
    page.select_option("#scenes-intensity", "-2")
    assert shown_scenes(page) == ["care-2"]
    page.select_option("#scenes-foundation", "")
    page.select_option("#scenes-intensity", "")
    page.fill("#scenes-words", "LOYALTY 1")
    assert shown_scenes(page) == ["loyalty+1"]


def test_scenes_are_sorted_by_number_and_by_word(visit, report):
    page = visit(report)
    by_intensity = page.get_by_role("button", name="intensity")
    by_intensity.click()
    assert [name[-2:] for name in shown_scenes(page)] == ["-2", "-2", "+1", "+1", "+2", "+2"]
    by_intensity.click()
    assert [name[-2:] for name in shown_scenes(page)] == ["+2", "+2", "+1", "+1", "-2", "-2"]
    header = page.locator("#scenes-table th[aria-sort]")
    expect(header).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="foundation").click()
    assert [name[0] for name in shown_scenes(page)] == ["c"] * 3 + ["l"] * 3


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_itself_never_scrolls_sideways(visit, report, hostile_report, width):
    for url in (report, hostile_report):
        page = visit(url, width)
        expect(points(page)).to_have_count(9)
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_names_are_only_names(visit, hostile_report):
    page = visit(hostile_report)
    page.select_option("#composites-judge", label=HOSTILE)
    expect(points(page)).to_have_count(9)
    page.locator("#composites-plot").scroll_into_view_if_needed()
    box = points(page).first.bounding_box()
    page.mouse.move(box["x"] - 20, box["y"] + 20)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    expect(page.locator("#composites-plot .hovertext")).to_contain_text("profile </script>")
    assert page.locator("img[onerror]").count() == 0


def test_without_scripts_tables_and_pictures_stand(visit, report):
    page = visit(report, java_script_enabled=False)
    expect(page.locator("#scenes-table tbody tr")).to_have_count(6)
    expect(page.locator("#scenes-words")).to_be_hidden()
    expect(page.get_by_text("This figure needs scripts")).to_be_visible()
    expect(page.locator("img").first).to_be_visible()


def test_a_live_run_is_not_marked_as_simulated(visit, inputs, tmp_path):
    origin = type(inputs.origin)
    live = replace(inputs, origin=origin.LIVE, recovery=None, figures=(), further={})
    page = visit(written(live, tmp_path))
    expect(points(page)).to_have_count(9)
    expect(page.get_by_text("simulated data")).to_have_count(0)


def test_fits_can_be_chosen(visit, inputs, tmp_path):
    moved = inputs.composites.assign(data="bridged", mean=inputs.composites["mean"] + 10)
    both = replace(inputs, composites=pd.concat([inputs.composites, moved], ignore_index=True))
    page = visit(written(both, tmp_path))
    legend = page.locator("#composites-plot .legend")
    expect(legend).to_contain_text("slope 0.852")
    page.select_option("#composites-fit", label="with the bridge arena")
    expect(legend).to_contain_text("slope 0.867")
