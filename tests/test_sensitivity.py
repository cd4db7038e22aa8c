"""Sensitivity: refits under alternatives, how far they move things, and what is said of it."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from moralscale.config import Gates, Reporting, Sampler
from moralscale.errors import ModelError, MoralscaleError
from moralscale.figures.sensitivity import overlay, tornado
from moralscale.posterior_file import save_dataset
from moralscale.records import FOUNDATIONS, Origin
from moralscale.sensitivity import (
    Base,
    passing,
    power_scaling,
    read_refits,
    refits,
    save_refit,
    shifts,
    verdicts,
)
from moralscale.sensitivity.refits import KINDS

pytestmark = pytest.mark.xdist_group("sensitivity")
SAMPLER = Sampler(chains=2, tune=300, draws=200, thin=1)
GATES = Gates(rhat=1.2, ess=20, divergences=40, calibration=1e-6)


@pytest.fixture(scope="module")
def priors(tmp_path_factory, project):
    """The default priors, and one that dominates beta."""
    folder = tmp_path_factory.mktemp("priors")
    default = folder / "default.yaml"
    shutil.copy(project / "config/priors/default.yaml", default)
    lines = [
        "beta: {dist: Normal, kwargs: {mu: 0.2, sigma: 0.001}}"
        if line.startswith("beta:")
        else line
        for line in default.read_text().splitlines()
    ]
    (folder / "dominating.yaml").write_text("\n".join(lines))
    return default


@pytest.fixture(scope="module")
def base(few_truth, tiny_scenes, few_composites, answered, priors):
    """A fit of some 3,000 judgments of three judges."""
    counts = {"single": 1200, "composite": 1200, "bridge": 600}
    judgments = answered(few_truth, tiny_scenes, few_composites, counts, seed=4)
    about = xr.DataTree(xr.Dataset(attrs={"data": "bridged", "rule": "compressed", "model": "{}"}))
    draft = Base(about, judgments, tiny_scenes, few_composites, priors)
    posterior = draft.compiled.sample(sampler=SAMPLER, seed=5, cores=2, attrs={"data": "bridged"})
    base = Base(posterior, judgments, tiny_scenes, few_composites, priors)
    base.__dict__["compiled"] = draft.compiled  # compiling takes longer than everything else here
    return base


@pytest.fixture(scope="module")
def refitted(base):
    """Under the dominating prior, and without one judge."""
    return [
        refit
        for kind, value in (("prior", "dominating"), ("judge", "judge-b"))
        for _, refit in refits(kind, [value], base=base, sampler=SAMPLER, seed=6, cores=2)
    ]


@pytest.fixture(scope="module")
def moved(refitted):
    return shifts(refitted, Reporting(), GATES)


def row(table, kind, quantity):
    return table[(table["kind"] == kind) & (table["quantity"] == quantity)].iloc[0]


def test_a_prior_that_dominates_flips_the_verdict(moved):
    beta = row(moved, "prior", "beta")
    assert beta["mean"] == pytest.approx(0.2, abs=0.01)
    assert beta["shift"] < -3
    found = verdicts(moved, threshold=0.5).set_index(["quantity", "index", "family"])
    said = found.loc[("beta", "", "prior")]
    assert not said["robust"]
    assert said["verdict"].startswith("depends on the prior: prior dominating moves it by")
    # With a threshold beyond what moved, nothing depends on anything.
    assert verdicts(moved, threshold=1e6)["robust"].all()


def test_without_a_judge_both_sides_leave_him_out(base, refitted, moved):
    base_slope = refitted[1]["base"].to_dataset()["slope"]
    whole = refitted[0]["base"].to_dataset()["slope"]
    assert not np.allclose(base_slope, whole)
    slope = row(moved, "judge", "slope")
    assert abs(slope["shift"]) < 3
    assert slope["sd_ratio"] < 3


def test_a_left_out_foundation_leaves_all_of_its_comparisons(base, tiny_scenes):
    one = next(iter(KINDS["foundation"](base, ["care"])))
    table = base.judgments
    foundation = dict(zip(tiny_scenes["id"], tiny_scenes["foundation"], strict=True))
    foundation |= {
        row.composite_id: f"{row.foundation_a} {row.foundation_b}"
        for row in base.composites.itertuples()
    }
    holds = np.array(
        ["care" in f"{foundation[a]} {foundation[b]}" for a, b in table[["first", "second"]].values]
    )
    assert one.value == "care"
    np.testing.assert_array_equal(one.outcomes == -1, holds)
    np.testing.assert_array_equal(one.outcomes[~holds], one.compiled.arrays.outcome[~holds])
    found = one.project(base.posterior["posterior"].to_dataset())
    residual = found["foundation_residual"].sel(foundation="care")
    assert residual.isnull().all()
    assert found["foundation_residual"].sel(foundation=list(FOUNDATIONS[1:])).notnull().all()


@pytest.mark.parametrize(("shift", "robust"), [(0.4, True), (0.9, True), (1.3, False)])
def test_less_data_move_a_mean_by_chance(moved, shift, robust):
    """A quantity depends on data where it moves by the threshold and by two sds of chance."""
    rows = moved[moved["quantity"] == "beta"].head(1)
    rows = rows.assign(kind="judge", alternative="x", shift=shift, by_chance=0.5, passed=True)
    found = verdicts(rows, threshold=0.5).iloc[0]
    assert (found["family"], found["robust"]) == ("data", robust)
    assert found["verdict"].endswith("(less data alone: 0.5)")


def test_what_less_data_do_is_reckoned_of_data_alone(moved):
    fewer = moved["kind"].isin(["judge", "foundation"])
    assert fewer.any()
    assert not fewer.all()
    added = (moved["sd_ratio"] ** 2 - 1).clip(lower=0)
    np.testing.assert_allclose(moved["by_chance"] ** 2, added.where(fewer, 0), atol=1e-12)


def test_a_refit_that_failed_its_gates_is_in_no_verdict(refitted):
    moved = shifts(refitted, Reporting(), Gates(ess=1e9))
    assert not moved["passed"].any()
    found = verdicts(moved, threshold=0.5)
    assert (found["counted"] == 0).all()
    assert passing(refitted, moved) == []
    moved["passed"] = moved["kind"] == "judge"
    assert passing(refitted, moved) == refitted[1:]
    assert found["verdict"].str.startswith("nothing can be said").all()


def test_a_foundation_that_is_left_out_has_no_row_and_fails_no_gate(refitted):
    without = refitted[1].copy(deep=True)
    for group in ("base", "alternative"):
        residuals = without[group]["foundation_residual"]
        without[group]["foundation_residual"] = residuals.where(residuals["foundation"] != "care")
    moved = shifts([without], Reporting(), GATES)
    residuals = moved[moved["quantity"] == "foundation_residual"]
    assert list(residuals["index"]) == list(FOUNDATIONS[1:])
    assert moved["passed"].all()
    assert moved.select_dtypes("number").notna().all(axis=None)


def test_refits_are_kept_and_read_again(refitted, tmp_path, moved):
    for place, refit in enumerate(refitted):
        save_refit(refit, tmp_path / f"{place}.nc")
    again = shifts(read_refits([tmp_path]), Reporting(), GATES)
    pd.testing.assert_frame_equal(again, moved, check_dtype=False, rtol=1e-3, atol=1e-3)


def test_figures_mark_what_moves(refitted, moved):
    figure = tornado(moved, Origin.SIMULATED, threshold=0.5)
    assert "dominating" in " ".join(text.get_text() for text in figure.axes[0].texts)
    figure = overlay(refitted, Origin.SIMULATED)
    assert len(figure.axes[0].lines) == 2  # the fit, and one other prior
    assert "simulated data" in [text.get_text() for text in figure.texts]


def test_power_scaling_sees_a_prior_that_holds_the_posterior(base, refitted):
    draws = refitted[0]["base"].to_dataset()
    table = power_scaling(base, draws).set_index(["quantity", "index"])
    assert table.loc[("beta", ""), "likelihood"] > table.loc[("beta", ""), "prior"]
    assert {"prior", "likelihood", "diagnosis"} <= set(table.columns)


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("prir", "wide", "did you mean 'prior'"),
        ("judge", "judge-z", "no judge 'judge-z'"),
        ("model", "ties", "no option that is on or off 'ties'"),
    ],
)
def test_unknown_alternatives_are_named(base, kind, value, told):
    with pytest.raises(MoralscaleError, match=told):
        next(iter(refits(kind, [value], base=base, sampler=SAMPLER, seed=1, cores=1)))


def test_groups_of_a_refit(refitted):
    for refit in refitted:
        assert isinstance(refit, xr.DataTree)
        assert {"alternative", "base"} == set(refit.children)
        assert {"kind", "alternative", "divergences", "sampler"} <= set(refit.attrs)


def test_refits_that_are_not_there_are_no_refits(tmp_path):
    """Nothing of a sensitivity analysis may be missing without a word."""
    with pytest.raises(ModelError, match=f"{tmp_path}: no refits here"):
        read_refits([tmp_path])
    broken = tmp_path / "wide.nc"
    broken.write_bytes(b"not HDF5")
    with pytest.raises(ModelError, match=r"wide\.nc: no refit in this file"):
        read_refits([tmp_path])
    save_dataset(xr.Dataset({"beta": 1.0}), broken)
    with pytest.raises(ModelError, match=r"wide\.nc: no refit in this file; fit it again"):
        read_refits([tmp_path])
