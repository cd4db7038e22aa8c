"""Small made-up tables of a run, from which tests build a report."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from moralscale.figures.style import statement
from moralscale.records import Origin, Outcome
from moralscale.report import ReportFigure, ReportInputs

FIT = {"data": "study", "rule": "compressed", "prior": "default"}


def row(quantity, index, unit, mean, width=0.1):
    return {
        "quantity": quantity,
        "index": index,
        "unit": unit,
        "mean": mean,
        "sd": width / 2,
        "hdi_low": mean - width,
        "hdi_high": mean + width,
    }


def fit(data, *, beta=0.8674, spread=1.0, slope=0.7, bias=0.15, judge="judge-a"):
    """Estimates of one fit, with scenes that differ by `spread`."""
    rows = [
        row("beta", "", "ratio", beta),
        row("foundation_residual", "care", "elo", -9.2249, 3),
        row("foundation_residual", "care", "log-odds", -0.0531, 0.02),
        row("intensity_slope", "", "log-odds", slope),
        row("convergence", "", "correlation", 0.9494, 0.01),
        row("slope", "", "ratio", beta),
        row("slope_judge", judge, "ratio", beta + 0.05),
        row("beta_judge", judge, "ratio", beta),
        row("position_bias_judge", judge, "log-odds", bias),
    ]
    if data == "bridged":
        rows.append(row("composite_consistency", "", "ratio", 0.9799))
    rows += [
        row("scene_strength", f"s{k}", "strength", spread * value)
        for k, value in enumerate(np.linspace(-1.5, 1.5, 31))
    ]
    return pd.DataFrame(rows).assign(
        data=data, rule="compressed", prior="default", origin="simulated"
    )


def study():
    """A table of estimators, one of which has no intensity means."""
    keys = {"slope": ("", "ratio"), "slope_judge": ("judge-a", "ratio")}
    rows = [(quantity, *key, 0.562, 0.544, 0.581) for quantity, key in keys.items()]
    rows += [("intensity_mean", index, "elo", 1050.0, 1040.0, 1060.0) for index in ("+1", "+3")]
    columns = ["quantity", "index", "unit", "elo", "elo_low", "elo_high"]
    nothing = dict.fromkeys(["joint_study", "joint_study_low", "joint_study_high"], np.nan)
    table = pd.DataFrame(rows, columns=columns).assign(published=0.862, truth=1.0, **nothing)
    return table.assign(analysis="-", origin="simulated", definition="-")


def scenes():
    """Ratings of six scenes in one fit."""
    cells = list(product(("care", "loyalty"), (-2, 1, 2)))
    rows = [
        row("scene_strength", f"{foundation}{intensity:+d}", "elo", 1000 + 50 * intensity, 10)
        for foundation, intensity in cells
    ]
    about = pd.DataFrame(cells, columns=["foundation", "intensity"])
    texts = [f"They {foundation} {intensity}." for foundation, intensity in cells]
    return pd.DataFrame(rows).assign(**FIT, **about, anchor=False, text=texts)


def composites():
    """Estimates of nine composites of those scenes in one fit."""
    rows = []
    for a, b in product((-2, 1, 2), repeat=2):
        index = f"care{a:+d}.loyalty{b:+d}.r1"
        high, low = max(a, b), min(a, b)
        about = {
            "profile": index.removesuffix(".r1"),
            "foundation_a": "care",
            "foundation_b": "loyalty",
            "config": f"{high:+d}/{low:+d}",
            "scene_a": f"care{a:+d}",
            "scene_b": f"loyalty{b:+d}",
        }
        rows.append(row("component_sum", index, "sum", a + b) | about)
        rows.append(row("composite_strength", index, "elo", 1000 + 90 * (a + b), 20) | about)
    return pd.DataFrame(rows).assign(**FIT)


def by_judge(*judges):
    """What judges make of those composites."""
    once = composites().query("unit == 'elo'")
    rows = [
        {"judge": judge, "composite": index, "sum": 80.0 * k, "rating": 1000 + 60.0 * k}
        for judge in judges
        for k, index in enumerate(once["index"])
    ]
    table = pd.DataFrame(rows).assign(**FIT)
    for name in ("sum", "rating"):
        table[f"{name}_low"], table[f"{name}_high"] = table[name] - 15, table[name] + 15
    return table


def further():
    """What other targets made: rules side by side, sensitivity, audit."""
    comparison = pd.DataFrame(
        {
            "method": "loo",
            "rule": ["compressed", "additive"],
            "rank": [0, 1],
            "elpd": [-1234.5, -1240.0],
            "se": 20.0,
            "elpd_diff": [0.0, -5.5],
            "dse": [0.0, 2.5],
            "weight": [0.9, 0.1],
            "p": [120.0, 118.0],
            "units": 2340,
            "bad_k": [0, 1],
            "config_p": [0.4, 0.01],
        }
    )
    key = {"quantity": "beta", "index": "", "unit": "ratio", "label": "beta, compression slope"}
    verdicts = pd.DataFrame(
        [key | {"family": "prior", "verdict": "robust to the prior", "counted": 3, "failed": 1}]
    )
    shift = key | {"kind": "prior", "alternative": "wide", "base_mean": 0.86, "mean": 0.87}
    shift |= {"hdi_low": 0.8, "hdi_high": 0.94, "shift": 0.25, "mcse_shift": 0.05, "sd_ratio": 1.1}
    shift |= {"by_chance": 0.0}
    scaling = {"quantity": "beta", "index": "", "prior": 0.02, "likelihood": 0.11}
    audit = {"estimator": ["elo", "joint_laplace"], "bridge": [False, True], "by_beta": [0.1, 1.0]}
    return {
        "comparison": comparison,
        "sensitivity_verdicts": verdicts,
        "sensitivity": pd.DataFrame([shift | {"passed": "True"}]),
        "power_scaling": pd.DataFrame([scaling | {"diagnosis": "none"}]),
        "audit/sensitivity": pd.DataFrame(audit),
    }


def make_inputs(folder):
    """Everything a report of a small simulated run is built from; pictures go into `folder`."""
    picture = folder / "beta.png"
    statement(Origin.SIMULATED, "A picture.").savefig(picture, dpi=300)
    estimates = pd.concat([fit("study", beta=0.8523), fit("bridged")], ignore_index=True)
    key = estimates[estimates["quantity"].isin(["beta", "composite_consistency"])]
    outcomes = pd.DataFrame(0, index=[0, 1], columns=["planned", "answered", *Outcome, "valid"])
    outcomes = outcomes.assign(judge="judge-a", arena=["single", "composite"])
    outcomes = outcomes.assign(planned=[2320, 40], answered=[2317, 40], valid=[2300, 40])
    outcomes = outcomes.assign(first=[1200, 40], second=[1100, 0], refusal=[17, 0])
    checks = [
        ("study", "compressed", "default", "sampling", "rhat", 1.004, 1.01, True, "R-hat holds"),
        ("bridged", "compressed", "default", "sampling", "rhat", 1.004, 1.01, True, "R-hat holds"),
    ]
    columns = ["data", "rule", "prior", "check", "quantity", "value", "bound", "passed", "text"]
    return ReportInputs(
        run="tiny",
        origin=Origin.SIMULATED,
        estimates=estimates,
        published=key[key["quantity"] == "beta"].assign(analysis="composition", published=0.862),
        outcomes=outcomes,
        checks=pd.DataFrame(checks, columns=columns),
        study=study(),
        recovery=key.assign(truth=1.0, covered=lambda table: table["hdi_high"] >= 1),
        figures=(ReportFigure("beta", "Slopes of judges.", picture, "study"),),
        provenance={"seed": 20260611, "versions": {"pymc": "6.3.0"}, "config": {"a": {"b": [1]}}},
        panel="noisy-additive",
        scenes=scenes(),
        composites=composites(),
        by_judge=by_judge("judge-a"),
    )
