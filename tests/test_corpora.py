"""Other foundations, other intensities, other languages: by files alone, from design to report."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from test_scenes import faults

from moralscale.answers import parse_answer
from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import FigureWidths, Panel, Reporting, TwoStep, read_config
from moralscale.design import make_composites
from moralscale.errors import ModelError
from moralscale.estimands import NO_ANCHORING
from moralscale.figures import FIGURES, FigureData
from moralscale.laplace import Problem, solve
from moralscale.missingness import content_tests, count_missing
from moralscale.model import build_model
from moralscale.posterior_file import save_dataset
from moralscale.priors import load_priors
from moralscale.projections import quantities
from moralscale.prompts import load_template, render
from moralscale.providers.base import Ask
from moralscale.providers.simulated import Simulated, truth_of
from moralscale.records import Arena
from moralscale.report.analyses import analyses
from moralscale.scenes import load_scenes
from moralscale.simulate import simulate_panel
from moralscale.study import study_table, two_step_tables
from moralscale.summaries import summarise
from moralscale.tables import recovery, run_tables

ROOT = Path(__file__).parents[1]
SIX = ("care", "equality", "proportionality", "loyalty", "authority", "purity")
JUDGES = ("judge-a", "judge-b", "judge-c")


def corpus(foundations, intensities):
    rows = [
        (f"{f}.{i}.{k}", f, i, False, f"They did {f} {i} {k}.")
        for f in foundations
        for i in intensities
        for k in range(2)
    ]
    return pd.DataFrame(rows, columns=["id", "foundation", "intensity", "anchor", "text"])


#: Corpora by what is other about them, and whether they have the anchoring contrast.
CORPORA = {
    "mfq2": (None, True),
    "two levels": (corpus(("care", "ubuntu", "purity"), (-1, 1)), False),
    "seven levels": (corpus(("loyalty", "care"), range(-3, 4)), True),
}


def scattered(truth):
    """Two chains of 20 draws around a truth."""
    rng = np.random.default_rng(0)
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(20), **truth.coords})
    for name in ("theta", "phi", "alpha", "beta", "beta_judge", "position_bias_judge"):
        spread = 0.05 * rng.standard_normal((2, 20, *truth[name].shape))
        draws[name] = (("chain", "draw", *truth[name].dims), truth[name].values + spread)
    return draws


@pytest.fixture(scope="module", params=CORPORA)
def world(request, answered):
    """A corpus, its composites, what was planted and answered, and draws around the former."""
    scenes, contrast = CORPORA[request.param]
    if scenes is None:
        scenes = load_scenes(ROOT / "examples/mfq2/scenes.csv")
    composites = make_composites(scenes, realisations=1, seed=2)
    panel = Panel(judges=3, convergence=0.9)
    truth = simulate_panel(panel, scenes, composites, JUDGES, seed=4)
    counts = {Arena.SINGLE: 450, Arena.COMPOSITE: 750, Arena.BRIDGE: 240}
    table = answered(truth, scenes, composites, counts, seed=2)
    arrays = make_arrays(table, scenes, composites, data="bridged")
    draws = quantities(scattered(truth), arrays.estimands)
    return {
        "scenes": scenes,
        "composites": composites,
        "contrast": contrast,
        "truth": truth,
        "judgments": table.assign(origin="simulated"),
        "arrays": arrays,
        "draws": draws,
        "planted": quantities(truth, arrays.estimands),
    }


def test_profiles_are_those_of_the_corpus(world):
    scenes, composites = world["scenes"], world["composites"]
    n = scenes["foundation"].nunique()
    levels = len(set(scenes["intensity"]) - {0})
    assert len(composites) == n * (n - 1) // 2 * levels**2
    assert composites["config"].nunique() == levels * (levels + 1) // 2


def test_the_model_has_the_corpus_s_cells(world):
    arrays = world["arrays"]
    priors = load_priors(ROOT / "config/priors/default.yaml")
    model = build_model(arrays, priors, get_rule("compressed"), centred=True)
    foundations = world["scenes"]["foundation"].unique()
    intensities = sorted(world["scenes"]["intensity"].unique())
    assert set(model.coords["foundation"]) == set(foundations)
    assert list(model.coords["intensity"]) == intensities
    shape = model["cell_z"].type.shape
    assert shape == (len(foundations), len(intensities) - 1)
    kept = np.array(intensities)[arrays.level]
    np.testing.assert_array_equal(kept, arrays.intensity)


def test_planted_values_are_planted(world):
    planted, truth = world["planted"], world["truth"]
    assert float(planted["slope"]) == pytest.approx(0.862, abs=1e-9)
    assert float(planted["convergence"]) == pytest.approx(0.9, abs=1e-6)
    np.testing.assert_allclose(planted["foundation_residual"].values, 0, atol=1e-9)
    by_intensity = truth["mu"].to_series().groupby(world["scenes"]["intensity"].to_numpy()).mean()
    assert by_intensity.iloc[0] < by_intensity.iloc[-1]


def test_the_contrast_is_reported_where_it_is_defined_and_left_out_elsewhere(world):
    names = {name for name in map(str, world["draws"]) if name.startswith("anchoring")}
    assert bool(names) == world["contrast"]
    assert ("anchoring" in world["planted"]) == world["contrast"]


def test_a_fit_goes_through_tables_figures_and_report(world, tmp_path):
    draws, scenes, composites = world["draws"], world["scenes"], world["composites"]
    estimates = summarise(draws, Reporting())
    published = pd.DataFrame(
        [("anchoring", "anchoring", "", "elo", 35.0)],
        columns=["analysis", "quantity", "index", "unit", "value"],
    )
    fits = {"bridged/compressed/default": estimates}
    tables = run_tables(fits, scenes, composites, published, "simulated")
    residuals = tables["foundation_residuals"]
    of_panel = residuals[residuals["quantity"] == "foundation_residual"]
    assert set(of_panel["index"]) == set(scenes["foundation"])
    assert len(tables["published"]) == 1
    found = recovery(tables["estimates"], world["planted"])
    assert found[found["quantity"] == "slope"]["truth"].iloc[0] == pytest.approx(0.862)

    settings = TwoStep(orders=2, splits=1, rounds=20)
    two_step = two_step_tables(world["arrays"], settings, ci_prob=0.94, seed=1).estimates
    study = study_table(two_step, tables["estimates"], published, world["planted"], "simulated")
    anchoring = next(a for a in analyses(study) if a.title == "intensity anchoring")
    assert (NO_ANCHORING in anchoring.question) != world["contrast"]

    save_dataset(draws, tmp_path / "quantities.nc")
    scenes.to_csv(tmp_path / "scenes.csv", index=False)
    composites.to_parquet(tmp_path / "composites.parquet")
    data = FigureData.read(
        quantities=tmp_path / "quantities.nc",
        scenes=tmp_path / "scenes.csv",
        composites=tmp_path / "composites.parquet",
        published=ROOT / "config/published.yaml",
        reporting=Reporting().model_dump(),
        origin="simulated",
        fit="bridged/compressed/default",
        run="own",
    )
    said = {}
    for name in ("composites", "foundation_residuals", "intensity_sums", "scenes"):
        figure = FIGURES[name].draw(data, widths=FigureWidths())
        said[name] = " ".join(text.get_text() for ax in figure.axes for text in ax.texts)
    assert ("No anchoring contrast" in said["intensity_sums"]) != world["contrast"]


def test_a_corpus_of_two_levels_is_fitted(answered):
    """Without sampling: the same equations by another method, in seconds."""
    scenes, _ = CORPORA["two levels"]
    composites = make_composites(scenes, realisations=2, seed=2)
    truth = simulate_panel(Panel(judges=3, convergence=0.9), scenes, composites, JUDGES, seed=4)
    counts = {Arena.SINGLE: 3000, Arena.COMPOSITE: 3000, Arena.BRIDGE: 1500}
    table = answered(truth, scenes, composites, counts, seed=2)
    arrays = make_arrays(table, scenes, composites, data="bridged")
    priors = load_priors(ROOT / "config/priors/default.yaml")
    fit = solve(Problem(arrays, priors, get_rule("compressed")), seed=1)
    found = quantities(fit.draws(200, seed=1), arrays.estimands)
    low, high = np.quantile(found["slope"], [0.001, 0.999])
    assert low < 0.862 < high
    assert 0.5 < low < high < 1.3
    strength = found["scene_strength"].mean(("chain", "draw")).values
    assert np.corrcoef(strength, truth["mu"].values)[0, 1] > 0.9


def test_missing_comparisons_are_counted_by_the_corpus_s_own_levels(world):
    table = world["judgments"].copy()
    table["attempts"] = 1
    table.loc[table.index[::9], "outcome"] = "refusal"
    about = world["scenes"], world["composites"]
    counts = count_missing(table, *about)
    assert set(counts["foundation"]) == set(world["scenes"]["foundation"])
    assert set(counts["intensity"]) == set(world["scenes"]["intensity"])
    tests = content_tests(table, *about, seed=1, draws=99)
    assert tests[tests["kind"] == "declined"]["p_value"].between(0, 1).all()


def test_a_contrast_that_no_composite_has_cannot_be_planted():
    scenes = CORPORA["two levels"][0]
    composites = make_composites(scenes, realisations=1, seed=2)
    with pytest.raises(ModelError, match=r"cannot show the planted .* plant 0"):
        simulate_panel(Panel(judges=3, anchoring=35), scenes, composites, JUDGES, seed=4)


# The example of the six foundations


def test_the_example_corpus_keeps_the_rules_of_ours():
    scenes = load_scenes(ROOT / "examples/mfq2/scenes.csv")
    assert tuple(dict.fromkeys(scenes["foundation"])) == SIX
    assert set(scenes.groupby(["foundation", "intensity"]).size()) == {2}
    assert len(scenes) == 60
    broken = {scene.id: faults(scene.text) for scene in scenes.itertuples()}
    assert {name: found for name, found in broken.items() if found} == {}


def test_the_example_configurations_are_valid():
    six = read_config(ROOT / "examples/mfq2/config.yaml", root=ROOT)
    assert six.scenes_of("mfq2") == "examples/mfq2/scenes.csv"
    assert sum(six.panels["six"].residuals_of(SIX).values()) == 0
    both = read_config(ROOT / "config/languages.yaml", root=ROOT)
    assert [both.language_of(run) for run in both.runs] == ["en", "fr"]
    assert both.prompts_of("en") == ("trolley",)
    for run in both.runs:
        for name in both.prompts_of(run):
            load_template(ROOT / f"config/prompts/{name}.yaml", language=both.language_of(run))


def test_a_simulated_judge_reads_scenes_and_prompt_in_french():
    scenes = load_scenes(ROOT / "scenarios/scenes.fr.csv")
    composites = make_composites(scenes, realisations=1, seed=2)
    truth = simulate_panel(Panel(judges=2), scenes, composites, JUDGES[:2], seed=4)
    judge = Simulated("judge-a", truth_of(truth, "judge-a", source="truth"))
    template = load_template(ROOT / "config/prompts/fr.yaml", language="fr")
    text = dict(zip(scenes["id"], scenes["text"], strict=True))
    strength = truth["mu"].to_series()
    best, worst = text[strength.idxmax()], text[strength.idxmin()]
    outcomes = []
    for number, options in enumerate([([best], [worst]), ([worst], [best])] * 20):
        prompt = render(template, *options)
        ask = Ask(f"c{number}", "", prompt.user, prompt.labels, ("", "", "", ""), "fr", 1)
        reply = asyncio.run(judge.ask(ask, {}))
        outcomes.append(parse_answer(reply.text, prompt.labels).outcome)
    right = [outcome == ("first", "second")[n % 2] for n, outcome in enumerate(outcomes)]
    assert np.mean(right) > 0.75
