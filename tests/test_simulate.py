"""Simulated panels: what is planted is there, and the two panels differ only where they may."""

from __future__ import annotations

import asyncio
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from moralscale.answers.parse import parse_answer
from moralscale.config import Panel
from moralscale.design import make_composites
from moralscale.errors import ModelError
from moralscale.providers.base import Ask
from moralscale.providers.simulated import Simulated, truth_of
from moralscale.records import FOUNDATIONS, Arena, Outcome
from moralscale.simulate import simulate_panel

JUDGES = ("judge-a", "judge-b", "judge-c")
ELO = 400 / np.log(10)
RESIDUALS = {"care": -9.0, "fairness": 2.0, "loyalty": 9.5, "authority": -1.5, "sanctity": -1.0}


@pytest.fixture(scope="module")
def simulate(tiny_scenes, tiny_composites):
    def make(seed=3, judges=JUDGES, composites=tiny_composites, **changes):
        panel = Panel(judges=len(judges), **changes)
        return simulate_panel(panel, tiny_scenes, composites, judges, seed=seed)

    return make


@pytest.fixture(scope="module", params=[1.0, 0.7], ids=["additive-noise", "noisy-composites"])
def planted(request, simulate):
    consistency = request.param
    truth = simulate(
        slope=0.8,
        residuals=RESIDUALS,
        anchoring=40.0,
        convergence=0.9,
        composite_consistency=consistency,
        intercept=0.25,
        position_bias=0.1,
    )
    return truth, consistency


def lines(truth, scenes, composites):
    """Slope and residuals (as the composite arena shows them) of each judge, by polyfit."""
    position = {scene: k for k, scene in enumerate(scenes["id"])}
    a, b = (composites[side].map(position).to_numpy() for side in ("scene_a", "scene_b"))
    shown = float(truth["composite_consistency"]) * truth["phi"].values
    slopes, residuals = [], []
    for theta, phi in zip(truth["theta"].values, shown, strict=True):
        sums = theta[a] + theta[b]
        slope, intercept = np.polyfit(sums, phi, 1)
        slopes.append(slope)
        residuals.append(phi - intercept - slope * sums)
    return np.array(slopes), np.array(residuals)


def test_slope_is_planted_exactly(planted, tiny_scenes, tiny_composites):
    truth, consistency = planted
    slopes, _ = lines(truth, tiny_scenes, tiny_composites)
    assert slopes.mean() == pytest.approx(0.8, abs=1e-10)
    assert float(truth["beta"]) == pytest.approx(0.8 / consistency, abs=1e-12)
    assert float(truth["beta_judge"].mean()) == pytest.approx(0.8 / consistency, abs=1e-12)
    assert slopes.std() > 0.005  # judges differ


def test_foundation_residuals_are_planted_exactly(planted, tiny_scenes, tiny_composites):
    truth, _ = planted
    _, residuals = lines(truth, tiny_scenes, tiny_composites)
    for foundation in FOUNDATIONS:
        member = (tiny_composites[["foundation_a", "foundation_b"]] == foundation).any(axis=1)
        got = ELO * residuals[:, member.to_numpy()].mean()
        assert got == pytest.approx(RESIDUALS[foundation], abs=1e-8)


def test_anchoring_is_planted_exactly(planted, tiny_scenes, tiny_composites):
    truth, _ = planted
    _, residuals = lines(truth, tiny_scenes, tiny_composites)
    high, low = ((tiny_composites["config"] == g).to_numpy() for g in ("+2/-1", "+1/+1"))
    got = ELO * (residuals[:, high].mean() - residuals[:, low].mean())
    assert got == pytest.approx(40.0, abs=1e-8)


def test_convergence_is_planted_to_eight_digits(planted):
    truth, _ = planted
    correlation = np.corrcoef(truth["phi"].values)
    pairs = [correlation[i, j] for i, j in combinations(range(3), 2)]
    assert np.mean(pairs) == pytest.approx(0.9, abs=1e-8)


def test_intercept_and_position_bias_are_planted_exactly(planted):
    truth, _ = planted
    assert float(truth["alpha"]) == pytest.approx(0.25, abs=1e-12)
    assert float(truth["alpha_judge"].mean()) == pytest.approx(0.25, abs=1e-12)
    assert float(truth["position_bias_judge"].mean()) == pytest.approx(0.1, abs=1e-12)


