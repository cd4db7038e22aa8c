"""The study's four analyses by its own estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from moralscale.arrays import Arrays
from moralscale.config import TwoStep
from moralscale.design.bits import bits_for
from moralscale.elo import ELO_MEAN, ELO_PER_LOGIT
from moralscale.projections import in_elo, quantities
from moralscale.records import Arena
from moralscale.summaries import labels
from moralscale.twostep import (
    ESTIMATORS,
    Strengths,
    StudyArenas,
    bootstrap,
    elo_over_orders,
    lines,
    study_arenas,
)

#: The study's four analyses, as the quantities that two steps and the joint model both give.
ANALYSES = {
    "compressed composition": (
        *("slope", "slope_judge", "rated_intercept", "rated_intercept_judge"),
        *("r_squared", "r_squared_judge"),
    ),
    "foundation residuals": ("foundation_residual", "foundation_residual_judge"),
    "intensity anchoring": (
        *("intensity_mean", "intensity_components", "config_mean"),
        *("anchoring", "anchoring_components", "anchoring_adjusted"),
    ),
    "convergence between judges": ("convergence", "correlation"),
}


@dataclass(frozen=True, eq=False)
class TwoStepTables:
    """What the study's estimators find in one run; the first column is always `estimator`.

    Attributes
    ----------
    contestants : DataFrame
        judge, arena, contestant, battles, rating (Elo), sd (over resamples), order_sd (over random
        orders of the same battles, for `elo`; the others do not depend on it).
    lines : DataFrame
        judge, slope, slope_se, intercept, intercept_se, r_squared (`twostep.Lines`), slope_sd
        (over resamples), slope_order_sd.
    estimates : DataFrame
        quantity, index, unit, estimate, low, high, sd, shift, rounds, definition.
    """

    contestants: pd.DataFrame
    lines: pd.DataFrame
    estimates: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Found:
    """What one estimator found: strengths on the data, on resamples, and over orders for `elo`."""

    strengths: Strengths
    resampled: Strengths
    orders: Strengths | None


def two_step_tables(
    arrays: Arrays, settings: TwoStep, *, ci_prob: float, seed: int
) -> TwoStepTables:
    """Run every two-step estimator and all analyses of the study.

    Intervals are ``estimate +- z * sd`` with the standard deviation over bootstrap resamples of
    each judge's battles. They say what other battles would have changed, and nothing of an
    estimator's bias. `shift`, mean over resamples minus estimate, hints at that: resamples are
    noisier than the data, as the data are noisier than the truth.

    Parameters
    ----------
    arrays : Arrays
        Judgments; those of the bridge arena are left aside.
    settings : TwoStep
        The section of the configuration.
    ci_prob : float
        Probability inside intervals.
    seed : int
        Seeds orders, splits and resamples.

    Raises
    ------
    ModelError
        No judge has decided judgments in both arenas.
    """
    arenas, judges = study_arenas(arrays)
    found = {name: _find(name, arenas, settings, seed) for name in ESTIMATORS}
    coords = arrays.coords | {"judge": judges}
    return TwoStepTables(
        contestants=_by_estimator(found, lambda here: _contestants(here, arenas, coords)),
        lines=_by_estimator(found, lambda here: _lines(here, arenas, judges)),
        estimates=_by_estimator(found, lambda here: _estimates(here, arenas, coords, ci_prob)),
    )


def _find(name: str, arenas: StudyArenas, settings: TwoStep, seed: int) -> _Found:
    rng = np.random.Generator(bits_for(seed, "twostep", name))
    return _Found(
        strengths=ESTIMATORS[name](arenas, settings, rng),
        resampled=bootstrap(name, arenas, settings, rng),
        orders=elo_over_orders(arenas, settings, rng) if name == "elo" else None,
    )


def _by_estimator(
    found: dict[str, _Found], table: Callable[[_Found], pd.DataFrame]
) -> pd.DataFrame:
    frames = {name: table(here) for name, here in found.items()}
    joined = pd.concat(frames, names=["estimator"]).reset_index(level="estimator")
    return joined.reset_index(drop=True)


def _contestants(found: _Found, arenas: StudyArenas, coords: dict[str, list[Any]]) -> pd.DataFrame:
    frames = []
    for arena, dim, name in (
        (Arena.SINGLE, "scene", "theta"),
        (Arena.COMPOSITE, "composite", "phi"),
    ):
        battles = arenas.single if arena is Arena.SINGLE else arenas.composite
        index = pd.MultiIndex.from_product(
            [coords["judge"], [arena.value], coords[dim]], names=["judge", "arena", "contestant"]
        )
        columns = {
            "battles": battles.met(),
            "rating": ELO_MEAN + ELO_PER_LOGIT * getattr(found.strengths, name),
            "sd": ELO_PER_LOGIT * getattr(found.resampled, name).std(axis=0, ddof=1),
        }
        if found.orders is not None:
            columns["order_sd"] = ELO_PER_LOGIT * getattr(found.orders, name).std(axis=0, ddof=1)
        columns = {key: value.ravel() for key, value in columns.items()}
        frames.append(pd.DataFrame(columns, index).reset_index())
    return pd.concat(frames, ignore_index=True)


def _lines(found: _Found, arenas: StudyArenas, judges: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"judge": judges, **vars(lines(found.strengths, arenas.estimands))})
    resampled = lines(found.resampled, arenas.estimands)
    frame["slope_sd"] = resampled.slope.std(axis=0, ddof=1)
    if found.orders is not None:
        over_orders = lines(found.orders, arenas.estimands)
        frame["slope_order_sd"] = over_orders.slope.std(axis=0, ddof=1)
    return frame


def _estimates(
    found: _Found, arenas: StudyArenas, coords: dict[str, list[Any]], ci_prob: float
) -> pd.DataFrame:
    """All analyses by the very function that the joint model's draws go through."""
    once = quantities(_dataset(found.strengths, coords), arenas.estimands)
    drawn = quantities(_dataset(found.resampled, coords), arenas.estimands)
    z = NormalDist().inv_cdf((1 + ci_prob) / 2)
    frames = []
    for name in (name for members in ANALYSES.values() for name in members if name in once):
        value, draws = (_in_study_units(each[name]) for each in (once, drawn))
        # A round whose halves did not agree has no corrected slope, and is not counted.
        spread, middle = draws.std("draw", ddof=1), draws.mean("draw")
        bound = 1.0 if once[name].attrs["unit"] in ("correlation", "share") else np.inf
        columns = {
            "estimate": value,
            "low": value - z * spread,
            "high": np.minimum(value + z * spread, bound),
            "sd": spread,
            "shift": middle - value,
            "rounds": draws.notnull().sum("draw"),
        }
        frame = pd.DataFrame({key: np.ravel(column) for key, column in columns.items()})
        frame.insert(0, "quantity", name)
        frame.insert(1, "index", list(labels(value)))
        frame.insert(2, "unit", "elo" if in_elo(once[name]) is not None else value.attrs["unit"])
        frames.append(frame.assign(definition=once[name].attrs["definition"]))
    return pd.concat(frames, ignore_index=True)


def _dataset(strengths: Strengths, coords: dict[str, list[Any]]) -> xr.Dataset:
    sample = ("draw",) * (strengths.theta.ndim - 2)
    data = {
        "theta": ((*sample, "judge", "scene"), strengths.theta),
        "phi": ((*sample, "judge", "composite"), strengths.phi),
    }
    return xr.Dataset(
        data, {dim: coords[dim] for dim in ("judge", "scene", "composite", "foundation")}
    )


def _in_study_units(variable: xr.DataArray) -> xr.DataArray:
    """Elo wherever there is an Elo equivalent, as in the study."""
    elo = in_elo(variable)
    return variable if elo is None else elo
