"""Sample the posterior, and put what is needed to trust and repeat it beside it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from moralscale.arrays import Arrays, make_arrays
from moralscale.composition import Rule, get_rule
from moralscale.config import Observation, Sampler
from moralscale.errors import ModelError
from moralscale.judgments import read_judgments
from moralscale.machine import compile_model
from moralscale.manifest import versions
from moralscale.model import REPORTED, build_model
from moralscale.observation import OBSERVED, Observed
from moralscale.posterior import constant_data
from moralscale.priors import NUMBERS, Priors, load_priors
from moralscale.sampling import by_numpyro, by_nutpie, by_pymc
from moralscale.scenes import load_scenes
from moralscale.warmup import first_run, learn

KEPT_STATS = ("energy", "diverging", "n_steps", "tree_depth", "depth", "step_size", "lp", "logp")
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A model that is ready to be sampled, for any outcomes of the same comparisons.

    Attributes
    ----------
    arrays, rule, priors, options
        What it was made of.
    model : Model
        The model of `model.build_model`.
    observed : Observed
        The form in which the outcomes enter.
    machine : object, optional
        What nutpie compiled; nothing for the other samplers.
    """

    arrays: Arrays
    rule: Rule
    priors: Priors
    options: Observation
    model: pm.Model
    observed: Observed
    machine: Any = None

    @property
    def names(self) -> list[str]:
        """Quantities that a fit keeps."""
        return [name for name in REPORTED if name in self.model.named_vars]

    def under(self, priors: Priors) -> Compiled:
        """Give the same model with other numbers in its priors.

        Raises
        ------
        ModelError
            They are other distributions, and the model is another.
        """
        if priors.form() != self.priors.form():
            raise ModelError(
                f"{priors.name} has other distributions than {self.priors.name}",
                where="priors",
                mend="compile the model anew",
            )
        return replace(self, priors=priors)

    def first_run(self, *, sampler: Sampler, seed: int, cores: int) -> NDArray[np.float64] | None:
        """Draw roughly, to sample for `outcomes` that are nearly those of the arrays.

        Returns
        -------
        (draw, size) or None
            Unconstrained; nothing where the sampler learns no coordinates.
        """
        if sampler.coordinates != "learnt":
            return None
        machine = self._loaded(self.arrays.outcome)
        return first_run(machine, seed=seed, cores=cores)

    def sample(
        self,
        *,
        sampler: Sampler,
        seed: int,
        cores: int,
        outcomes: NDArray[np.integer] | None = None,
        near: NDArray[np.float64] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> xr.DataTree:
        """Sample the posterior given these outcomes.

        Parameters
        ----------
        sampler : Sampler
            How; the sampler that the model was compiled for.
        seed : int
            Seed of the sampler.
        cores : int
            Chains at a time.
        outcomes : (judgment,), int, optional
            Places in `records.VERDICTS`, in the order of the arrays; those of the arrays unless
            given. -1 leaves a judgment out of the fit.
        near : (draw, size), optional
            What `first_run` gave, where the outcomes are nearly those of the arrays.
        attrs : mapping, optional
            What else to keep about the fit (run, data, origin, digests).

        Returns
        -------
        DataTree
            As `fit` returns it.

        Raises
        ------
        ModelError
            The outcomes do not go with the arrays or the model.
        """
        outcome = self.arrays.outcome if outcomes is None else np.asarray(outcomes)
        tree = self._draws(outcome, sampler, seed, cores, near)
        stats = tree["sample_stats"].to_dataset()
        stats = stats[[name for name in KEPT_STATS if name in stats]]
        result = xr.DataTree.from_dict(
            {
                "posterior": _thinned(tree["posterior"].to_dataset()[self.names], sampler.thin),
                "sample_stats": stats.drop_attrs(),
                "observed_data": _observed(self.arrays, outcome),
                "constant_data": constant_data(self.arrays),
            }
        )
        result.attrs.update(
            rule=self.rule.name,
            prior=self.priors.name,
            model=self.options.model_dump_json(),
            beta_meaning=str(self.arrays.beta_meaning),
            seed=seed,
            sampler=sampler.model_dump_json(),
            versions=", ".join(f"{name} {found}" for name, found in versions().items()),
        )
        result.attrs.update(attrs or {})
        return result

    def values(self, outcome: NDArray[np.integer]) -> NDArray[Any]:
        """Put outcomes (judgment,) into the form of the model's data container.

        Raises
        ------
        ModelError
            There are more or fewer than judgments, or codes that this model has no place for.
        """
        if outcome.shape != self.arrays.outcome.shape:
            raise ModelError(
                f"{outcome.shape} outcomes for {self.arrays.outcome.shape} judgments",
                where="outcomes",
                mend="give one of each judgment of the arrays",
            )
        wrong = (outcome < -1) | (outcome >= self.observed.n_outcomes)
        if wrong.any():
            raise ModelError(
                f"outcome {outcome[wrong][0]} has no place in this model",
                where=f"judgment {int(np.argmax(wrong))}",
                mend="compile with `ties: davidson` for ties (2)",
            )
        return self.observed.values(outcome)

    def _draws(
        self,
        outcome: NDArray[np.integer],
        sampler: Sampler,
        seed: int,
        cores: int,
        near: NDArray[np.float64] | None,
    ) -> xr.DataTree:
        if sampler.backend == "nutpie":
            machine = self._loaded(outcome)
            if sampler.coordinates == "learnt":
                machine = self._learnt(machine, sampler, seed, cores, near)
            return _sample_nutpie(machine, sampler, seed, cores)
        for name, values in self._data(outcome).items():
            self.model.set_data(name, values)
        if sampler.backend == "numpyro":
            return by_numpyro(
                self.model, **_lengths(sampler), random_seed=seed, var_names=self.names
            )
        return _sample_pymc(self.model, self.names, sampler, seed, cores)

    def _data(self, outcome: NDArray[np.integer]) -> dict[str, Any]:
        return {OBSERVED: self.values(outcome), NUMBERS: self.priors.numbers()}

    def _loaded(self, outcome: NDArray[np.integer]) -> Any:
        machine = self.machine or _machine(self.model, self.names)
        return machine.with_data(**self._data(outcome))

    def _learnt(
        self,
        machine: Any,
        sampler: Sampler,
        seed: int,
        cores: int,
        near: NDArray[np.float64] | None,
    ) -> Any:
        started = time.monotonic()
        learnt = learn(
            machine, self.model, seed=seed, cores=cores, memory=sampler.memory, near=near
        )
        LOG.info("coordinates learnt in %.0f s", time.monotonic() - started)
        return learnt.machine(self.names)


def compile(
    arrays: Arrays,
    *,
    rule: Rule,
    priors: Priors,
    options: Observation | None = None,
    backend: str = "nutpie",
    centred: bool | None = None,
    counted: bool | None = None,
) -> Compiled:
    """Compile the joint model once, to be sampled for many sets of outcomes.

    Parameters
    ----------
    arrays : Arrays
        Judgments and what they are about.
    rule, priors, options
        What to fit; lapses and ties are left out unless `options` says otherwise.
    backend : {"nutpie", "pymc", "numpyro"}
        The sampler to compile for.
    centred, counted : bool, optional
        As in `model.build_model`.
    """
    options = options or Observation()
    model = build_model(arrays, priors, rule, options, centred=centred, counted=counted)
    observed = Observed.of(arrays, options, counted=counted)
    compiled = Compiled(arrays, rule, priors, options, model, observed)
    if backend != "nutpie":
        return compiled
    return replace(compiled, machine=_machine(model, compiled.names))


def fit(
    arrays: Arrays,
    *,
    rule: Rule,
    priors: Priors,
    sampler: Sampler,
    seed: int,
    cores: int,
    options: Observation | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Sample the posterior of the joint model.

    Parameters
    ----------
    arrays : Arrays
        Judgments and what they are about.
    rule, priors, sampler
        What to fit, and how.
    seed : int
        Seed of the sampler.
    cores : int
        Chains at a time.
    options : Observation, optional
        How judgments follow from strengths; without lapses and ties unless given.
    attrs : mapping, optional
        What else to keep about the fit (run, data, origin, digests).

    Returns
    -------
    DataTree
        Groups ``posterior`` (reported and latent quantities, dims chain and draw first),
        ``sample_stats`` (of every iteration, those between the kept draws too),
        ``observed_data`` (judgments, by their places in the strength table) and ``constant_data``
        (scenes and composites, as `posterior.constant_data` gives them).
    """
    compiled = compile(arrays, rule=rule, priors=priors, options=options, backend=sampler.backend)
    return compiled.sample(sampler=sampler, seed=seed, cores=cores, attrs=attrs)


def fit_from_files(
    *,
    judgments: str,
    scenes: str,
    composites: str,
    priors: str,
    data: str,
    rule: str,
    sampler: Mapping[str, Any],
    seed: int,
    cores: int,
    attrs: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Fit a table of judgments; arguments are paths, names and settings."""
    table = read_judgments(judgments)
    model = Observation(**(options or {}))
    arrays = make_arrays(
        table,
        load_scenes(scenes),
        pd.read_parquet(composites),
        data=data,
        ties=model.ties == "davidson",
    )
    return fit(
        arrays,
        rule=get_rule(rule),
        priors=load_priors(priors),
        sampler=Sampler(**sampler),
        seed=seed,
        cores=cores,
        options=model,
        attrs={"data": data, "origin": ", ".join(sorted(table["origin"].unique())), **attrs},
    )


def _machine(model: pm.Model, names: list[str]) -> Any:
    started = time.monotonic()
    machine = compile_model(model, names)
    seconds = time.monotonic() - started
    LOG.info("model of %d parameters compiled in %.0f s", machine.n_dim, seconds)
    return machine


def _sample_nutpie(machine: Any, sampler: Sampler, seed: int, cores: int) -> xr.DataTree:
    return by_nutpie(
        machine,
        **_lengths(sampler),
        cores=cores,
        seed=seed,
        save_warmup=False,
        **_progress(sampler),
    )


def _sample_pymc(
    model: pm.Model, names: list[str], sampler: Sampler, seed: int, cores: int
) -> xr.DataTree:
    return by_pymc(
        model,
        **_lengths(sampler),
        cores=cores,
        random_seed=seed,
        var_names=names,
        progressbar=sys.stderr.isatty(),
        compute_convergence_checks=False,
    )


def _lengths(sampler: Sampler) -> dict[str, Any]:
    """Give the settings that both samplers call the same."""
    return {
        "draws": sampler.draws * sampler.thin,
        "tune": sampler.tune,
        "chains": sampler.chains,
        "target_accept": sampler.target_accept,
    }


def _progress(sampler: Sampler) -> dict[str, Any]:
    """Show a bar on a terminal, and a plain line at every tenth elsewhere."""
    if sys.stderr.isatty():
        return {"progress_bar": True}
    total = sampler.chains * (sampler.tune + sampler.draws * sampler.thin)
    tenths = iter(range(1, 11))
    due = next(tenths)

    def report(chains: list[Any]) -> None:
        nonlocal due
        done = sum(chain.finished_draws for chain in chains)
        if done * 10 >= due * total:
            divergent = sum(chain.divergences for chain in chains)
            LOG.info("sampling: %d of %d iterations, %d divergent", done, total, divergent)
            due = next((tenth for tenth in tenths if tenth * total > done * 10), 11)

    return {"progress_bar": False, "progress_callback": report, "progress_rate": 500}


def _thinned(posterior: xr.Dataset, thin: int) -> xr.Dataset:
    """Keep the last of every `thin` iterations, numbered anew."""
    kept = posterior.isel(draw=slice(thin - 1, None, thin)).drop_attrs()
    return kept.assign_coords(draw=np.arange(kept.sizes["draw"]))


def _observed(arrays: Arrays, outcome: NDArray[np.integer]) -> xr.Dataset:
    data = {
        "outcome": outcome.astype(np.int8),
        "first_won": outcome == 0,
        "first_idx": arrays.first_idx.astype(np.int32),
        "second_idx": arrays.second_idx.astype(np.int32),
        "judge_idx": arrays.judge_idx.astype(np.int16),
        "arena_idx": arrays.arena_idx.astype(np.int8),
    }
    return xr.Dataset({name: (("judgment",), values) for name, values in data.items()})