def test_constraints_of_the_model_hold(planted):
    truth, _ = planted
    np.testing.assert_allclose(truth["theta"].sum("scene"), 0, atol=1e-10)
    np.testing.assert_allclose(truth["mu"].sum("scene"), 0, atol=1e-10)
    np.testing.assert_allclose(np.log(truth["consistency"]).sum("judge"), 0, atol=1e-12)
    np.testing.assert_allclose(truth["gamma"].sum("foundation"), 0, atol=1e-12)
    np.testing.assert_allclose(truth["gamma_judge"].sum("foundation"), 0, atol=1e-12)
    np.testing.assert_allclose(truth["gamma_judge"].mean("judge"), truth["gamma"], atol=1e-12)


def test_consistency_on_composites_changes_nothing_that_the_study_sees(simulate):
    one = simulate(slope=0.862, composite_consistency=1.0)
    other = simulate(slope=0.862, composite_consistency=0.862)
    assert float(one["beta"]) == pytest.approx(0.862)
    assert float(other["beta"]) == pytest.approx(1.0)
    for name in ("theta", "position_bias_judge", "alpha_judge"):
        np.testing.assert_array_equal(one[name], other[name])
    shown = [truth["phi"].values * float(truth["composite_consistency"]) for truth in (one, other)]
    differences = [phi[:, :, None] - phi[:, None, :] for phi in shown]
    np.testing.assert_allclose(*differences, atol=1e-12)
    # ... while the strengths themselves differ, which a bridge battle shows.
    assert np.abs(one["phi"].values - other["phi"].values).max() > 0.1


def test_the_two_panels_answer_the_study_alike_and_the_bridge_unlike(
    simulate, tiny_scenes, tiny_composites
):
    """The heart of the project, on the very answers: asked the same, comparison by comparison."""
    texts = dict(zip(tiny_scenes["id"], tiny_scenes["text"], strict=True))
    pairs = [
        [texts[a], texts[b]]
        for a, b in zip(tiny_composites["scene_a"], tiny_composites["scene_b"], strict=True)
    ]
    single = [[text] for text in texts.values()]
    options = {Arena.SINGLE: (single, single), Arena.COMPOSITE: (pairs, pairs)}
    options[Arena.BRIDGE] = (single, pairs)
    panels = [simulate(composite_consistency=rho) for rho in (1.0, 0.862)]
    judges = [Simulated("judge-a", truth_of(truth, "judge-a", source="t")) for truth in panels]
    rng = np.random.default_rng(0)
    for arena, (firsts, seconds) in options.items():
        answers = []
        draws = [(rng.integers(len(firsts)), rng.integers(len(seconds))) for _ in range(1500)]
        for judge in judges:
            asks = [
                ask(f"{arena}{n}", firsts[i], seconds[k])
                for n, (i, k) in enumerate(draws)
                if firsts[i] != seconds[k]
            ]
            answers.append([asyncio.run(judge.ask(one, judge.settings)).text for one in asks])
        differing = sum(a != b for a, b in zip(*answers, strict=True))
        assert (differing > 0) == (arena is Arena.BRIDGE), (arena, differing)


def ask(identity, first, second):
    acts = ["\n".join(f"- {text}" for text in option) for option in (first, second)]
    return Ask(
        identity, "", f"A\n{acts[0]}\n\nB\n{acts[1]}\n", ("A", "B"), ("", "", "", ""), "t", 1
    )


def test_the_same_seed_gives_the_same_panel_and_another_seed_another(simulate):
    one, again, other = simulate(seed=3), simulate(seed=3), simulate(seed=4)
    assert one.identical(again)
    assert not np.allclose(one["theta"], other["theta"])


def test_a_single_judge_can_be_planted(simulate, tiny_scenes, tiny_composites):
    truth = simulate(judges=("alone",), residuals=RESIDUALS)
    slopes, residuals = lines(truth, tiny_scenes, tiny_composites)
    assert slopes == pytest.approx([0.862], abs=1e-10)
    member = (tiny_composites[["foundation_a", "foundation_b"]] == "loyalty").any(axis=1)
    assert ELO * residuals[0, member.to_numpy()].mean() == pytest.approx(9.5, abs=1e-8)


@pytest.mark.parametrize("convergence", [0.9999, 0.01])
def test_a_convergence_out_of_reach_is_an_error_that_says_what_is_in_reach(simulate, convergence):
    with pytest.raises(ModelError, match=r"reach from 0\.\d+ to 0\.\d+; choose") as error:
        simulate(convergence=convergence)
    assert f"{convergence:g}" in str(error.value)


