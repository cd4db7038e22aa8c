"""What estimators can tell, on a small grid: two of the three cells show the same product of
compression and consistency, two the same compression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from moralscale.audit.cells import Cell, grid
from moralscale.audit.replicates import _truth, run_cell
from moralscale.audit.tables import (
    AUDIT,
    FEWEST,
    audit_table,
    false_alarm_table,
    laplace_table,
    sensitivity_table,
)
from moralscale.config import Audit, TwoStep
from moralscale.design import make_composites
from moralscale.errors import ModelError
from moralscale.figures import AUDIT as FIGURES
from moralscale.priors import load_priors
from moralscale.scenes import load_scenes

# One worker makes the replicates that all tests read.
pytestmark = pytest.mark.xdist_group("audit")

LOW, HIGH, CONSISTENCY = 0.77, 1.1, 0.7
PLANTED = {"low": (LOW, 1.0), "high": (HIGH, 1.0), "noisy": (HIGH, CONSISTENCY)}


@pytest.fixture(scope="module")
def replicates(project):
    """Three judges at the study's battles per item, twice each, without and with a bridge."""
    scenes = load_scenes(project / "scenarios/scenes.csv")
    priors = load_priors(project / "config/priors/default.yaml")
    settings = TwoStep(orders=5, splits=1)
    found = []
    for beta, consistency in PLANTED.values():
        for bridge in (0, 600) if beta == HIGH else (0,):
            cell = Cell(
                beta=beta, consistency=consistency, judges=3, bridge=bridge, cheap=2, joint=2
            )
            found.append(run_cell(cell, scenes, priors=priors, two_step=settings, seed=11))
    return pd.concat(found, ignore_index=True)


def means(replicates, bridge, target="beta"):
    """Mean estimate by estimator (rows) and planted cell (columns)."""
    rows = replicates[(replicates["target"] == target) & ((replicates["bridge"] > 0) == bridge)]
    at = {cell: name for name, cell in PLANTED.items()}
    pairs = zip(rows["beta"], rows["consistency"], strict=True)
    names = [at[pair] for pair in pairs]
    return rows.assign(cell=names).pivot_table("estimate", "estimator", "cell")


def test_the_study_slope_hardly_follows_the_truth(replicates):
    found = means(replicates, bridge=False).loc["elo"]
    assert 0 < (found["high"] - found["low"]) / (HIGH - LOW) < 0.5
    assert found["high"] < 0.7 < LOW  # above the lower truth is where the higher one should be


def test_the_joint_estimate_follows_it(replicates):
    found = means(replicates, bridge=False).loc["joint_laplace"]
    assert (found["high"] - found["low"]) / (HIGH - LOW) == pytest.approx(1, abs=0.35)
    assert found["low"] == pytest.approx(LOW, abs=0.12)


def test_without_a_bridge_no_estimator_tells_compression_from_consistency(replicates):
    found = means(replicates, bridge=False)
    assert set(found.index) == {"elo", "elo_averaged", "mle", "mle_split_half", "joint_laplace"}
    for name, row in found.iterrows():
        assert row["noisy"] == pytest.approx(row["low"], abs=0.12), name
    assert found.loc["joint_laplace", "noisy"] < HIGH - 0.2


def test_with_a_bridge_both_are_recovered(replicates):
    beta = means(replicates, bridge=True).loc["joint_laplace"]
    consistency = means(replicates, bridge=True, target="consistency").loc["joint_laplace"]
    assert beta["noisy"] == pytest.approx(HIGH, abs=0.2)
    assert beta["high"] == pytest.approx(HIGH, abs=0.2)
    assert consistency["noisy"] == pytest.approx(CONSISTENCY, abs=0.12)
    assert consistency["high"] == pytest.approx(1, abs=0.18)


def test_tables_have_their_columns_and_failures_enter_no_mean(replicates):
    table = audit_table(replicates)
    assert table.columns[: len(AUDIT)].to_list() == AUDIT
    assert table["bridge"].dtype == bool
    beta = table[table["target"] == "beta"]
    assert len(beta) == 5 * 5
    assert (beta["replicates"] == 2).all()
    assert (beta["failures"] == 0).all()
    assert beta["coverage"].isna().all()  # two replicates tell no share
    many = [replicates.assign(replicate=replicates["replicate"] + 2 * k) for k in range(10)]
    repeated = audit_table(pd.concat(many))
    assert repeated.loc[repeated["target"] == "beta", "coverage"].between(0, 1).all()
    elo = replicates["estimator"] == "elo"
    first = elo & (replicates["replicate"] == 0) & (replicates["target"] == "beta")
    broken = replicates.copy()
    broken.loc[first, ["estimate", "low", "high", "failed"]] = [np.nan, np.nan, np.nan, "why"]
    broken = audit_table(broken)
    rows = broken[(broken["target"] == "beta") & (broken["estimator"] == "elo")]
    assert (rows["replicates"] == 1).all()
    assert (rows["failures"] == 1).all()
    assert rows["mean"].notna().all()


