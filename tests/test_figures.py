"""Figures: what they mark, that they are the same every time, and that they can be read."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.lines import Line2D
from matplotlib.text import Text

from moralscale.config import FigureWidths, Reporting
from moralscale.estimands import Estimands
from moralscale.figures import (
    CAPTIONS,
    CROSS_RUN,
    FIGURES,
    OF_RUN,
    FigureData,
    applicable,
    save,
    style,
)
from moralscale.projections import quantities
from moralscale.records import FOUNDATIONS, INTENSITIES, Origin

ELO = 400 / np.log(10)
PUBLISHED = pd.DataFrame(
    [
        ("slope", "", "ratio", 0.862),
        ("foundation_residual", "loyalty", "elo", 9.58),
        ("intensity_mean", "+1", "elo", 1098.4),
        ("anchoring", "", "elo", 35.0),
        ("convergence", "", "correlation", 0.939),
    ],
    columns=["quantity", "index", "unit", "value"],
)


def draws(truth, scenes, composites, *, judges=None, seed=0):
    """Quantities of draws that scatter around a truth: (2 chains, 40 draws)."""
    rng = np.random.default_rng(seed)
    truth = truth if judges is None else truth.isel(judge=judges)
    names = ["theta", "phi", "beta", "beta_judge", "position_bias", "position_bias_judge"]
    noisy = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(40), **truth.coords})
    for name in names:
        shape = (2, 40, *truth[name].shape)
        values = truth[name].values + 0.05 * rng.standard_normal(shape)
        noisy[name] = (("chain", "draw", *truth[name].dims), values)
    return quantities(noisy, Estimands.from_composites(scenes, composites))


@pytest.fixture(scope="module")
def data(tiny_truth, tiny_scenes, tiny_composites):
    return FigureData(
        quantities=draws(tiny_truth, tiny_scenes, tiny_composites),
        scenes=tiny_scenes,
        composites=tiny_composites,
        reporting=Reporting(),
        origin=Origin.SIMULATED,
        data="bridged",
        run="tiny",
        truth=quantities(tiny_truth, Estimands.from_composites(tiny_scenes, tiny_composites)),
        published=PUBLISHED,
    )


@pytest.fixture(scope="module")
def estimates():
    rows = [
        ("compressed", "study", "beta", 0.85, 0.80, 0.91, 0.862),
        ("additive", "study", "beta", 0.86, 0.80, 0.92, 1.0),
        ("compressed", "bridged", "beta", 0.87, 0.77, 0.96, 0.862),
        ("additive", "bridged", "beta", 1.01, 0.91, 1.11, 1.0),
        ("compressed", "bridged", "composite_consistency", 0.98, 0.87, 1.08, 1.0),
        ("additive", "bridged", "composite_consistency", 0.84, 0.77, 0.92, 0.862),
    ]
    columns = ["run", "data", "quantity", "mean", "hdi_low", "hdi_high", "truth"]
    return pd.DataFrame(rows, columns=columns)


def words(figure):
    return " | ".join(text.get_text() for text in figure.findobj(Text))


def diamonds(figure):
    """X positions of planted markers, legends aside."""
    lines = [line for ax in figure.axes for line in ax.lines if line.get_marker() == "D"]
    return np.concatenate([np.atleast_1d(line.get_xdata()) for line in lines])


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_written_at_its_size_with_words_that_can_be_read(name, data, tmp_path):
    figure = FIGURES[name].draw(data)
    pdf, svg, png = save(figure, tmp_path / "deep" / name)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert b"/FontFile2" in pdf.read_bytes()  # TrueType, embedded
    assert b"/Type3" not in pdf.read_bytes()
    assert b"<svg" in svg.read_bytes()
    width = int.from_bytes(png.read_bytes()[16:20])
    assert width == round(300 * figure.get_figwidth())
    shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in shown) >= 6.5


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(
    ("origin", "widths"),
    [
        (Origin.SIMULATED, FigureWidths(column=3, wide=4, page=5.5)),
        (Origin.LIVE, FigureWidths(column=7.5, wide=7.5, page=7.5)),
    ],
    ids=["narrow", "broad"],
)
def test_nothing_reaches_over_the_edge(name, origin, widths, data):
    figure = FIGURES[name].draw(replace(data, origin=origin), widths=widths)
    assert figure.get_figwidth() in widths.model_dump().values()
    figure.canvas.draw()
    box = figure.get_tightbbox()  # inches
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


def test_fits_side_by_side_have_one_scale(data, tiny_truth, tiny_scenes, tiny_composites):
    moved = tiny_truth.assign(beta_judge=tiny_truth["beta_judge"] + 0.7)
    other = replace(data, quantities=draws(moved, tiny_scenes, tiny_composites), truth=None)
    data = replace(data, truth=None)
    one, two = (FIGURES["beta"].draw(each).axes[0].get_xlim() for each in (data, other))
    assert one != two
    beside = [
        replace(data, beside=(other.quantities,)),
        replace(other, beside=(data.quantities,)),
    ]
    one, two = (FIGURES["beta"].draw(each).axes[0].get_xlim() for each in beside)
    assert one == pytest.approx(two)


def test_same_figure_same_bytes(data, tmp_path):
    first = save(FIGURES["intensity_sums"].draw(data), tmp_path / "first")
    second = save(FIGURES["intensity_sums"].draw(data), tmp_path / "second")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_drawing_leaves_matplotlib_as_it_was(data, tmp_path):
    with matplotlib.rc_context({"font.size": 17.0}):
        before = dict(matplotlib.rcParams)
        figure = FIGURES["beta"].draw(data)
        save(figure, tmp_path / "beta")
        assert dict(matplotlib.rcParams) == before
    assert max(text.get_fontsize() for text in figure.findobj(Text)) < 10


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("origin", Origin)
def test_simulated_data_is_marked_and_no_other(name, origin, data):
    figure = FIGURES[name].draw(replace(data, origin=origin))
    assert ("simulated data" in words(figure)) == (origin is Origin.SIMULATED)


@pytest.mark.parametrize("name", FIGURES)
def test_without_truth_and_published_figures_neither_is_marked(name, data):
    figure = FIGURES[name].draw(
        replace(data, truth=None, published=PUBLISHED.iloc[:0], origin=Origin.LIVE)
    )
    assert "planted" not in words(figure)
    assert "published" not in words(figure)


def test_beta_says_what_it_is_in_units_of(data):
    study = words(FIGURES["beta"].draw(replace(data, data="study")))
    bridged = words(FIGURES["beta"].draw(data))
    assert "in units of single-arena choice noise" in study
    assert "in units of single-arena choice noise" not in bridged
    assert "published 0.862" in bridged


def test_beta_marks_every_planted_slope_in_the_order_of_the_rows(data):
    figure = FIGURES["beta"].draw(data)
    found = data.quantities["beta_judge"].mean(("chain", "draw")).values
    planted = data.truth["beta_judge"].values[np.argsort(-found)]
    np.testing.assert_allclose(diamonds(figure), [*planted, float(data.truth["beta"])])
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    judges = data.quantities["judge"].values[np.argsort(-found)]
    assert labels == [*judges, "panel mean"]


def test_composites_are_the_posterior_means_in_elo(data):
    figure = FIGURES["composites"].draw(data)
    points = np.concatenate([np.asarray(c.get_offsets()) for c in figure.axes[0].collections[:3]])
    sums = ELO * data.quantities["component_sum"].mean(("chain", "draw"))
    strengths = 1000 + ELO * data.quantities["composite_strength"].mean(("chain", "draw"))
    wanted = np.stack([sums, strengths], axis=1)
    np.testing.assert_allclose(
        points[np.lexsort(points.T)], wanted[np.lexsort(wanted.T)], atol=1e-9
    )
    slope = data.summary("slope")
    assert f"slope {float(slope['mean']):.2f} [{float(slope['low']):.2f}" in words(figure)


def test_residuals_leave_out_a_foundation_that_no_composite_has(
    data, tiny_truth, tiny_scenes, tiny_composites
):
    kept = (tiny_composites["foundation_b"] != "sanctity").to_numpy()
    composites = tiny_composites[kept].reset_index(drop=True)
    truth = tiny_truth.isel(composite=kept)
    figure = FIGURES["foundation_residuals"].draw(
        replace(
            data,
            quantities=draws(truth, tiny_scenes, composites),
            composites=composites,
            truth=quantities(truth, Estimands.from_composites(tiny_scenes, composites)),
        )
    )
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == list(FOUNDATIONS[:-1])
    assert len(diamonds(figure)) == 4


def test_intensity_sums_name_the_contrast(data):
    figure = FIGURES["intensity_sums"].draw(data)
    contrast = data.summary("anchoring", elo=True)
    text = style.signed(f"+2/-1 over +1/+1: {float(contrast['mean']):+.0f}")
    assert text in words(figure)
    assert "published: +35 Elo" in words(figure)


def test_one_judge_has_no_convergence_but_every_other_figure(
    data, tiny_truth, tiny_scenes, tiny_composites
):
    alone = replace(
        data,
        quantities=draws(tiny_truth, tiny_scenes, tiny_composites, judges=[0]),
        truth=None,
        origin=Origin.LIVE,
    )
    assert set(FIGURES) - set(applicable(alone)) == {"convergence"}
    for name in FIGURES:
        FIGURES[name].draw(alone).canvas.draw()
    assert "at least two" in words(FIGURES["convergence"].draw(alone))
    assert "panel mean" not in words(FIGURES["beta"].draw(alone))


@pytest.mark.parametrize(("n_judges", "named"), [(2, True), (60, True), (120, False)])
def test_panels_of_any_size_keep_their_names_apart(
    n_judges, named, data, tiny_truth, tiny_scenes, tiny_composites
):
    several = tiny_truth.isel(judge=np.resize([0, 1, 2], n_judges))
    several = several.assign_coords(judge=[f"judge-{k:03d}" for k in range(n_judges)])
    many = replace(data, quantities=draws(several, tiny_scenes, tiny_composites), truth=None)
    FIGURES["convergence"].draw(many).canvas.draw()
    figure = FIGURES["position_bias"].draw(many)
    assert figure.get_figheight() < 11
    assert ("judge-001" in words(figure)) == named
    figure.canvas.draw()
    tops = [t.get_window_extent() for t in figure.axes[0].get_yticklabels() if t.get_text()]
    tops = sorted(tops, key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(tops))


def test_strong_position_bias_can_be_drawn(data):
    shifted = data.quantities.copy()
    shifted["position_bias_judge"] = data.quantities["position_bias_judge"].copy() + 12
    shifted["position_bias_judge"].attrs = data.quantities["position_bias_judge"].attrs
    figure = FIGURES["position_bias"].draw(replace(data, quantities=shifted))
    figure.canvas.draw()
    assert figure.axes[0].get_xlim()[1] > 12


def test_identification_tells_what_was_missed(estimates, tmp_path):
    figure = CROSS_RUN["identification"].draw(estimates, Origin.SIMULATED)
    text = words(figure)
    assert "planted slope found for 1 of 2 panels" in text
    assert "planted slope found for 2 of 2 panels" in text
    assert "fixed at 1 by convention" in text
    assert sorted(diamonds(figure)) == sorted(estimates["truth"])
    save(figure, tmp_path / "identification")


def test_identification_without_truth_claims_nothing(estimates):
    figure = CROSS_RUN["identification"].draw(estimates.assign(truth=np.nan), Origin.LIVE)
    assert "planted" not in words(figure)
    assert not [line for line in figure.findobj(Line2D) if line.get_marker() == "D"]


def test_captions_are_one_sentence():
    for caption in CAPTIONS.values():
        assert caption.endswith(".")
        assert ". " not in caption


def test_data_is_read_from_a_run_s_files(data, tiny_truth, tiny_scenes, tiny_composites, tmp_path):
    data.quantities.to_netcdf(tmp_path / "quantities.nc", engine="h5netcdf")
    tiny_truth.to_netcdf(tmp_path / "truth.nc", engine="h5netcdf")
    # The ids of the tiny corpus hold signs, which a corpus file may not.
    scenes = tiny_scenes.assign(id=tiny_scenes["id"].str.replace("+", "p"))
    scenes.to_csv(tmp_path / "scenes.csv", index=False)
    composites = tiny_composites.assign(
        **{key: tiny_composites[key].str.replace("+", "p") for key in ("scene_a", "scene_b")}
    )
    composites.to_parquet(tmp_path / "composites.parquet")
    (tmp_path / "published.yaml").write_text(
        'figures:\n  - {quantity: slope, index: "", unit: ratio, value: 0.862}\n'
    )
    read = FigureData.read(
        quantities=tmp_path / "quantities.nc",
        scenes=tmp_path / "scenes.csv",
        composites=tmp_path / "composites.parquet",
        published=tmp_path / "published.yaml",
        truth=tmp_path / "truth.nc",
        reporting={"ci_prob": 0.8},
        origin="simulated",
        fit="study/compressed/default",
        run="tiny",
        beside=[tmp_path / "quantities.nc"],
    )
    assert len(read.beside) == 1
    assert (read.data, read.origin, read.interval_name) == ("study", Origin.SIMULATED, "80% HDI")
    assert read.published_values("slope", "ratio") == {"": 0.862}
    xr.testing.assert_allclose(read.truth["beta"], data.truth["beta"])
    assert applicable(read) == applicable(data)


def test_missing_comparisons_are_drawn_judge_by_judge_or_said_to_be_none():
    cells = [(f, i) for f in FOUNDATIONS for i in INTENSITIES]
    counts = pd.DataFrame(cells, columns=["foundation", "intensity"])
    counts = pd.concat(
        counts.assign(judge=judge, arena="single", planned=20, used=20 - missing)
        for judge, missing in (("whole", 0), ("judge-1", 3), ("judge-2", 7))
    )
    tests = pd.DataFrame(
        {
            "judge": ["judge-1", "judge-1", "judge-2", "judge-2"],
            "kind": "declined",
            "content": ["foundation", "intensity"] * 2,
            "p_adjusted": [0.0001, 0.25, np.nan, np.nan],
        }
    )
    figure = OF_RUN["missingness"].draw(counts, tests, Origin.LIVE)
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert titles == ["judge-2\nnothing declined", "judge-1\np(f) < 0.001, p(i) = 0.250"]
    some = counts[counts["judge"] != "whole"]
    five = pd.concat(some.assign(judge=some["judge"] + part) for part in ("", "-a", "-b"))
    figure = OF_RUN["missingness"].draw(five, tests, Origin.LIVE)
    drawn = [ax for ax in figure.axes if ax.get_title(loc="left")]
    labelled = [ax.xaxis.get_tick_params()["labelbottom"] for ax in drawn]
    assert labelled == [place + 4 >= len(drawn) for place in range(len(drawn))]
    none = OF_RUN["missingness"].draw(counts[counts["judge"] == "whole"], tests, Origin.SIMULATED)
    assert [text.get_text() for text in none.texts] == [
        "simulated data",
        "No comparison is missing.",
    ]