def test_effects_that_no_composite_can_show_are_an_error(simulate, tiny_composites):
    without = tiny_composites[~tiny_composites["profile"].str.contains("sanctity")]
    with pytest.raises(ModelError, match="cannot show the planted"):
        simulate(composites=without, residuals=RESIDUALS)
    flat = dict.fromkeys(FOUNDATIONS, 0.0) | {"care": -5.0, "loyalty": 5.0}
    truth = simulate(composites=without, residuals=flat)
    assert np.isfinite(truth["phi"].values).all()
    with pytest.raises(ModelError, match="anchoring"):
        simulate(composites=tiny_composites[tiny_composites["config"] != "+2/-1"], anchoring=35)


def test_composites_of_the_same_two_scenes_are_an_error(simulate, tiny_scenes):
    twins = make_composites(tiny_scenes, realisations=5, seed=1)  # two scenes a cell: four ways
    with pytest.raises(ModelError, match="the same two scenes"):
        simulate(composites=twins)


def test_what_is_not_planted_is_not_there(simulate):
    further = {"lapse_judge", "tie_judge", "position_bias_arena", "position_bias_slope"}
    assert not further & set(simulate().data_vars)


def test_lapses_ties_and_further_biases_are_planted_and_move_nothing_else(simulate):
    plain = simulate()
    shifts = {"composite": 0.3, "bridge": -0.1}
    truth = simulate(lapse=0.05, tie=0.4, position_bias_arena=shifts, position_bias_slope=0.2)
    for name in plain.data_vars:
        if plain[name].dtype.kind == "f":
            np.testing.assert_array_equal(truth[name], plain[name])
    lapse, tie = truth["lapse_judge"].values, truth["tie_judge"].values
    assert np.log(lapse / (1 - lapse)).mean() == pytest.approx(np.log(0.05 / 0.95))
    assert np.log(tie).mean() == pytest.approx(np.log(0.4))
    arenas = truth["position_bias_arena_judge"].mean("judge")
    assert arenas.sel(other_arena="composite").item() == pytest.approx(0.3)
    assert arenas.sel(other_arena="bridge").item() == pytest.approx(-0.1)
    assert truth["position_bias_slope_judge"].mean().item() == pytest.approx(0.2)


@pytest.mark.parametrize("arena", ["single", "bridged"])
def test_a_position_bias_of_no_such_arena_is_an_error(arena):
    with pytest.raises(ValueError, match=f"no shift for arena '{arena}'"):
        Panel(position_bias_arena={arena: 0.1})


def test_a_simulated_judge_answers_as_the_model_says(
    simulate, tiny_scenes, tiny_composites, chances
):
    """Chances of the provider, by its own reading of the prompt's acts, against the plain ones."""
    truth = simulate(
        lapse=0.1,
        tie=0.6,
        position_bias_arena={"composite": 0.4, "bridge": -0.3},
        position_bias_slope=0.25,
        composite_consistency=0.7,
    )
    provider = Simulated(JUDGES[0], truth_of(truth, JUDGES[0], source="test"))
    texts = {s.id: [s.text] for s in tiny_scenes.itertuples()}
    for c in tiny_composites.itertuples():
        texts[c.composite_id] = texts[c.scene_a] + texts[c.scene_b]
    a, b = tiny_composites["composite_id"][[3, 90]]
    scene, other = tiny_scenes["id"][[0, 44]]
    pairs = [("single", scene, other), ("composite", a, b), ("bridge", b, scene)]
    n = 1500
    for arena, first, second in pairs:
        asks = [ask(f"c{k}", texts[first], texts[second]) for k in range(n)]
        replies = [asyncio.run(provider.ask(each, {})) for each in asks]
        outcomes = [parse_answer(reply.text, asks[0].labels).outcome for reply in replies]
        row = pd.DataFrame([dict(judge=JUDGES[0], arena=arena, first=first, second=second)])
        p_first, p_second = chances(truth, row)[:, 0]
        want = {
            Outcome.FIRST: p_first,
            Outcome.SECOND: p_second,
            Outcome.TIE: 1 - p_first - p_second,
        }
        assert set(outcomes) <= set(want)
        for outcome, p in want.items():
            share = np.mean([found is outcome for found in outcomes])
            assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / n), (arena, outcome)
