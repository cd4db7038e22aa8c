"""One cell of an audit: simulate, estimate, and keep what each estimator said."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from moralscale.arrays import Arrays, make_arrays
from moralscale.audit.cells import Cell
from moralscale.composition import get_rule
from moralscale.config import Sampler, TwoStep
from moralscale.design import make_composites, make_schedule
from moralscale.elo import ELO_PER_LOGIT
from moralscale.errors import ModelError
from moralscale.estimands import Estimands
from moralscale.laplace import Problem, solve
from moralscale.likelihood import log_odds
from moralscale.priors import Priors
from moralscale.projections import quantities
from moralscale.records import Arena, config_name, foundations_of
from moralscale.simulate import simulate_panel
from moralscale.twostep import rate_all, study_arenas, together

#: Estimate, low and high, by target.
type Lines = dict[str, tuple[float, float, float]]
#: Estimator, place of the replicate, what it found, why it found nothing.
type Row = tuple[str, int, Lines, str]

LOG = logging.getLogger(__name__)
Array = NDArray[np.float64]

#: What is estimated, and what multiplies a value in log-odds to its unit.
TARGETS = {
    "beta": 1.0,
    "consistency": 1.0,
    "intercept": 1.0,
    "anchoring": ELO_PER_LOGIT,
    "loyalty": ELO_PER_LOGIT,
    "convergence": 1.0,
}
#: Draws from a Laplace approximation, and bounds of its intervals.
DRAWS, BOUNDS = 500, (0.03, 0.97)
_NORMAL = 1.8808  # standard normal quantile of 0.97


def run_cell(
    cell: Cell, scenes: pd.DataFrame, *, priors: Priors, two_step: TwoStep, seed: int
) -> pd.DataFrame:
    """Simulate and estimate every replicate of a cell.

    The design is the same for all replicates, judges and their answers are drawn anew for each.

    Parameters
    ----------
    cell : Cell
    scenes : DataFrame
        The corpus.
    priors : Priors
        Of the joint estimators.
    two_step : TwoStep
        Settings of the two-step estimators.
    seed : int

    Returns
    -------
    DataFrame
        One row a replicate, estimator and target: the cell's settings, replicate, estimator,
        target, truth, estimate, low, high (94%), failed (why, or empty). Estimates of the two-step
        estimators are means over judges, and their intervals those of a mean of that many judges
        (a t interval): they hold the spread between judges, and no bias.
    """
    composites = make_composites(scenes, realisations=1, seed=seed)
    # Outcomes are all that replicates do not share, so the schedule is indexed once.
    schedule = _schedule(cell, scenes, composites, seed).assign(outcome="first")
    kind = "bridged" if cell.bridge else "study"
    design = make_arrays(schedule, scenes, composites, data=kind)
    truths, data = [], []
    for replicate in range(max(cell.cheap, cell.joint, cell.nuts)):
        rng = np.random.default_rng([seed, replicate, int(cell.name, 16)])
        truth = _truth(cell, scenes, composites, rng)
        answered = replace(design, outcome=_outcomes(truth, design, rng))
        truths.append(_targets(truth, design.estimands))
        data.append(_mislabelled(answered, scenes, composites, cell.flips, rng))
    rows = list(_two_steps(data[: cell.cheap], two_step, seed))
    for replicate, arrays in enumerate(data):
        if replicate < cell.joint:
            rows.append(("joint_laplace", replicate, *_joint(_laplace, arrays, priors, seed)))
        if replicate < cell.nuts:
            rows.append(("joint_nuts", replicate, *_joint(_nuts, arrays, priors, seed)))
    return _table(cell, rows, truths)


def _schedule(
    cell: Cell, scenes: pd.DataFrame, composites: pd.DataFrame, seed: int
) -> pd.DataFrame:
    judges = [f"simulated-{j:02d}" for j in range(1, cell.judges + 1)]
    # Schedules of many battles are repeats of one: pairs matter less than how many there are.
    repeats = max(1, cell.battles // 15)
    tables = [
        make_schedule(
            arena,
            scenes,
            composites,
            judges,
            judgments=count if arena == Arena.BRIDGE else count // repeats,
            repeats=1 if arena == Arena.BRIDGE else repeats,
            prompts=["trolley"],
            seed=seed,
        )
        for arena, count in cell.counts.items()
        if count
    ]
    return pd.concat(tables, ignore_index=True)


def _truth(
    cell: Cell, scenes: pd.DataFrame, composites: pd.DataFrame, rng: np.random.Generator
) -> xr.Dataset:
    judges = [f"simulated-{j:02d}" for j in range(1, cell.judges + 1)]
    seed = int(rng.integers(2**31))
    panel = cell.panel(foundations_of(scenes["foundation"]))
    truth = simulate_panel(panel, scenes, composites, judges, seed=seed)
    noisy = ("theta", "phi", "alpha", "alpha_judge")
    return truth.assign({name: truth[name].variable / cell.noise for name in noisy})


def _outcomes(truth: xr.Dataset, design: Arrays, rng: np.random.Generator) -> NDArray[np.int8]:
    """Who wins each comparison: 0 the first, 1 the second."""
    chance = expit(log_odds(truth, design)[0])
    outcomes: NDArray[np.int8] = (rng.random(len(chance)) >= chance).astype(np.int8)
    return outcomes


def _mislabelled(
    arrays: Arrays,
    scenes: pd.DataFrame,
    composites: pd.DataFrame,
    flips: float,
    rng: np.random.Generator,
) -> Arrays:
    """Give a share of the intensity labels of an analysis wrong by one step.

    A label of a scene in a composite moves between +1 and +2, or -1 and -2, so that configurations
    stay what they are called; the judges' strengths, and who met whom, do not change.
    """
    if not flips:
        return arrays
    swap = {-2: -1, -1: -2, 1: 2, 2: 1}
    wrong = rng.random(len(scenes)) < flips
    labels = scenes["intensity"].where(~wrong, scenes["intensity"].replace(swap))
    by_scene = dict(zip(scenes["id"], labels, strict=True))
    made = composites.assign(
        intensity_a=composites["scene_a"].map(by_scene),
        intensity_b=composites["scene_b"].map(by_scene),
    )
    pairs = zip(made["intensity_a"], made["intensity_b"], strict=True)
    made = made.assign(config=[config_name(*p) for p in pairs])
    estimands = Estimands.from_composites(scenes, made)
    coords = arrays.coords | {"config": list(estimands.config_names)}
    return replace(
        arrays, intensity=labels.to_numpy(dtype=np.int64), estimands=estimands, coords=coords
    )


def _targets(truth: xr.Dataset, estimands: Estimands) -> dict[str, float]:
    """Planted values, in each target's unit, of the labels that are right."""
    sums = estimands.component_sum(truth["theta"].values)
    slope, intercept, residual = estimands.line(sums, truth["phi"].values)
    found: dict[str, Any] = {
        "beta": slope.mean(),
        "consistency": truth["composite_consistency"],
        "intercept": intercept.mean(),
        "anchoring": estimands.anchoring(residual).mean(),
        "loyalty": _loyalty(estimands, residual).mean(),
        "convergence": estimands.convergence(truth["phi"].values),
    }
    return {name: scale * float(found[name]) for name, scale in TARGETS.items()}


