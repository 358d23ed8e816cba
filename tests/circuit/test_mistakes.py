"""What is wrong with a circuit is said in one sentence when the circuit is made, not inside
Brian2."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from biorrr.circuit import Circuit, Microcircuit
from biorrr.models import (
    ApicalDrive,
    DistalSynapses,
    InterneuronToPyramidal,
    Leaky,
    Pathway,
    Population,
    ProximalSynapses,
    PyramidalNeurons,
    SensoryInput,
    Step,
    Variable,
)


def cells(*variables, size=2, steps=()):
    return Population(size, "vip", variables, steps)


def to_vip(**changes):
    given = {
        "source": "pyramidal",
        "target": "vip",
        "drives": "v",
        "current": "w * z_pre",
        "phase": "recruitment",
    }
    return Pathway("to_vip", **(given | changes))


V = Variable("v", "activity")
MISTAKES = {
    "a name that nobody declares": (
        {"pathways": [replace(DistalSynapses(), change="slope * y_pre * z_post")]},
        (
            "distal.change: reads slope, which nothing declares; add Variable('slope', ...) to"
            " distal, with a value where it is a parameter"
        ),
    ),
    "a rule that is not local": (
        {"pathways": [replace(ProximalSynapses(), change="eta_x * x_pre * plateau")]},
        (
            "proximal.change: reads plateau, which belongs to pyramidal and is not local: a synapse"
            " knows its weight w, its own variables, what its two cells have and what is broadcast;"
            " write plateau_pre or plateau_post for that of its own two cells"
        ),
    ),
    "a rule that reads other weights": (
        {"pathways": [replace(ProximalSynapses(), change="eta_x * x_pre * Q")]},
        "proximal.change: reads Q, which belongs to inhibitory and is not local: a synapse knows",
    ),
    "the supplement's rule that is not local": (
        {
            "pathways": [
                replace(ProximalSynapses(), change="eta_x * x_pre * (a_post - x * Vx * Lagrange)")
            ]
        },
        (
            "proximal.change: reads Lagrange, which nothing declares; add Variable('Lagrange', ...)"
            " to proximal,"
        ),
    ),
    "an order that cannot be satisfied": (
        {
            "populations": [
                replace(
                    PyramidalNeurons(),
                    steps=(Step("output", "plateau = a - inhibition", replays=True),),
                )
            ]
        },
        (
            "pyramidal: reads inhibition of pyramidal in phase 'output', but it is computed only in"
            " phase 'inhibition' of the same tick; move one of them, or declare inhibition as"
            " memory to read that of the tick before"
        ),
    ),
    "a population that does not exist": (
        {"pathways": [to_vip()]},
        (
            "to_vip.target: there is no population called 'vip'; there are clock, neuromodulator,"
            " sensory, instructive, pyramidal, interneurons"
        ),
    ),
    "a current into nothing": (
        {"populations": [cells(V)], "pathways": [to_vip(drives="u")]},
        "to_vip.drives: vip have no variable called 'u'; they have v",
    ),
    "an activity that nothing computes": (
        {"populations": [cells(V)]},
        (
            "vip.v: is an activity that nothing computes; add a step or a pathway that drives it,"
            " or declare it as a parameter"
        ),
    ),
    "a parameter that is assigned to": (
        {"populations": [cells(Variable("v", role="parameter"), steps=[Step("output", "v = 2")])]},
        "vip: a step assigns to v, which is a parameter; declare it as memory to change it",
    ),
    "a broadcast that somebody else changes": (
        {"populations": [cells(Variable("v", role="memory"), steps=[Step("output", "eta_x = v")])]},
        (
            "vip: a step assigns to eta_x, which belongs to neuromodulator; a part changes its own"
            " variables only"
        ),
    ),
    "cells that listen without a pathway": (
        {"populations": [cells(V, steps=[Step("output", "v = z")])]},
        (
            "vip.steps[0]: reads z, which belongs to pyramidal; cells know their own variables and"
            " what is broadcast, and need a Pathway to hear of others"
        ),
    ),
    "two broadcasts of one name": (
        {"populations": [cells(Variable("eta_x", per="circuit", role="parameter"), size=1)]},
        "eta_x: is broadcast by both neuromodulator and vip; rename one of them",
    ),
    **{
        f"a variable called {name}": (
            {
                "pathways": [
                    replace(
                        DistalSynapses(), variables=(Variable(name, per="synapse", role="memory"),)
                    )
                ],
                **more,
            },
            (
                f"distal.{name}: has the name of a variable that the clock broadcasts; give yours"
                " another name"
            ),
        )
        for name, more in {
            "sample": {},
            "duration": {},
            "elapsed": {"departures": [Leaky()]},
        }.items()
    },
    "two matrices of one name": (
        {"populations": [cells(V)], "pathways": [to_vip(weight="R")]},
        "R: names the weights of two pathways; give one of them another name",
    ),
    "a value that changes": (
        {
            "populations": [cells(V, Variable("u", role="parameter", value="2 * v"))],
            "pathways": [to_vip()],
        },
        (
            "vip.u.value: reads v, which is not a parameter; a value is found once, before the"
            " circuit runs"
        ),
    ),
    "pyramidal neurons of another number": (
        {"populations": [PyramidalNeurons(3)]},
        "pyramidal.size: must be 2, as k and interneurons say (got 3)",
    ),
    "a departure applied twice": (
        {"departures": [ApicalDrive(0.1), ApicalDrive(0.2)]},
        (
            "departures: ApicalDrive(gain=0.1) does not go with ApicalDrive(gain=0.2): both give"
            " the apical drive; leave out one"
        ),
    ),
    "a name with a space": (
        {"name": "my circuit"},
        "name: must be a name without spaces (got 'my circuit')",
    ),
    "what is not a departure": (
        {"departures": ["noise"]},
        "departures: must be Departure(...) (got 'noise')",
    ),
    "what is not a pathway": (
        {"pathways": [PyramidalNeurons()]},
        "pathways: must be Pathway(...) (got ",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_sentence_when_the_circuit_is_made(mistake):
    settings, text = MISTAKES[mistake]
    with pytest.raises(ValueError, match=f"^{re.escape(text)}") as caught:
        Microcircuit(2, **settings)
    assert "brian2" not in repr(caught.traceback)


def test_a_departure_that_does_not_fit():
    with pytest.raises(
        ValueError,
        match=(
            r"ApicalDrive\(gain=0.1\): needs a part of kind 'pyramidal', and this circuit has"
            r" clock, sensory"
        ),
    ):
        Circuit([SensoryInput(3)], [], departures=[ApicalDrive(0.1)])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Circuit([SensoryInput()], [], inputs={"x": "sensory.z"}),
            "must be a variable declared with role 'input'",
        ),
        (
            lambda: Circuit([SensoryInput()], [], inputs={}),
            "inputs: nothing sets sensory.x; name a port for each",
        ),
        (
            lambda: Circuit([SensoryInput(3)], []).run({"x": np.eye(2)}, centre=True),
            r"x: must have 3 features, the cells of sensory \(got 2\)",
        ),
        (
            lambda: Circuit([SensoryInput(3)], []).run({"y": np.ones((5, 3))}),
            r"inputs: must be data for x \(got y\)",
        ),
        (
            lambda: Circuit([SensoryInput(3), Population(name="vip")], []).run(
                {"x": np.eye(3)}, centre=True
            ),
            "vip.size: must be given, because no data say how many cells there are",
        ),
    ],
)
def test_ports_and_sizes(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_values_that_depend_on_each_other():
    circular = cells(
        Variable("u", role="parameter", value="1 + v"),
        Variable("v", role="parameter", value="2 * u"),
    )
    with pytest.raises(ValueError, match=r"vip.u.value: depends on itself, by way of vip.u, vip.v"):
        Microcircuit(2, populations=[circular], engine="numpy").run(
            np.eye(3), np.eye(3), centre=True
        )


def test_a_circuit_is_frozen():
    circuit = Microcircuit(2)
    with pytest.raises(AttributeError, match="cannot assign to field 'seed'"):
        circuit.seed = 3
    with pytest.raises(AttributeError, match="cannot assign"):
        circuit.parts = None


def test_nothing_of_this_needs_brian2():
    """A circuit is checked before Brian2 is even imported."""
    script = (
        "import sys; from biorrr.circuit import Microcircuit; from biorrr.models import Leaky,"
        " Spiking\nMicrocircuit(2, departures=[Leaky(), Spiking()]).describe(4, 3);"
        " sys.exit('brian2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_inhibition_that_comes_from_two_places_adds_up():
    """Two pathways that drive one variable: as one pathway of twice the weight."""
    X, Y = np.random.default_rng(0).standard_normal((2, 40, 4))
    Q0 = 0.3 * np.eye(2)
    rates = Microcircuit(2).rates
    second = replace(InterneuronToPyramidal(), name="second", weight="Q2")
    one = Microcircuit(2, rates=rates, engine="numpy", Q0=2 * Q0).run(
        X, Y, centre=True, plastic=False, record="inhibition", every=1, progress=False
    )
    two = Microcircuit(2, rates=rates, engine="numpy", Q0=Q0, pathways=[second]).run(
        X,
        Y,
        centre=True,
        plastic=False,
        record="inhibition",
        every=1,
        progress=False,
        weights={"Q2": Q0},
    )
    np.testing.assert_allclose(one.data["inhibition"], two.data["inhibition"], rtol=1e-12)
