"""The study's analyses by its own estimators, and the table that sets them beside the others."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from moralscale.arrays import make_arrays
from moralscale.config import TwoStep
from moralscale.estimands import Estimands
from moralscale.figures import OF_RUN
from moralscale.projections import DEFINITIONS, quantities
from moralscale.records import FOUNDATIONS, Origin
from moralscale.study import (
    ANALYSES,
    estimators_of,
    read_planted,
    read_study,
    study_table,
    two_step_tables,
)
from moralscale.twostep import ESTIMATORS

SETTINGS = TwoStep(rounds=20, orders=5, splits=1)
JOINT = pd.DataFrame(
    [
        ("study", "slope", "", "ratio", 0.8, 0.7, 0.9),
        ("study", "foundation_residual", "care", "elo", -8.0, -15.0, -1.0),
        ("study", "foundation_residual", "care", "log-odds", -0.05, -0.1, 0.0),
        ("bridged", "slope", "", "ratio", 0.95, 0.85, 1.05),
    ],
    columns=["data", "quantity", "index", "unit", "mean", "hdi_low", "hdi_high"],
).assign(rule="compressed", prior="default")
FIGURES = pd.DataFrame(
    [
        ("slope", "", "ratio", 0.862),
        ("foundation_residual", "care", "elo", -9.22),
        ("intensity_mean", "+1", "elo", 1098.4),
    ],
    columns=["quantity", "index", "unit", "value"],
)


@pytest.fixture(scope="module")
def arrays(few_truth, tiny_scenes, few_composites, answered):
    counts = {"single": 900, "composite": 900}
    judgments = answered(few_truth, tiny_scenes, few_composites, counts, seed=2)
    return make_arrays(judgments, tiny_scenes, few_composites, data="study")


@pytest.fixture(scope="module")
def found(arrays):
    return two_step_tables(arrays, SETTINGS, ci_prob=0.9, seed=7)


@pytest.fixture(scope="module")
def table(found, few_truth, tiny_scenes, few_composites):
    truth = quantities(few_truth, Estimands.from_composites(tiny_scenes, few_composites))
    return study_table(found.estimates, JOINT, FIGURES, truth, "simulated")


def value(estimates, quantity, index="", estimator="mle"):
    rows = estimates[(estimates["quantity"] == quantity) & (estimates["index"] == index)]
    return rows[rows["estimator"] == estimator].iloc[0]


def test_every_estimator_has_every_analysis(found):
    wanted = {name for members in ANALYSES.values() for name in members}
    for _, rows in found.estimates.groupby("estimator"):
        assert set(rows["quantity"]) == wanted
    assert list(found.estimates["estimator"].unique()) == list(ESTIMATORS)
    assert set(found.estimates["definition"]) <= {text for _, text in DEFINITIONS.values()}
    assert not found.estimates.isna().any(axis=None)


def test_analyses_agree_with_loops_over_ratings(found, arrays, few_composites):
    ratings = found.contestants[found.contestants["estimator"] == "elo"]
    strength = ratings.pivot_table(
        index=["judge", "arena"], columns="contestant", values="rating", sort=False
    )
    slopes, deviations, phis = [], [], []
    for judge in arrays.coords["judge"]:
        theta, phi = strength.loc[(judge, "single")], strength.loc[(judge, "composite")]
        sums = [theta[row.scene_a] + theta[row.scene_b] for row in few_composites.itertuples()]
        phi = phi[few_composites["composite_id"]].to_numpy()
        slope, intercept = np.polyfit(sums, phi, 1)
        slopes.append((slope, intercept))
        deviations.append(phi - intercept - slope * np.array(sums))
        phis.append(phi)

    def elo(*row):
        return value(found.estimates, *row, estimator="elo")["estimate"]

    assert elo("slope") == pytest.approx(np.mean([slope for slope, _ in slopes]))
    assert elo("rated_intercept") == pytest.approx(np.mean([alpha for _, alpha in slopes]))
    for foundation in FOUNDATIONS:
        has = (few_composites[["foundation_a", "foundation_b"]] == foundation).any(axis=1)
        mean = np.mean([deviation[has].mean() for deviation in deviations])
        assert elo("foundation_residual", foundation) == pytest.approx(mean)
    config = few_composites["config"].to_numpy()
    level = (few_composites["intensity_a"] + few_composites["intensity_b"]).to_numpy()
    mean = np.mean(phis, axis=0)
    assert elo("intensity_mean", "+1") == pytest.approx(mean[level == 1].mean())
    raw = mean[config == "+2/-1"].mean() - mean[config == "+1/+1"].mean()
    assert elo("anchoring") == pytest.approx(raw)
    pairs = np.corrcoef(phis)[np.triu_indices(3, 1)]
    assert elo("convergence") == pytest.approx(pairs.mean())
    assert elo("correlation", "judge-a, judge-c") == pytest.approx(pairs[1])


def test_lines_and_estimates_say_the_same(found):
    for name, rows in found.lines.groupby("estimator"):
        for row in rows.itertuples():
            slope = value(found.estimates, "slope_judge", row.judge, name)
            assert slope["estimate"] == pytest.approx(row.slope)
            assert slope["sd"] == pytest.approx(row.slope_sd)
            alpha = value(found.estimates, "rated_intercept_judge", row.judge, name)
            assert alpha["estimate"] == pytest.approx(row.intercept)
            fit = value(found.estimates, "r_squared_judge", row.judge, name)
            assert fit["estimate"] == pytest.approx(row.r_squared)
    assert found.lines["slope_order_sd"].notna().equals(found.lines["estimator"] == "elo")


def test_intervals_hold_their_estimate_and_nothing_impossible(found):
    estimates = found.estimates
    assert (estimates["low"] <= estimates["estimate"]).all()
    assert (estimates["estimate"] <= estimates["high"] + 1e-9).all()
    assert estimates.loc[estimates["unit"] == "correlation", "high"].max() <= 1
    slope = value(estimates, "slope")
    assert slope["high"] - slope["low"] == pytest.approx(2 * norm.ppf(0.95) * slope["sd"])
    assert slope["rounds"] == 20


def test_ratings_have_mean_1000_and_orders_move_elo_alone(found):
    means = found.contestants.groupby(["estimator", "judge", "arena"])["rating"].mean()
    np.testing.assert_allclose(means, 1000, atol=1e-3)
    moved = found.contestants.groupby("estimator")["order_sd"].median()
    assert moved["elo"] > 1
    assert moved.drop("elo").isna().all()
    battles = found.contestants[found.contestants["estimator"] == "mle"]
    assert battles.groupby("arena")["battles"].sum().to_dict() == {
        "single": 1800,
        "composite": 1800,
    }


def test_the_seed_decides_what_is_random_and_nothing_else(arrays, found):
    again = two_step_tables(arrays, SETTINGS, ci_prob=0.9, seed=7)
    pd.testing.assert_frame_equal(again.estimates, found.estimates)
    other = two_step_tables(arrays, SETTINGS, ci_prob=0.9, seed=8)
    same = other.estimates["estimate"] == found.estimates["estimate"]
    by_estimator = same.groupby(found.estimates["estimator"]).mean()
    assert by_estimator["mle"] == 1
    assert by_estimator["elo"] < 0.5


def test_the_table_sets_everything_side_by_side(table, found, few_truth):
    assert estimators_of(table) == [*ESTIMATORS, "joint_study", "joint_bridged"]
    rows = table.set_index(["quantity", "index"])
    assert not rows.index.duplicated().any()
    assert list(dict.fromkeys(table["analysis"])) == list(ANALYSES)
    slope = rows.loc[("slope", "")]
    assert slope["published"] == 0.862
    assert slope["truth"] == pytest.approx(float(few_truth["beta"]))
    assert slope["mle"] == value(found.estimates, "slope")["estimate"]
    assert list(slope[["joint_study", "joint_study_low", "joint_study_high"]]) == [0.8, 0.7, 0.9]
    assert slope["joint_bridged"] == 0.95
    care = rows.loc[("foundation_residual", "care")]
    assert (care["unit"], care["joint_study"], care["published"]) == ("elo", -8.0, -9.22)
    assert np.isnan(care["joint_bridged"])
    assert care["truth"] == pytest.approx(-9.22)
    assert set(table["origin"]) == {"simulated"}
    pairs = table.loc[table["quantity"] == "correlation", "index"]
    assert sorted(pairs) == ["judge-a, judge-b", "judge-a, judge-c", "judge-b, judge-c"]


def test_several_rules_are_named(found):
    joint = pd.concat([JOINT, JOINT.assign(rule="additive")])
    table = study_table(found.estimates, joint, FIGURES, None, "live")
    assert "joint_bridged_additive" in estimators_of(table)
    assert table["truth"].isna().all()


def test_the_table_survives_a_file(table, tmp_path):
    table.to_csv(tmp_path / "study.csv", index=False)
    back = read_study(tmp_path / "study.csv")
    pd.testing.assert_frame_equal(back, table, check_dtype=False)
    assert "+1" in set(back["index"])


def test_a_truth_file_becomes_planted_quantities(few_truth, tmp_path, few_composites, tiny_scenes):
    few_truth.to_netcdf(tmp_path / "truth.nc", engine="h5netcdf")
    # The ids of the tiny corpus hold signs, which a corpus file may not.
    scenes = tiny_scenes.assign(id=tiny_scenes["id"].str.replace("+", "p"))
    scenes.to_csv(tmp_path / "scenes.csv", index=False)
    composites = few_composites.assign(
        **{key: few_composites[key].str.replace("+", "p") for key in ("scene_a", "scene_b")}
    )
    composites.to_parquet(tmp_path / "composites.parquet")
    found = read_planted(*(tmp_path / n for n in ("truth.nc", "scenes.csv", "composites.parquet")))
    assert float(found["slope"]) == pytest.approx(float(few_truth["beta"]))


def words(figure):
    figure.canvas.draw()
    return " ".join(text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text")))


def test_the_figure_of_slopes_marks_what_it_shows(table):
    draw = OF_RUN["slopes"].draw
    text = words(draw(table, Origin.SIMULATED, ci_prob=0.9))
    for part in ("simulated data", "planted", "published 0.862", "judge-b", "mean", "90% interval"):
        assert part in text
    live = words(draw(table.assign(truth=np.nan, published=np.nan), Origin.LIVE))
    assert not {"planted", "published", "simulated"} & set(live.split())


def test_the_figure_of_one_judge_has_no_mean(table):
    alone = table[(table["quantity"] == "slope") | (table["index"] == "judge-a")]
    assert "mean" not in words(OF_RUN["slopes"].draw(alone)).split()
