"""The study's estimands on draws and on a truth."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from moralscale.config import Panel
from moralscale.elo import ELO_PER_LOGIT, rating
from moralscale.estimands import Estimands
from moralscale.projections import DEFINITIONS, in_elo, quantities, read_truth
from moralscale.simulate import simulate_panel

ELO = 400 / np.log(10)
UNITS = {"ratio", "log-odds", "elo", "strength", "correlation", "share", "sum", "sd"}


@pytest.fixture(scope="module")
def estimands(tiny_scenes, tiny_composites):
    return Estimands.from_composites(tiny_scenes, tiny_composites)


@pytest.fixture(scope="module")
def panel():
    residuals = {"care": -9, "fairness": 2, "loyalty": 9.5, "authority": -1.5, "sanctity": -1}
    return Panel(
        judges=3,
        slope=0.7,
        composite_consistency=0.8,
        residuals=residuals,
        anchoring=40.0,
        convergence=0.92,
        intercept=0.2,
        position_bias=0.1,
    )


@pytest.fixture(scope="module")
def truth(panel, tiny_scenes, tiny_composites):
    return simulate_panel(panel, tiny_scenes, tiny_composites, ("a", "b", "c"), seed=9)


@pytest.fixture(scope="module")
def planted(truth, estimands):
    return quantities(truth, estimands)


@pytest.fixture(scope="module")
def draws(truth):
    """Two chains of three draws around the truth."""
    rng = np.random.default_rng(0)
    noisy = truth[["theta", "phi", "beta", "beta_judge", "alpha"]].expand_dims(chain=2, draw=3)
    return noisy.map(lambda v: v + 0.1 * rng.normal(size=v.shape))


def test_a_truth_gives_the_planted_numbers(planted, panel):
    rho = panel.composite_consistency  # planted as the composite arena shows them
    assert float(planted["slope"]) == pytest.approx(0.7 / rho, abs=1e-9)
    assert float(planted["beta"]) == pytest.approx(0.7 / rho, abs=1e-9)
    assert float(planted["alpha"]) == pytest.approx(0.2, abs=1e-9)
    assert float(planted["position_bias"]) == pytest.approx(0.1, abs=1e-9)
    assert float(planted["convergence"]) == pytest.approx(0.92, abs=1e-8)
    assert float(planted["composite_consistency"]) == 0.8
    elo = in_elo(planted["foundation_residual"])
    for foundation, value in panel.residuals.items():
        assert float(elo.sel(foundation=foundation)) == pytest.approx(value / rho, abs=1e-7)
    adjusted = in_elo(planted["anchoring_adjusted"])
    assert float(adjusted) == pytest.approx(40.0 / rho, abs=1e-7)


def test_a_truth_file_gives_the_same(truth, planted, estimands, tmp_path):
    path = tmp_path / "truth.nc"
    truth.to_netcdf(path, engine="h5netcdf")
    xr.testing.assert_allclose(read_truth(path, estimands), planted)


def test_draws_keep_their_dims_and_are_projected_one_by_one(draws, estimands):
    out = quantities(draws, estimands)
    assert out["slope"].dims == ("chain", "draw")
    assert out["slope_judge"].dims == ("chain", "draw", "judge")
    assert out["foundation_residual_judge"].dims == ("chain", "draw", "judge", "foundation")
    assert out["correlation"].dims == ("chain", "draw", "judge", "other_judge")
    assert out["config_mean"].dims == ("chain", "draw", "config")
    for chain in range(2):
        for draw in range(3):
            one = quantities(draws.isel(chain=chain, draw=draw, drop=True), estimands)
            for name in one.data_vars:
                np.testing.assert_allclose(
                    out[name].isel(chain=chain, draw=draw), one[name], atol=1e-12, err_msg=name
                )


def test_order_of_dims_in_the_posterior_does_not_matter(draws, estimands):
    turned = draws.transpose("scene", "composite", "judge", "draw", "chain")
    one, other = quantities(draws, estimands), quantities(turned, estimands)
    for name in one.data_vars:
        xr.testing.assert_allclose(other[name].transpose(*one[name].dims), one[name])


def test_line_and_means_against_loops(truth, planted, estimands, tiny_composites):
    phi, theta = truth["phi"].values, truth["theta"].values
    sums = theta[:, estimands.a_idx] + theta[:, estimands.b_idx]
    lines = [np.polyfit(x, y, 1) for x, y in zip(sums, phi, strict=True)]
    np.testing.assert_allclose(planted["slope_judge"], [b for b, _ in lines], atol=1e-10)
    np.testing.assert_allclose(planted["intercept_judge"], [a for _, a in lines], atol=1e-10)
    assert float(planted["intercept"]) == pytest.approx(np.mean([a for _, a in lines]))
    strength = (phi - phi.mean(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(planted["composite_strength"], strength, atol=1e-12)
    level = (tiny_composites["intensity_a"] + tiny_composites["intensity_b"]).to_numpy()
    np.testing.assert_allclose(
        planted["intensity_mean"],
        [strength[level == s].mean() for s in planted["intensity_sum"].values],
        atol=1e-12,
    )
    config = tiny_composites["config"].to_numpy()
    raw = strength[config == "+2/-1"].mean() - strength[config == "+1/+1"].mean()
    assert float(planted["anchoring"]) == pytest.approx(raw, abs=1e-12)
    np.testing.assert_allclose(
        planted["r_squared_judge"],
        [np.corrcoef(x, y)[0, 1] ** 2 for x, y in zip(sums, phi, strict=True)],
    )
    x = 2000 + ELO * (sums - 2 * theta.mean(axis=1, keepdims=True))
    y = 1000 + ELO * (phi - phi.mean(axis=1, keepdims=True))
    alphas = [np.polyfit(*pair, 1)[1] for pair in zip(x, y, strict=True)]
    np.testing.assert_allclose(planted["rated_intercept_judge"], alphas, atol=1e-6)
    mean_sum = (x - 2000).mean(axis=0) / ELO
    np.testing.assert_allclose(
        planted["intensity_components"],
        [mean_sum[level == s].mean() for s in planted["intensity_sum"].values],
        atol=1e-12,
    )
    gap = mean_sum[config == "+2/-1"].mean() - mean_sum[config == "+1/+1"].mean()
    assert float(planted["anchoring_components"]) == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(planted["scene_strength"], theta.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(planted["component_sum"], sums.mean(axis=0), atol=1e-12)


def test_single_precision_draws_are_projected_in_double(draws, estimands):
    out = quantities(draws.astype(np.float32), estimands)
    assert {v.dtype for v in out.data_vars.values()} == {np.dtype("float64")}
    want = quantities(draws, estimands)
    np.testing.assert_allclose(out["slope"], want["slope"], rtol=1e-5)


def test_without_a_bridge_no_intercept_is_told(draws, estimands):
    out = quantities(draws.drop_vars("alpha"), estimands)
    assert not {"alpha", "intercept", "intercept_judge"} & set(out.data_vars)
    assert "intercept" in quantities(draws, estimands)


def test_one_judge_has_no_convergence(draws, estimands):
    out = quantities(draws.isel(judge=[1]), estimands)
    assert not {"convergence", "correlation"} & set(out.data_vars)
    np.testing.assert_allclose(out["slope"], out["slope_judge"].isel(judge=0))


def test_every_quantity_has_a_known_unit_and_a_definition(planted):
    assert {unit for unit, _ in DEFINITIONS.values()} == UNITS
    for name, variable in planted.data_vars.items():
        unit, definition = DEFINITIONS[name]
        assert variable.attrs == {"unit": unit, "definition": definition}
        assert definition.endswith(".")


@pytest.mark.parametrize(
    ("name", "value", "elo"),
    [
        ("composite_strength", 0.0, 1000.0),
        ("composite_strength", np.log(10), 1400.0),
        ("foundation_residual", -np.log(10) / 10, -40.0),
        ("alpha", 0.0, 0.0),
        ("slope", 0.862, None),
        ("convergence", 0.9, None),
        ("scene_sd", 0.3, None),
        ("component_sum", 1.0, None),
    ],
)
def test_only_strengths_and_their_differences_have_an_elo_equivalent(name, value, elo):
    variable = xr.DataArray(value, attrs={"unit": DEFINITIONS[name][0]})
    got = in_elo(variable)
    assert (got is None) if elo is None else (float(got) == pytest.approx(elo))


def test_ratings_have_mean_1000_and_400_points_are_odds_of_ten_to_one():
    strength = np.array([[0.0, np.log(10)], [3.0, 5.0]])
    rated = rating(strength)
    np.testing.assert_allclose(rated.mean(axis=1), 1000)
    np.testing.assert_allclose(rated[0], [800, 1200])
    np.testing.assert_allclose(rating(strength, axis=0).mean(axis=0), 1000)
    assert ELO_PER_LOGIT == pytest.approx(173.7178, abs=1e-4)
