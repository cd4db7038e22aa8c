"""The calibration: what it counts, what it notices, and that a job runs and resumes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from moralscale.calibration.page import conclude, make_page
from moralscale.calibration.replicate import COLUMNS, RANKED_DRAWS, replicate
from moralscale.calibration.running import KINDS, run_job
from moralscale.calibration.summary import coverage_table, rank_table
from moralscale.calibration.targets import RECOVERED
from moralscale.config import Calibration, Reporting
from moralscale.estimands import Estimands
from moralscale.figures import TABLED


def made_up(*, n=300, narrow=1.0, shift=0.0, seed=0, failing=0):
    """Replicates of a normal mean whose posterior sd is off by the factor `narrow`."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    mean = truth + rng.normal(size=n) + shift
    draws = mean[:, None] + narrow * rng.normal(size=(n, RANKED_DRAWS))
    table = pd.DataFrame(
        {
            "quantity": "beta",
            "index": "",
            "truth": truth,
            "mean": mean,
            "sd": narrow,
            "hdi_low": mean - 1.881 * narrow,
            "hdi_high": mean + 1.881 * narrow,
            # A flat prior: the rank of the truth among draws of its posterior is uniform.
            "rank": (draws < truth[:, None]).sum(axis=1),
            "replicate": np.arange(n),
            "passed": np.arange(n) >= failing,
            "kind": "ranks",
            "rhat": 1.0,
            "ess": 500.0,
            "divergences": 0,
            "seconds": 1.0,
        }
    )
    return table[list(COLUMNS)]


def test_right_intervals_are_said_to_be_right():
    row = coverage_table(made_up()).iloc[0]
    assert row["passed"]
    assert row["low"] < 0.94 < row["high"]
    assert row["z_sd"] == pytest.approx(1, abs=0.15)
    assert rank_table(made_up()).iloc[0]["passed"]


@pytest.mark.parametrize("wrong", [{"narrow": 0.6}, {"narrow": 1.8}, {"shift": 1.0}])
def test_wrong_intervals_are_noticed(wrong):
    ranks = rank_table(made_up(**wrong)).iloc[0]
    assert not ranks["passed"]
    assert ranks["outside"] > 0
    assert not coverage_table(made_up(**wrong)).iloc[0]["passed"]


def test_failed_fits_are_counted_and_left_out():
    table = made_up(failing=40)
    table.loc[table["replicate"] < 40, "hdi_low"] = 100.0  # would not cover
    row = coverage_table(table).iloc[0]
    assert (row["fits"], row["failed"]) == (260, 40)
    assert row["passed"]
    assert rank_table(table).iloc[0]["fits"] == 260


def test_quantities_with_an_index_are_counted_over_all_of_it():
    one, other = made_up(seed=1), made_up(seed=2, narrow=0.5)
    table = pd.concat([one.assign(index="care"), other.assign(index="loyalty")])
    found = coverage_table(table).set_index("index")["coverage"]
    assert found["all"] == pytest.approx((found["care"] + found["loyalty"]) / 2)


def test_the_page_says_what_failed(tmp_path):
    coverage, ranks = coverage_table(made_up(narrow=0.6)), rank_table(made_up(failing=3))
    page = make_page(coverage, ranks, Calibration(), seed=7, code="abc", seconds=2.0)
    assert "300 fits, 0 more failed a gate; not passed: beta." in page
    assert "297 fits, 3 more failed a gate; every row passed." in page
    assert "seed 7, code digest `abc`" in page
    paths = {"recovery": tmp_path / "a.csv", "ranks": tmp_path / "b.csv"}
    for path in paths.values():
        made_up().to_csv(path, index=False)
    read = {kind: [str(path)] for kind, path in paths.items()}
    found = conclude(**read, settings={}, seed=7, code="abc")
    pd.testing.assert_frame_equal(found.coverage, coverage_table(made_up()))
    assert TABLED["coverage"].draw(found.coverage).axes
    assert TABLED["ranks"].draw(found.replicates).axes


@pytest.fixture(scope="module")
def noisy(few_truth):
    """A posterior around the truth of a panel, as a fit would give it."""
    names = [name for name in few_truth.data_vars if few_truth[name].dtype.kind == "f"]
    rng = np.random.default_rng(0)
    shape, sample = (2, 200), ("chain", "draw")

    def around(value):
        noise = 0.05 * rng.standard_normal((*shape, *value.shape))
        return ((*sample, *value.dims), value.values + noise)

    posterior = xr.Dataset({name: around(few_truth[name]) for name in names}, few_truth.coords)
    stats = xr.Dataset({"diverging": (sample, np.zeros(shape, bool))})
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})


def test_a_replicate_sets_truth_beside_draws_of_the_same_thing(
    noisy, few_truth, tiny_scenes, few_composites
):
    estimands = Estimands.from_composites(tiny_scenes, few_composites)
    made = {
        "kind": "recovery",
        "number": 4,
        "names": RECOVERED,
        "settings": Calibration(),
        "reporting": Reporting(),
    }
    table = replicate(few_truth, lambda: noisy, estimands, **made).set_index(["quantity", "index"])
    assert table["passed"].all()
    assert set(table["replicate"]) == {4}
    row = table.loc[("beta of the panel", "")]
    assert row["truth"] == pytest.approx(float(few_truth["beta_judge"].mean()))
    assert row["hdi_low"] < row["truth"] < row["hdi_high"]
    assert row["sd"] == pytest.approx(0.05 / np.sqrt(few_truth.sizes["judge"]), rel=0.2)
    assert ("foundation_residual", "care") in table.index
    noisy["sample_stats"]["diverging"].values[:] = True
    assert not replicate(few_truth, lambda: noisy, estimands, **made)["passed"].any()


@pytest.mark.xdist_group("recovery")
def test_a_job_runs_and_goes_on_where_it_was_stopped(project, tmp_path):
    settings = {
        "judges": 2,
        "scenes": 1,
        "judgments": {"single": 100, "composite": 100, "bridge": 60},
        "sampler": {"chains": 2, "tune": 50, "draws": 50, "thin": 1},
    }

    def job(numbers, **changed):
        return run_job(
            "ranks",
            numbers,
            corpus=str(project / "scenarios/scenes.csv"),
            priors=str(project / "config/priors/default.yaml"),
            settings=settings | changed,
            reporting={},
            seed=1,
            code="abc",
            folder=tmp_path,
        )

    both = job([0, 1])
    assert set(both["replicate"]) == {0, 1}
    assert set(both["quantity"]) == set(KINDS["ranks"][0])
    assert both["rank"].between(0, RANKED_DRAWS).all()
    kept = sorted(tmp_path.rglob("*.csv"))
    before = [path.stat().st_mtime_ns for path in kept]
    # How many there are in all, and in a job, changes no replicate: nothing is fitted again.
    again = job([1, 0], ranks=7, per_job=3)
    assert [path.stat().st_mtime_ns for path in kept] == before
    assert sorted(tmp_path.rglob("*.csv")) == kept
    assert list(again["replicate"].unique()) == [1, 0]
