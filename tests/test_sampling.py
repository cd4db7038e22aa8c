"""An interrupt ends sampling; it never leaves a part of a posterior as if it were one."""

from __future__ import annotations

import _thread
import signal
import sys
import threading

import nutpie
import pymc as pm
import pytest

from moralscale.errors import ModelError
from moralscale.sampling import by_numpyro, by_nutpie, by_pymc


@pytest.fixture(scope="module")
def model():
    with pm.Model() as model:
        pm.Normal("x", shape=50)
    return model


@pytest.fixture
def interruptible():
    """Heed interrupts, which a shell's background jobs are started to ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_nutpie_gives_all_or_nothing(model):
    machine = nutpie.compile_pymc_model(model)
    settings = {"chains": 1, "tune": 20, "progress_bar": False, "seed": 1}
    ended = threading.Event()

    def press():
        # More than once: one that lands while numba compiles is lost.
        while not ended.wait(1.0):
            _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        by_nutpie(machine, draws=5_000_000, **settings)
    ended.set()
    whole = by_nutpie(machine, draws=30, **settings)
    assert dict(whole["posterior"].sizes) == {"chain": 1, "draw": 30, "x_dim_0": 50}


def test_pymc_gives_all_or_nothing(model):
    def pressed(trace, draw):
        if not draw.tuning and draw.draw_idx > 30:
            raise KeyboardInterrupt

    settings = {"chains": 1, "tune": 20, "cores": 1, "random_seed": 1, "progressbar": False}
    settings["compute_convergence_checks"] = False
    with pytest.raises(KeyboardInterrupt):
        by_pymc(model, draws=100, callback=pressed, **settings)
    assert by_pymc(model, draws=30, **settings)["posterior"].sizes["draw"] == 30


def test_numpyro_samples_on_what_jax_finds():
    pytest.importorskip("numpyro", reason="the extra `jax` is not installed")
    with pm.Model(coords={"side": ["a", "b"]}) as small:
        x = pm.Normal("x", 3, 2, dims="side")
        pm.Deterministic("twice", 2 * x, dims="side")
    settings = {"tune": 100, "draws": 200, "random_seed": 1, "var_names": ["twice"]}
    tree = by_numpyro(small, chains=2, **settings)
    assert dict(tree["posterior"]["twice"].sizes) == {"chain": 2, "draw": 200, "side": 2}
    assert tree["posterior"]["twice"].mean() == pytest.approx(6, abs=2)  # sd of 4


def test_a_missing_numpyro_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpyro", None)
    with pytest.raises(ModelError, match=r"sampler\.backend.*moralscale\[jax\]"):
        by_numpyro(model, chains=2, draws=10, tune=10)
