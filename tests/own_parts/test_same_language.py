"""Random expressions of the language of equations: the same value on every engine, and in NumPy."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biorrr.circuit import Circuit
from biorrr.models import Population, Step, Variable
from biorrr.models.expressions import evaluate

N = 30  # expressions in one circuit: a program takes seconds to compile
INPUTS = np.random.default_rng(3).uniform(-2, 2, (7, 3))
INPUTS -= INPUTS.mean(axis=0)


# Functions that jump are applied to inputs alone: rounding decides on which side of a jump a
# computed value lies.
JUMPS = [
    *(f"{name}(x - 0.3)" for name in ("sign", "floor", "ceil", "int")),
    *(f"int(x {operator} 0.7)" for operator in ("<", "<=", ">", ">=", "==", "!=")),
    "(x // 0.37)",
    "(x % 0.37)",
    "(x % -0.37)",
    "(x // -0.37)",
]
SMOOTH = ["sin", "cos", "tanh", "arctan", "abs"]


@st.composite
def expressions(draw, depth=4):
    """Draw an expression of x that is finite and well conditioned."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["x", "i", "gain", "0.3", "-1.25", "2", "7.5", "pi", *JUMPS]))
    a, b, c = (draw(expressions(depth - 1)) for _ in range(3))
    return draw(
        st.sampled_from(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"{a} * {b}",
                f"({a}) / (1.5 + ({b}) ** 2)",
                f"abs({a}) ** 1.5",
                f"-({a})",
                f"clip({a}, {b}, {c})",
                f"sqrt(1 + abs({a}))",
                f"exp(clip({a}, -3, 3))",
                f"log1p(abs({a}))",
                *(f"{name}({a})" for name in SMOOTH),
            ]
        )
    )


def outputs(engine, expressions):
    """Return the value of each expression for each of INPUTS, shape (expressions, samples,
    cells)."""
    names = [f"out_{place}" for place in range(len(expressions))]
    code = "\n".join(
        f"{name} = {expression}" for name, expression in zip(names, expressions, strict=True)
    )
    gain = Variable("gain", per="population", role="parameter", value=0.7)
    variables = (Variable("x", role="input"), gain, *(Variable(name) for name in names))
    cells = Population(INPUTS.shape[1], "cells", variables, (Step("output", code),))
    circuit = Circuit([cells], [], engine=engine)
    run = circuit.run(
        {"x": INPUTS}, order="sequential", record=tuple(names), every=1, progress=False
    )
    return np.stack([run.trace(name) for name in names])


def compare(drawn):
    """Compare the values of expressions on two engines with those in NumPy."""
    known = {"x": INPUTS, "i": np.arange(3.0), "gain": 0.7}
    found = {engine: outputs(engine, drawn) for engine in ("numpy", "cpp")}
    for place, expression in enumerate(drawn):
        expected = np.broadcast_to(np.asarray(evaluate(expression, known), float), INPUTS.shape)
        for engine, values in found.items():
            np.testing.assert_allclose(
                values[place], expected, rtol=1e-12, atol=1e-12, err_msg=f"{engine}: {expression}"
            )


@settings(max_examples=2, suppress_health_check=list(HealthCheck))
@given(st.lists(expressions(), min_size=N, max_size=N))
def test_random_expressions_are_the_same_on_numpy_and_cpp(drawn):
    compare(drawn)


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.lists(expressions(), min_size=N, max_size=N))
def test_many_random_expressions_are_the_same(drawn):
    compare(drawn)


def test_what_cancels_out_means_the_same():
    """SymPy finds that these are 0, and Brian2 then looks for a function that it has lost."""
    compare(["sin(pi)", "floor(0.3)", "0 * tanh(x)"])


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_an_assignment_may_read_what_it_assigns_to(engine):
    memory = Variable("v", role="memory", value=0.5)
    step = Step("output", "v = v + 0 * tanh(x)\nv = v - 2 * v + sin(pi) * v", replays=True)
    cells = Population(3, "cells", (Variable("x", role="input"), memory), (step,))
    run = Circuit([cells], [], engine=engine).run(
        {"x": INPUTS}, record="v", every=1, progress=False
    )
    np.testing.assert_allclose(run.trace("v")[:, 0], 0.5 * (-1.0) ** np.arange(1, 8), rtol=1e-12)


@pytest.mark.parametrize("expression", ["clip(x, 0.5 + 0 * x, -0.5)", "clip(x, abs(x), -abs(x))"])
def test_bounds_that_swap_mean_the_same(expression):
    np.testing.assert_allclose(
        outputs("cpp", [expression]), outputs("numpy", [expression]), rtol=1e-12
    )
