"""The likelihood in one pass, against a plain reading and finite differences."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.gradient import NullTypeGradError
from scipy.special import log_expit

from moralscale.fused import log_likelihood

#: How PyTensor runs a graph: as machine code, and plainly.
MODES = ("NUMBA", pytensor.compile.Mode(linker="py", optimizer=None))
N_JUDGES, N_SLOTS, N_COMPARISONS = 3, 11, 2000


@pytest.fixture(scope="module")
def given():
    """Strengths, places, and how often each was chosen: mostly once, or not asked at all."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 2, size=(2, N_JUDGES, N_SLOTS))
    places = rng.integers(0, N_JUDGES * N_SLOTS, size=(2, N_COMPARISONS))
    outcome = rng.integers(-1, 2, N_COMPARISONS)
    often = rng.integers(1, 9, N_COMPARISONS) * (rng.random(N_COMPARISONS) < 0.1)
    return first, second, *places, (outcome == 0) + often, (outcome == 1) + often // 2


def plain(first, second, first_idx, second_idx, won, lost):
    gap = first.ravel()[first_idx] - second.ravel()[second_idx]
    return (won * log_expit(gap) + lost * log_expit(-gap)).sum()


@pytest.fixture(scope="module", params=MODES, ids=["numba", "python"])
def compiled(request, given):
    """Value and gradient, compiled with the judgments in it."""
    first, second = pt.dmatrices("first", "second")
    total = log_likelihood(first, second, *given[2:])
    outputs = [total, *pt.grad(total, [first, second])]
    return pytensor.function([first, second], outputs, mode=request.param)


def test_the_value_is_that_of_the_plain_reading(compiled, given):
    first, second, *judgments = given
    for scale in (0.1, 1.0, 10.0):
        value = compiled(scale * first, scale * second)[0]
        want = plain(scale * first, scale * second, *judgments)
        assert value == pytest.approx(want, rel=1e-12)


def test_slopes_are_differences_of_the_value(compiled, given):
    first, second, *judgments = given
    _, *slopes = compiled(first, second)
    step = 1e-5
    for side, slope in enumerate(slopes):
        for place in np.ndindex(first.shape):
            moved = np.zeros((2, *first.shape))
            moved[side][place] = step
            up = plain(first + moved[0], second + moved[1], *judgments)
            down = plain(first - moved[0], second - moved[1], *judgments)
            assert slope[place] == pytest.approx((up - down) / (2 * step), abs=1e-5)


def test_comparisons_that_nobody_answered_say_nothing(given):
    first, second, *places, won, _ = given
    tables = pt.dmatrices("first", "second")
    total = log_likelihood(*tables, *places, np.zeros_like(won), np.zeros_like(won))
    outputs = [total, pt.grad(total, tables[0])]
    value, slope = pytensor.function(tables, outputs, mode=MODES[1])(first, second)
    assert value == 0
    assert not slope.any()


@pytest.mark.parametrize("gaps", [(-450.0, -300.0), (-455.0, -270.0), (-900.0,), (600.0, -100.0)])
def test_what_can_hardly_be_keeps_its_number(gaps):
    """A chance too small to share a logarithm has one of its own."""
    tables = pt.dmatrices("first", "second")
    places, one = np.arange(len(gaps)), np.ones(len(gaps))
    for often in (1, 5):
        total = log_likelihood(*tables, places, places, often * one, 0 * one)
        value = pytensor.function(tables, total, mode="NUMBA")
        first = np.array([gaps]) / 2
        want = often * log_expit(first * 2).sum()
        assert value(first, -first) == pytest.approx(want, rel=1e-12)


def test_there_are_no_slopes_of_slopes(given):
    first = pt.dmatrix("first")
    slope = pt.grad(log_likelihood(first, *given[1:]), first)
    with pytest.raises(NullTypeGradError, match="FusedLikelihood"):
        pt.grad(slope.sum(), first)