def _values(draws: xr.Dataset) -> Iterator[tuple[str, Array]]:
    """Draws of every target that there is, in its unit."""
    found = {
        "beta": draws["slope"],
        "consistency": draws.get("composite_consistency"),
        "intercept": draws.get("intercept"),
        "anchoring": draws.get("anchoring_adjusted"),
        "loyalty": draws["foundation_residual"].sel(foundation="loyalty"),
        "convergence": draws["convergence"],
    }
    for name, scale in TARGETS.items():
        value = found[name]
        if value is not None:
            yield name, scale * np.asarray(value.values)


def _two_steps(data: list[Arrays], settings: TwoStep, seed: int) -> Iterator[Row]:
    """All replicates of an estimator at once, as so many more judges."""
    if not data:
        return
    arenas = [study_arenas(arrays)[0] for arrays in data]
    n_judges = arenas[0].single.n_judges
    for name, rated in rate_all(together(arenas), settings, seed).items():
        theta, phi = (
            values.reshape(len(data), n_judges, -1) for values in (rated.theta, rated.phi)
        )
        for replicate, arrays in enumerate(data):
            found = _lines(theta[replicate], phi[replicate], arrays.estimands)
            yield name, replicate, found, ""


def _loyalty(estimands: Estimands, residual: Array) -> Array:
    """Residual of loyalty, by judge."""
    return estimands.foundation_residual(residual)[:, estimands.foundation_names.index("loyalty")]


