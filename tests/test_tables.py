"""Tables of a run."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from moralscale.config import Reporting
from moralscale.summaries import summarise
from moralscale.tables import identification, published, read_estimates, recovery, run_tables

SCENES = pd.DataFrame({"id": ["s1", "s2"], "foundation": ["care", "loyalty"], "intensity": [1, -1]})
COMPOSITES = pd.DataFrame({"composite_id": ["c1"], "config": ["+1/-1"]})
FIGURES = pd.DataFrame(
    [
        ("composition", "slope", "", "ratio", 0.862),
        ("anchoring", "intensity_mean", "+1", "elo", 1098.4),
    ],
    columns=["analysis", "quantity", "index", "unit", "value"],
)
UNITS = {
    "beta": "ratio",
    "slope": "ratio",
    "intensity_mean": "strength",
    "scene_strength": "strength",
    "correlation": "correlation",
}


def dataset(values):
    """Quantities with these values (scalars, or one dim each), as draws around them or as truth."""
    dims = {
        "intensity_mean": ("intensity_sum",),
        "scene_strength": ("scene",),
        "correlation": ("judge", "other_judge"),
    }
    data = {name: (dims.get(name, ()), np.asarray(v, float)) for name, v in values.items()}
    coords = {
        "intensity_sum": [-1, 1],
        "scene": ["s1", "s2"],
        "judge": ["a", "b"],
        "other_judge": ["a", "b"],
    }
    found = xr.Dataset(data, {k: v for k, v in coords.items()})
    for name in found.data_vars:
        found[name].attrs = {"unit": UNITS[name], "definition": "-"}
    return found


TRUTH = {
    "beta": 1.0,
    "slope": 1.0,
    "intensity_mean": [-0.5, 0.5],
    "scene_strength": [1.0, -1.0],
    "correlation": [[1.0, 0.9], [0.9, 1.0]],
}


@pytest.fixture(scope="module")
def estimates():
    rng = np.random.default_rng(0)
    truth = dataset(TRUTH)
    noise = xr.DataArray(rng.normal(0, 0.05, (2, 400)), dims=("chain", "draw"))
    draws = truth + noise
    own = draws["correlation"]["judge"] == draws["correlation"]["other_judge"]
    draws["correlation"] = draws["correlation"].where(~own, 1.0)
    draws["beta"] = draws["beta"] - 0.4  # missed
    for name in draws.data_vars:
        draws[name].attrs = truth[name].attrs
    return summarise(draws, Reporting())


def test_estimates_survive_a_file(estimates, tmp_path):
    path = tmp_path / "estimates.csv"
    estimates.to_csv(path, index=False)
    back = read_estimates(path)
    pd.testing.assert_frame_equal(back, estimates, check_exact=False, check_dtype=False)
    assert "+1" in set(back["index"])
    assert "" in set(back["index"])


def test_recovery_tells_hits_from_misses_in_every_unit(estimates):
    table = recovery(estimates, dataset(TRUTH)).set_index(["quantity", "index", "unit"])
    assert not table.loc[("beta", "", "ratio"), "covered"]
    assert table.loc[("slope", "", "ratio"), "covered"]
    assert table.loc[("intensity_mean", "+1", "strength"), "truth"] == pytest.approx(0.5)
    assert table.loc[("intensity_mean", "+1", "elo"), "truth"] == pytest.approx(1086.859, abs=1e-3)
    assert ("correlation", "a, b", "correlation") in table.index
    assert ("correlation", "a, a", "correlation") not in table.index


def test_published_figures_stand_beside_those_found(estimates):
    table = published(estimates, FIGURES).set_index("quantity")
    assert table.loc["slope", "published"] == 0.862
    assert table.loc["slope", "mean"] == pytest.approx(1.0, abs=0.02)
    assert table.loc["intensity_mean", "mean"] == pytest.approx(1086.9, abs=2)


def test_a_published_figure_that_no_fit_has_stays_without_a_number(estimates):
    without = estimates[estimates["quantity"] != "slope"]
    table = published(without, FIGURES).set_index("quantity")
    assert np.isnan(table.loc["slope", "mean"])


def test_run_tables_name_the_fit_and_say_what_beta_means(estimates):
    fits = {"study/compressed/default": estimates, "bridged/compressed/wide": estimates}
    tables = run_tables(fits, SCENES, COMPOSITES, FIGURES, "simulated")
    assert set(tables["estimates"]["prior"]) == {"default", "wide"}
    assert set(tables["estimates"]["origin"]) == {"simulated"}
    assert len(tables["estimates"]) == 2 * len(estimates)
    beta = tables["beta"].set_index(["data", "quantity"])
    assert "choice noise" in beta.loc[("study", "beta"), "definition"]
    assert "choice noise" not in beta.loc[("bridged", "beta"), "definition"]
    scenes = tables["scenes"].set_index(["data", "index", "unit"])
    assert scenes.loc[("study", "s2", "elo"), "foundation"] == "loyalty"


def test_identification_sets_runs_side_by_side(estimates):
    found = recovery(estimates, dataset(TRUTH))
    table = identification({"one": found, "two": found})
    assert list(table["run"]) == ["one", "two"]
    assert set(table["quantity"]) == {"beta"}


def test_a_published_figure_without_an_estimate_is_read_as_missing(tmp_path):
    header = "quantity,index,unit,published,mean,hdi_low,hdi_high"
    rows = ("slope,,ratio,0.862,0.41,-0.41,1.31", "convergence,,correlation,0.939,,,")
    (tmp_path / "published.csv").write_text("\n".join((header, *rows, "")))
    found = read_estimates(tmp_path / "published.csv")
    assert found["mean"].tolist() == pytest.approx([0.41, np.nan], nan_ok=True)
    assert found["index"].tolist() == ["", ""]
