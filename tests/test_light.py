"""Light operations: the numbers of PyTensor's own, where they are taken, and where they are not."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.pytensorf import gradient

from moralscale.arrays import make_arrays
from moralscale.composition import get_rule
from moralscale.light import LightDot, LightIncrement, LightSum, light_mode
from moralscale.machine import compile_model
from moralscale.model import build_model
from moralscale.priors import load_priors
from moralscale.warmup.density import Density

PLAIN = pytensor.compile.Mode(linker="py", optimizer=None)


def matrix(rows, columns, dtype="float64"):
    return pt.tensor(dtype=dtype, shape=(rows, columns))


def both_ways(inputs, output, *values):
    """Compile as a model is and as PyTensor's reference does; operations, and both results."""
    light = pytensor.function(inputs, output, mode=light_mode())
    plain = pytensor.function(inputs, output, mode=PLAIN)
    found = {type(node.op) for node in light.maker.fgraph.apply_nodes}
    return found, light(*values), plain(*values)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("shape", [(10, 160, 5), (10, 5, 160), (4, 3, 1), (1, 7, 7), (3, 0, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products(shape, order, rng):
    n, k, m = shape
    x, y = matrix(n, k), matrix(k, m)
    values = [np.asarray(rng.normal(size=s), order=order) for s in ((n, k), (k, m))]
    found, light, plain = both_ways([x, y], x @ y, *values)
    assert LightDot in found or 0 in shape
    np.testing.assert_allclose(light, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(10, 229), (1, 4), (5, 1)])
def test_sums_over_an_axis(shape, axis, rng):
    x = matrix(*shape)
    for given in (rng.normal(size=shape), rng.normal(size=shape[::-1]).T):
        found, light, plain = both_ways([x], x.sum(axis=axis), given)
        assert LightSum in found or shape[axis] == 1
        np.testing.assert_allclose(light, plain, rtol=1e-12)


def test_columns_are_added_to_once_for_every_mention(rng):
    x, y = matrix(3, 5), matrix(3, 4)
    columns = np.array([4, 0, 4, 2])
    given = [rng.normal(size=(3, 5)), rng.normal(size=(3, 4))]
    before = given[0].copy()
    found, light, plain = both_ways([x, y], x[:, columns].inc(y), *given)
    assert LightIncrement in found
    np.testing.assert_allclose(light, plain, rtol=1e-12)
    assert light[0, 4] == pytest.approx(before[0, 4] + given[1][0, 0] + given[1][0, 2])
    np.testing.assert_array_equal(given[0], before)  # what is given is left as it is


def test_parts_are_those_that_sizes_say(rng):
    x = matrix(3, 9)
    parts = pt.split(x, [2, 3, 4], axis=1)
    _, light, plain = both_ways([x], [2 * part for part in parts], rng.normal(size=(3, 9)))
    for one, other in zip(light, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_many_scalars_are_added_up(rng):
    x = pt.dvector()
    total = pt.add(*[pt.exp(x[k]) for k in range(12)])
    _, light, plain = both_ways([x], total, rng.normal(size=12))
    assert light == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        (lambda: [pt.dmatrix(), pt.dmatrix()], lambda x, y: x @ y),
        (lambda: [matrix(3, 3, "float32"), matrix(3, 3, "float32")], lambda x, y: x @ y),
        (lambda: [matrix(3, 3)], lambda x: x.sum()),
        (lambda: [matrix(3, 3), matrix(3, 2)], lambda x, y: x[:, [0, -1]].inc(y)),
        (lambda: [matrix(3, 3), matrix(3, 1)], lambda x, y: x[:, [0, 1]].inc(y)),
        (lambda: [matrix(3, 3), matrix(3, 2)], lambda x, y: x[:, [0, 1]].set(y)),
        (lambda: [matrix(3, 3), matrix(2, 3)], lambda x, y: x[[0, 1]].inc(y)),
    ],
)
def test_what_the_loops_are_not_for_is_left_to_pytensor(inputs, output, rng):
    given = inputs()
    values = [
        rng.normal(size=[n or 3 for n in one.type.shape]).astype(one.type.dtype) for one in given
    ]
    found, light, plain = both_ways(given, output(*given), *values)
    assert not found & {LightDot, LightSum, LightIncrement}
    np.testing.assert_allclose(light, plain, rtol=1e-6)


@pytest.mark.parametrize("rule", ["anchored", "compressed"])
def test_a_model_is_that_of_the_plain_mode(
    rule, few_judgments, tiny_scenes, few_composites, project, rng
):
    arrays = make_arrays(few_judgments, tiny_scenes, few_composites, data="bridged")
    priors = load_priors(project / "config/priors/default.yaml")
    model = build_model(arrays, priors, get_rule(rule), centred=True)
    machine = compile_model(model, ["theta", "phi"])
    found = {type(node.op) for node in machine.logp_func.maker.fgraph.apply_nodes}
    assert found >= {LightDot, LightSum, LightIncrement}
    density = Density(machine)
    x = 0.3 * rng.normal(size=density.size)
    point = {name: x[place].reshape(density.shapes[name]) for name, place in density.places.items()}
    factors = model.logp(sum=False)
    total = sum(factor.sum() for factor in factors)
    outputs = [*factors, gradient(total, model.value_vars)]
    *terms, slope = model.compile_fn(outputs, inputs=model.value_vars, mode=PLAIN)(point)
    value, found_slope = density(x)
    assert value == pytest.approx(sum(term.sum() for term in terms), rel=1e-12)
    np.testing.assert_allclose(found_slope, slope, rtol=1e-9, atol=1e-9)