def _lines(theta: Array, phi: Array, estimands: Estimands) -> Lines:
    """Mean over judges and its t interval, of every target that two steps have."""
    sums = estimands.component_sum(theta)
    slope, _, residual = estimands.line(sums, phi)
    loyalty = _loyalty(estimands, residual)
    by_judge = {"beta": slope, "anchoring": estimands.anchoring(residual), "loyalty": loyalty}
    out: Lines = {}
    for name, values in by_judge.items():
        mean = TARGETS[name] * values.mean()
        half = TARGETS[name] * _NORMAL * values.std(ddof=1) / np.sqrt(len(values))
        out[name] = (mean, mean - half, mean + half)
    out["convergence"] = (float(estimands.convergence(phi)), np.nan, np.nan)
    return out


def _joint(
    how: Callable[[Arrays, Priors, int], xr.Dataset], arrays: Arrays, priors: Priors, seed: int
) -> tuple[Lines, str]:
    """Estimates and intervals by one of the joint estimators, or why there are none."""
    try:
        draws = quantities(how(arrays, priors, seed), arrays.estimands)
    except ModelError as error:
        LOG.warning("a joint estimate failed: %s", error)
        return {}, str(error.what)
    out = {}
    for name, values in _values(draws):
        out[name] = (values.mean(), *np.quantile(values, BOUNDS))
    return out, ""


def _laplace(arrays: Arrays, priors: Priors, seed: int) -> xr.Dataset:
    problem = Problem(arrays, priors, get_rule("compressed"))
    return solve(problem, seed=seed).draws(DRAWS, seed=seed)


def _nuts(arrays: Arrays, priors: Priors, seed: int) -> xr.Dataset:
    from moralscale.fit import fit  # few cells sample, and it takes seconds to import

    sampler = Sampler(chains=2, tune=600, draws=500, thin=1)
    tree = fit(
        arrays,
        rule=get_rule("compressed"),
        priors=priors,
        sampler=sampler,
        seed=seed,
        cores=1,
    )
    worst = float(xr.Dataset({"beta": tree["posterior"]["beta"]}).pipe(_rhat))
    if worst > 1.05:
        raise ModelError(f"R-hat of beta is {worst:.3f}")
    draws: xr.Dataset = tree["posterior"].to_dataset()
    return draws


def _rhat(draws: xr.Dataset) -> float:
    """R-hat of beta: two short chains that do not agree count as a failure."""
    import arviz as az

    return float(az.rhat(draws)["beta"])


def _table(cell: Cell, rows: list[Row], truths: list[dict[str, float]]) -> pd.DataFrame:
    """One row a replicate, estimator and target; failures keep a row for beta."""
    out = []
    for estimator, replicate, found, failed in rows:
        for target in TARGETS if not failed else ("beta",):
            if failed or target in found:
                estimate, low, high = found.get(target, (np.nan,) * 3)
                truth = truths[replicate].get(target, np.nan)
                out.append((replicate, estimator, target, truth, estimate, low, high, failed))
    columns = ["replicate", "estimator", "target", "truth", "estimate", "low", "high", "failed"]
    settings = {k: v for k, v in asdict(cell).items() if k not in {"cheap", "joint", "nuts"}}
    return pd.DataFrame(out, columns=columns).assign(**settings)