def test_sensitivity_is_the_slope_of_estimate_on_truth():
    rng = np.random.default_rng(1)
    rows = []
    for beta in (0.6, 1.2):
        for consistency in (0.7, 1.4):
            for k in range(40):
                blind, exact = 0.6, beta + 0.01 * rng.standard_normal()
                both = 0.5 * beta + 0.3 * np.log(consistency) + 0.01 * rng.standard_normal()
                for name, value in (("blind", blind), ("exact", exact), ("both", both)):
                    rows.append((k, name, value, beta, consistency))
    columns = ["replicate", "estimator", "estimate", "beta", "consistency"]
    table = pd.DataFrame(rows, columns=columns).assign(target="beta", failed="")
    table = table.assign(noise=1.0, battles=15, judges=4, bridge=0, anchoring=0.0, loyalty=0.0)
    found = sensitivity_table(table.assign(flips=0.0)).set_index("estimator")
    assert found.loc["blind", "by_beta"].abs().max() < 1e-9
    assert found.loc["exact", "by_beta"].to_numpy() == pytest.approx([1, 1], abs=0.03)
    assert found.loc["both", "by_beta"].to_numpy() == pytest.approx([0.5, 0.5], abs=0.03)
    assert found.loc["both", "by_consistency"].to_numpy() == pytest.approx([0.3, 0.3], abs=0.03)


def test_false_alarms_are_intervals_that_leave_zero_out():
    rows = [(k, 0.0, 5.0, -1.0 if k % 4 else 1.0, 9.0) for k in range(FEWEST)]
    rows += [(k, 35.0, 30.0, 10.0, 50.0) for k in range(FEWEST)]
    table = pd.DataFrame(rows, columns=["replicate", "anchoring", "estimate", "low", "high"])
    table = table.assign(target="anchoring", estimator="one", failed="", beta=0.862, loyalty=0.0)
    table = table.assign(consistency=1.0, noise=1.0, battles=15, judges=4, bridge=300, flips=0.0)
    found = false_alarm_table(table)
    assert found["planted"].to_list() == [0, 35]
    assert found["alarms"].to_list() == [0.25, 1]
    few = false_alarm_table(table[table["replicate"] > 0])
    assert few["alarms"].isna().all()  # a share of too few replicates is not reported


def test_laplace_is_held_against_nuts_on_the_same_judgments():
    one = {"replicate": 0, "target": "beta", "truth": 1.0, "failed": "", "judges": 4, "bridge": 0}
    one |= {"beta": 1.0, "consistency": 1.0, "noise": 1.0, "battles": 15, "anchoring": 0.0}
    one |= {"loyalty": 0.0, "flips": 0.0}
    nuts = one | {"estimator": "joint_nuts", "estimate": 1.0, "low": 0.9, "high": 1.1}
    laplace = one | {"estimator": "joint_laplace", "estimate": 1.1, "low": 1.05, "high": 1.15}
    alone = laplace | {"replicate": 1, "estimate": 9.0}
    found = laplace_table(pd.DataFrame([nuts, laplace, alone])).iloc[0]
    assert found["replicates"] == 1
    assert found["shift"] == pytest.approx(0.1 / 0.2 * 3.7616)
    assert found["width_ratio"] == pytest.approx(0.5)
    assert laplace_table(pd.DataFrame([laplace, alone])).empty


def test_grid_has_each_cell_once_with_and_without_a_bridge():
    settings = Audit(
        betas=(0.6, 0.862),
        consistencies=(1.0, 0.7),
        battles=(5, 15),
        judges=(4, 3),
        flips=0.2,
        share_replicates=FEWEST,
    )
    cells = grid(settings)
    assert len({cell.name for cell in cells}) == len(cells)
    assert {cell.bridge > 0 for cell in cells} == {True, False}
    assert {cell.judges for cell in cells} == {3, 4}
    assert any(cell.anchoring and cell.flips for cell in cells)
    assert all(cell.cheap >= 50 for cell in cells)
    reported = [cell for cell in cells if cell.joint >= FEWEST]
    assert {cell.bridge > 0 for cell in reported if not cell.anchoring} == {True, False}
    assert sum(cell.anchoring > 0 for cell in reported) == 2
    assert all(cell.battles == 15 for cell in reported)


def test_panels_of_the_grid_can_be_drawn_again_and_again(project):
    """A replicate whose convergence is out of reach would stop the whole audit."""
    scenes = load_scenes(project / "scenarios/scenes.csv")
    composites = make_composites(scenes, realisations=1, seed=1)
    rng = np.random.default_rng(1)
    for cell in (Cell(beta=0.6, consistency=0.6, judges=3), Cell(beta=1.2, judges=3)):
        for _ in range(15):
            truth = _truth(cell, scenes, composites, rng)
            assert truth["phi"].shape == (3, len(composites))


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_figures_draw_the_audit_table(name, replicates):
    table = audit_table(replicates)
    figure = FIGURES[name].draw(table)
    lines = [line for ax in figure.axes for line in ax.get_lines()]
    drawn = np.concatenate([np.asarray(line.get_ydata(), float).ravel() for line in lines])
    shown = table[(table["target"] == "beta") & (table["estimator"] == "joint_laplace")]
    assert np.isin(shown["mean"].round(9), drawn.round(9)).any()


def test_a_corpus_without_the_audited_foundations_is_refused():
    assert Cell(loyalty=9.58).panel(("care", "loyalty", "purity")).residuals["purity"] == 0
    with pytest.raises(ModelError, match="loyalty against care, and this corpus has not both"):
        Cell().panel(("care", "purity"))
