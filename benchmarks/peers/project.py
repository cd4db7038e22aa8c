"""Fits of this project itself."""

from __future__ import annotations

import panel

from moralscale import fit
from moralscale.arrays import Arrays
from moralscale.composition import get_rule
from moralscale.config import Sampler
from moralscale.priors import Priors
from peers import CHAINS, DRAWS, TUNE, Sampled


def run(arrays: Arrays, priors: Priors, *, seed: int, cores: int, kind: str) -> Sampled:
    """Fit by the settings of the default configuration, or for as long as the peers."""
    sampler = panel.config().sampler
    if kind != "config":
        coordinates = "learnt" if kind == "short" else "plain"
        target = sampler.target_accept if kind == "short" else 0.8
        sampler = Sampler(
            chains=CHAINS,
            tune=TUNE,
            draws=DRAWS,
            thin=1,
            target_accept=target,
            coordinates=coordinates,
        )
    iterations = sampler.draws * sampler.thin
    result = Sampled(
        f"{sampler.chains} x ({sampler.tune} + {iterations})", ("nutpie", "numba"), complete=True
    )
    with result.compiled.counted():
        compiled = fit.compile(arrays, rule=get_rule("compressed"), priors=priors)
    with result.sampled.counted():
        tree = compiled.sample(sampler=sampler, seed=seed, cores=cores)
    result.draws = tree["posterior"].to_dataset()
    return result
