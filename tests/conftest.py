"""Shared fixtures: a tiny corpus, its composites, a small panel and what it answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moralscale.cli.main import main
from moralscale.config import Panel
from moralscale.design import make_composites, make_schedules
from moralscale.records import FOUNDATIONS, INTENSITIES, Arena
from moralscale.simulate import simulate_panel

ROOT = Path(__file__).parents[1]
TINY_JUDGES = ("judge-a", "judge-b", "judge-c")

#: Warnings of libraries about their own parts, which nothing here can mend.
FOREIGN_WARNINGS = (
    "ignore:Importing 'IfElse' from 'pytensor.ifelse':DeprecationWarning",
    "ignore:better_optimize.constants.MINIMIZE_MODE_KWARGS:DeprecationWarning",
)


def pytest_configure(config):
    for line in FOREIGN_WARNINGS:
        config.addinivalue_line("filterwarnings", line)


@pytest.fixture(scope="session")
def project():
    """The project's root folder."""
    return ROOT


@pytest.fixture
def refused(capsys):
    """Run a command that must end with exit code 2 and one line, and give the line."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        assert ended.value.code == 2
        shown = capsys.readouterr().err
        assert shown.startswith("error: ")
        assert shown.count("\n") == 1
        return shown

    return run


@pytest.fixture(scope="session")
def tiny_scenes() -> pd.DataFrame:
    """Two scenes a cell and one anchor: 51."""
    rows = [
        (f"{f}{i:+d}-{k}", f, i, False, f"They did {f} {i} {k}.")
        for f in FOUNDATIONS
        for i in INTENSITIES
        for k in range(2)
    ]
    rows.append(("anchor", "care", 0, True, "They anchored."))
    return pd.DataFrame(rows, columns=["id", "foundation", "intensity", "anchor", "text"])


@pytest.fixture(scope="session")
def tiny_composites(tiny_scenes) -> pd.DataFrame:
    """One composite a profile: 160."""
    return make_composites(tiny_scenes, realisations=1, seed=5)


@pytest.fixture(scope="session")
def few_composites(tiny_composites) -> pd.DataFrame:
    """Five intensity pairs of every foundation pair: 50, as balanced as the whole."""
    kept = [(-2, -2), (-1, -2), (2, -1), (1, 1), (2, 2)]
    pairs = zip(tiny_composites["intensity_a"], tiny_composites["intensity_b"], strict=True)
    return tiny_composites[[pair in kept for pair in pairs]].reset_index(drop=True)


@pytest.fixture(scope="session")
def answered():
    """Draw what a panel answers: a function of truth, corpus, composites, counts and seed."""

    def answer(truth, scenes, composites, counts, seed=0):
        judges = [str(judge) for judge in truth["judge"].values]
        table = make_schedules(
            scenes,
            composites,
            judges,
            judgments=counts,
            repeats=1,
            prompts=["trolley"],
            seed=seed,
        )
        first, second = outcome_chances(truth, table)
        # One uniform a comparison, so that two truths can be held against each other.
        uniform = np.random.default_rng(seed).random(len(table))
        without_ties = np.where(uniform < first, "first", "second")
        # 1e-9: rounding must not make a tie where there are none.
        tied = (uniform >= first) & (uniform < 1 - second - 1e-9)
        return table.assign(outcome=np.where(tied, "tie", without_ties))

    return answer


@pytest.fixture(scope="session")
def chances():
    """Chances of `first` and of `second` in each row of a table, given a truth."""
    return outcome_chances


def outcome_chances(truth, table):
    """Chances of `first` and of `second` in each row: a loop-like, independent reading."""
    consistency = {
        "single": 1.0,
        "composite": float(truth["composite_consistency"]),
        "bridge": float(truth["bridge_consistency"]),
    }
    judges = [str(judge) for judge in truth["judge"].values]
    shown = {}  # by judge, arena and contestant
    for j, judge in enumerate(judges):
        for arena, names in {
            "single": ("theta",),
            "composite": ("phi",),
            "bridge": ("theta", "phi"),
        }.items():
            for name in names:
                for k, contestant in enumerate(truth[truth[name].dims[1]].values):
                    value = consistency[arena] * float(truth[name].values[j, k])
                    shown[judge, arena, contestant] = value

    def of_judge(name):
        values = truth[name].values.tolist() if name in truth else [0.0] * len(judges)
        return dict(zip(judges, values, strict=True))

    bias, growth = of_judge("position_bias_judge"), of_judge("position_bias_slope_judge")
    lapse, tie = of_judge("lapse_judge"), of_judge("tie_judge")
    level = {
        (judge, arena): np.mean([v for (j, a, _), v in shown.items() if (j, a) == (judge, arena)])
        for judge in judges
        for arena in consistency
    }
    chances = []
    for row in table.itertuples():
        x, y = (shown[row.judge, row.arena, name] for name in (row.first, row.second))
        eta = x - y + bias[row.judge]
        eta += growth[row.judge] * ((x + y) / 2 - level[row.judge, row.arena])
        if "position_bias_arena_judge" in truth and row.arena != "single":
            shift = truth["position_bias_arena_judge"].sel(judge=row.judge, other_arena=row.arena)
            eta += float(shift)
        odds = np.array([np.exp(eta / 2), tie[row.judge], np.exp(-eta / 2)])
        first, _, second = odds / odds.sum()
        e = lapse[row.judge]
        chances.append((e / 2 + (1 - e) * first, e / 2 + (1 - e) * second))
    return np.array(chances).T


@pytest.fixture(scope="session")
def tiny_truth(tiny_scenes, tiny_composites):
    return simulate_panel(Panel(judges=3), tiny_scenes, tiny_composites, TINY_JUDGES, seed=3)


@pytest.fixture(scope="session")
def few_truth(tiny_scenes, few_composites):
    return simulate_panel(Panel(judges=3), tiny_scenes, few_composites, TINY_JUDGES, seed=3)


@pytest.fixture(scope="session")
def few_judgments(few_truth, tiny_scenes, few_composites, answered) -> pd.DataFrame:
    """All three arenas, 40 comparisons a judge in each."""
    counts = dict.fromkeys(Arena, 120)
    return answered(few_truth, tiny_scenes, few_composites, counts, seed=1)
