"""Designs for a wanted width: reckoned widths, against simulated fits and their own logic."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.config import Panel
from moralscale.errors import ModelError
from moralscale.figures import POWER
from moralscale.laplace import Problem, solve
from moralscale.power import (
    expected_widths,
    needed,
    power_table,
    random_pairs,
    usd_a_judgment,
)
from moralscale.power.widths import LENGTH, arena_counts
from moralscale.priors import load_priors
from moralscale.projections import quantities

PANEL = Panel(judges=3)


@pytest.fixture(scope="module")
def priors(project):
    return load_priors(project / "config/priors/default.yaml")


@pytest.mark.parametrize(("size", "share"), [(3000, 0.1), (3000, 0.4), (4000, 0.2)])
def test_reckoned_widths_are_those_of_fits(
    size, share, priors, few_truth, tiny_scenes, few_composites, chances
):
    """Of one simulated data set at each of three designs, by Laplace: within a third."""
    rng = np.random.default_rng(4)
    judges = [str(judge) for judge in few_truth["judge"].values]
    table = random_pairs(arena_counts(size, share), judges, tiny_scenes, few_composites, rng)
    first, _ = chances(few_truth, table)
    table["outcome"] = np.where(rng.random(len(table)) < first, "first", "second")
    arrays = make_arrays(table, tiny_scenes, few_composites, data="bridged")
    draws = solve(Problem(arrays, priors, get_rule("compressed"))).draws(400, seed=5)
    fitted = LENGTH * float(quantities(draws, arrays.estimands)["slope"].std())
    reckoned = expected_widths(
        PANEL, tiny_scenes, few_composites, priors, size=size, share=share, seed=3
    )
    assert reckoned["beta"] == pytest.approx(fitted, rel=0.34)


def test_more_judgments_and_more_bridge_battles_narrow_beta(priors, tiny_scenes, few_composites):
    table = power_table(
        PANEL,
        tiny_scenes,
        few_composites,
        priors,
        seed=1,
        sizes=(500, 4000),
        shares=(0.02, 0.3),
        usd_a_judgment=0.01,
    )
    by = table.set_index(["size", "share"])
    assert by.loc[(4000, 0.3), "beta"] < 0.7 * by.loc[(500, 0.3), "beta"]
    assert by.loc[(4000, 0.3), "beta"] < by.loc[(4000, 0.02), "beta"]
    assert by.loc[(4000, 0.02), "cost"] == pytest.approx(120)
    assert (table[["single", "composite", "bridge"]].sum(axis=1) == table["size"]).all()
    assert len(POWER.draw(table).axes) == 3


def test_needed_inverts_the_power_law():
    sizes = np.array([1000, 2000, 4000])
    table = pd.DataFrame({"size": sizes, "share": 0.1, "judgments": 10 * sizes, "cost": np.nan})
    table = table.assign(beta=3 / np.sqrt(sizes), anchoring=50.0)
    found = needed(table, {"beta": 3 / np.sqrt(1500)}).iloc[0]
    assert found["judgments"] == pytest.approx(15_000, abs=10)
    assert not found["extrapolated"]
    assert needed(table, {"beta": 3 / np.sqrt(9000)}).iloc[0]["extrapolated"]
    with pytest.raises(ModelError, match="reaches these widths"):
        needed(table, {"anchoring": 20})
    with pytest.raises(ModelError, match="unknown target"):
        needed(table, {"betta": 0.1})
    for width in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ModelError, match="is no width of beta"):
            needed(table, {"beta": width})


def test_an_empty_arena_is_refused(priors, tiny_scenes, few_composites):
    with pytest.raises(ModelError, match="leave an arena empty"):
        expected_widths(PANEL, tiny_scenes, few_composites, priors, size=10, share=0.0, seed=1)


def test_designs_are_priced_at_the_prices_of_real_judges(project):
    assert 1e-5 < usd_a_judgment(project / "config/frontier.yaml", root=project) < 0.1
    assert usd_a_judgment(project / "config/quick.yaml", root=project) is None
