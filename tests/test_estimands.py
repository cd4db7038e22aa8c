"""The study's estimands against loops and textbook functions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from moralscale.errors import ModelError
from moralscale.estimands import Estimands, zero_sum_basis
from moralscale.records import FOUNDATIONS

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def estimands(tiny_scenes, tiny_composites):
    return Estimands.from_composites(tiny_scenes, tiny_composites)


@pytest.fixture(scope="module")
def strengths(tiny_scenes, tiny_composites):
    rng = np.random.default_rng(2)
    return (
        rng.normal(size=(2, 3, len(tiny_scenes))),
        rng.normal(size=(2, 3, len(tiny_composites))) + 0.4,
    )


def holds(composite, foundation):
    return foundation in (composite.foundation_a, composite.foundation_b)


def test_component_sum_adds_the_two_scenes_of_a_composite(
    estimands, strengths, tiny_scenes, tiny_composites
):
    theta, _ = strengths
    got = estimands.component_sum(theta)
    assert got.shape == (2, 3, 160)
    for draw, judge in ((0, 0), (1, 2)):
        by_id = dict(zip(tiny_scenes["id"], theta[draw, judge], strict=True))
        want = [by_id[c.scene_a] + by_id[c.scene_b] for c in tiny_composites.itertuples()]
        np.testing.assert_allclose(got[draw, judge], want, rtol=0, atol=1e-14)


def test_line_is_the_least_squares_line_of_polyfit(estimands, strengths):
    theta, phi = strengths
    sums = estimands.component_sum(theta)
    slope, intercept, residual = estimands.line(sums, phi)
    for at in np.ndindex(slope.shape):
        b, a = np.polyfit(sums[at], phi[at], 1)
        assert slope[at] == pytest.approx(b, abs=1e-12)
        assert intercept[at] == pytest.approx(a, abs=1e-12)
        np.testing.assert_allclose(residual[at], phi[at] - a - b * sums[at], atol=1e-12)


def test_group_means_are_means_over_the_members(estimands, strengths, tiny_composites):
    _, phi = strengths
    values, rows = phi[0, 1], list(tiny_composites.itertuples())

    def mean_of(member):
        return np.mean([v for v, row in zip(values, rows, strict=True) if member(row)])

    foundation = [mean_of(lambda row, f=f: holds(row, f)) for f in FOUNDATIONS]
    config = [mean_of(lambda row, g=g: row.config == g) for g in estimands.config_names]
    sums = [
        mean_of(lambda row, s=s: row.intensity_a + row.intensity_b == s)
        for s in (-4, -3, -2, -1, 0, 1, 2, 3, 4)
    ]
    assert estimands.config_names == (
        *("+2/+2", "+2/+1", "+2/-1", "+2/-2", "+1/+1"),
        *("+1/-1", "+1/-2", "-1/-1", "-1/-2", "-2/-2"),
    )
    assert estimands.foundation_names == FOUNDATIONS
    assert estimands.intensity_sums.tolist() == [-4, -3, -2, -1, 0, 1, 2, 3, 4]
    np.testing.assert_allclose(estimands.foundation_residual(phi)[0, 1], foundation, atol=1e-13)
    np.testing.assert_allclose(estimands.config_mean(phi)[0, 1], config, atol=1e-13)
    np.testing.assert_allclose(estimands.intensity_mean(phi)[0, 1], sums, atol=1e-13)
    contrast = mean_of(lambda row: row.config == "+2/-1") - mean_of(
        lambda row: row.config == "+1/+1"
    )
    assert estimands.anchoring(phi)[0, 1] == pytest.approx(contrast, abs=1e-13)


def test_correlation_and_convergence_against_corrcoef(estimands, strengths):
    _, phi = strengths
    for draw in range(2):
        want = np.corrcoef(phi[draw])
        np.testing.assert_allclose(estimands.correlation(phi)[draw], want, atol=1e-12)
        pairs = [want[i, j] for i, j in combinations(range(3), 2)]
        assert estimands.convergence(phi)[draw] == pytest.approx(np.mean(pairs), abs=1e-12)


def test_a_shift_of_phi_moves_the_intercept_and_nothing_else(estimands, strengths):
    theta, phi = strengths
    sums = estimands.component_sum(theta)
    slope, intercept, residual = estimands.line(sums, phi)
    moved = estimands.line(sums, phi + 3.0)
    np.testing.assert_allclose(moved[0], slope, atol=1e-12)
    np.testing.assert_allclose(moved[1], intercept + 3.0, atol=1e-12)
    np.testing.assert_allclose(moved[2], residual, atol=1e-12)
    np.testing.assert_allclose(estimands.anchoring(phi + 3.0), estimands.anchoring(phi), atol=1e-12)


def test_scaling_phi_scales_the_line_and_leaves_correlation_alone(estimands, strengths):
    theta, phi = strengths
    sums = estimands.component_sum(theta)
    slope, intercept, residual = estimands.line(sums, phi)
    scaled = estimands.line(sums, 0.7 * phi)
    np.testing.assert_allclose(scaled[0], 0.7 * slope, atol=1e-12)
    np.testing.assert_allclose(scaled[1], 0.7 * intercept, atol=1e-12)
    np.testing.assert_allclose(scaled[2], 0.7 * residual, atol=1e-12)
    np.testing.assert_allclose(
        estimands.convergence(0.7 * phi + 2), estimands.convergence(phi), atol=1e-12
    )


def test_order_of_composites_does_not_matter(estimands, strengths, tiny_scenes, tiny_composites):
    theta, phi = strengths
    order = np.random.default_rng(1).permutation(len(tiny_composites))
    other = Estimands.from_composites(tiny_scenes, tiny_composites.iloc[order])
    for one, two in (
        (estimands.anchoring(phi), other.anchoring(phi[..., order])),
        (estimands.foundation_residual(phi), other.foundation_residual(phi[..., order])),
        (estimands.intensity_mean(phi), other.intensity_mean(phi[..., order])),
        (estimands.component_sum(theta)[..., order], other.component_sum(theta)),
    ):
        np.testing.assert_allclose(two, one, atol=1e-12)


def test_config_basis_is_orthonormal_and_leaves_mean_and_slope_alone(estimands, tiny_composites):
    basis = estimands.config_basis()
    assert basis.shape == (10, 8)
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-12)
    index = [estimands.config_names.index(name) for name in tiny_composites["config"]]
    effects = basis[index]  # of every composite, one column a basis vector
    level = (tiny_composites["intensity_a"] + tiny_composites["intensity_b"]).to_numpy()
    np.testing.assert_allclose(effects.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(level @ effects, 0, atol=1e-12)


def test_config_basis_keeps_its_property_in_an_unbalanced_design(tiny_scenes, tiny_composites):
    some = tiny_composites.iloc[np.r_[0:50, 60:75, 100:160:3]]
    estimands = Estimands.from_composites(tiny_scenes, some)
    effects = estimands.config @ estimands.config_basis()
    np.testing.assert_allclose(effects.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(estimands.intensity_sum @ effects, 0, atol=1e-12)


def test_zero_sum_basis_spans_all_vectors_that_sum_to_zero():
    basis = zero_sum_basis(6)
    assert basis.shape == (6, 5)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)
    vector = np.array([3.0, -1.0, 0.5, -2.5, 1.0, -1.0])
    np.testing.assert_allclose(basis @ (basis.T @ vector), vector, atol=1e-12)


def test_one_judge_has_a_line_and_agrees_with_itself(estimands, strengths):
    theta, phi = (values[:, :1] for values in strengths)
    slope, _, _ = estimands.line(estimands.component_sum(theta), phi)
    assert slope.shape == (2, 1)
    np.testing.assert_allclose(estimands.correlation(phi), 1.0, atol=1e-12)


def test_a_foundation_without_composites_has_no_residual(tiny_scenes, tiny_composites):
    without = tiny_composites[
        (tiny_composites["foundation_a"] != "sanctity")
        & (tiny_composites["foundation_b"] != "sanctity")
    ]
    estimands = Estimands.from_composites(tiny_scenes, without)
    residual = estimands.foundation_residual(np.ones((2, len(without))))
    assert np.isnan(residual[:, FOUNDATIONS.index("sanctity")]).all()
    np.testing.assert_allclose(residual[:, :4], 1.0)


@pytest.mark.parametrize("lost", ["+2/-1", "+1/+1"])
def test_anchoring_is_not_a_number_without_one_of_its_configurations(
    lost, tiny_scenes, tiny_composites
):
    without = tiny_composites[tiny_composites["config"] != lost]
    estimands = Estimands.from_composites(tiny_scenes, without)
    assert lost not in estimands.config_names
    assert len(estimands.config_names) == 9
    assert np.isnan(estimands.anchoring(np.ones((4, 2, len(without))))).all()
    assert estimands.anchoring(np.ones((4, 2, len(without)))).shape == (4, 2)


def test_a_scene_that_is_not_in_the_corpus_is_an_error_that_names_the_composite(
    tiny_scenes, tiny_composites
):
    lost = tiny_composites.loc[7, "scene_b"]
    corpus = tiny_scenes[tiny_scenes["id"] != lost]
    named = tiny_composites[
        (tiny_composites["scene_a"] == lost) | (tiny_composites["scene_b"] == lost)
    ]["composite_id"].iloc[0]
    with pytest.raises(ModelError, match=named.replace("+", r"\+")):
        Estimands.from_composites(corpus, pd.DataFrame(tiny_composites))
