"""Parts as plain values: equal, hashable, picklable, and refused in words where they cannot be."""

import pickle
from dataclasses import replace

import pytest

from biorrr.errors import InputError
from biorrr.models import (
    AllOrNone,
    Clock,
    DalesLaw,
    DistalSynapses,
    InstructiveInput,
    Interneurons,
    InterneuronToPyramidal,
    Leaky,
    LoopDelay,
    Neuromodulator,
    Parts,
    Pathway,
    Population,
    ProximalSynapses,
    PyramidalNeurons,
    PyramidalToInterneuron,
    Rates,
    SensoryInput,
    SparseConnections,
    Spiking,
    Step,
    TransmissionNoise,
    Variable,
    apply_departures,
    with_values,
)

POPULATIONS = (SensoryInput, InstructiveInput, PyramidalNeurons, Interneurons)
PATHWAYS = (
    ProximalSynapses(),
    DistalSynapses(),
    PyramidalToInterneuron(),
    InterneuronToPyramidal(),
)
RATES = Rates(0.0)
PAPER = Parts(
    (Clock(), Neuromodulator(RATES), *(population(3) for population in POPULATIONS)), PATHWAYS
)


def test_the_paper_s_four_matrices_and_the_one_that_is_subtracted():
    assert {p.weight: PAPER.sign(p) for p in PATHWAYS} == {"Vx": 1, "Vy": 1, "R": 1, "Q": -1}


def test_a_current_is_subtracted_where_its_target_says_so():
    currents = [Variable("drive"), Variable("brake"), Variable("z")]
    cells = Population(1, "cell", currents, [Step("output", "z = drive - 2 * brake")])
    up, down = (Pathway(name, "cell", "cell", drives=name) for name in ("drive", "brake"))
    parts = Parts((cells,), (up, down))
    assert (parts.sign(up), parts.sign(down)) == (1, -1)


def test_parts_are_values():
    assert ProximalSynapses() == ProximalSynapses()
    oja = replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)")
    assert oja != DistalSynapses()
    assert oja == replace(DistalSynapses(), change=oja.change)
    assert len({oja, replace(DistalSynapses(), change=oja.change), DistalSynapses()}) == 2
    assert pickle.loads(pickle.dumps(oja)) == oja


def test_departed_parts_are_values_too():
    all_of_them = [
        SparseConnections(0.5, 0.5),
        TransmissionNoise(0.1),
        LoopDelay(2),
        Spiking(),
        AllOrNone(1.0),
        DalesLaw(("Vx", "Q")),
        Leaky(),
    ]
    parts = apply_departures(PAPER, all_of_them)
    assert parts == apply_departures(PAPER, all_of_them)
    assert pickle.loads(pickle.dumps(parts)) == parts
    assert hash(parts) != hash(PAPER)
    assert "elapsed" in parts["clock"].declared


def test_having_replaces_by_name_and_adds_the_rest():
    more = PAPER.having(PyramidalNeurons(7), Population(2, "vip"))
    assert more["pyramidal"].size == 7
    assert [p.name for p in more.populations] == [*(p.name for p in PAPER.populations), "vip"]
    assert PAPER["pyramidal"].size == 3


def test_values_can_be_replaced_by_name():
    valued = with_values(Neuromodulator(RATES), eta0_x=0.5)
    assert [v.value for v in valued.variables if v.name == "eta0_x"] == [0.5]
    with pytest.raises(
        ValueError, match="neuromodulator: has no variable called 'eta'; it has eta_x, eta_y, "
    ):
        with_values(Neuromodulator(RATES), eta=1.0)


@pytest.mark.parametrize("population", POPULATIONS)
def test_populations_have_cells(population):
    with pytest.raises(
        ValueError,
        match=rf"^{population().name}.size: must be a whole number, at least 1 \(got 0\)",
    ):
        population(0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Variable("z_post"),
            r"Variable.name: must be a name that equations can use \(got 'z_post'\); not i, j, w",
        ),
        (
            lambda: Variable("w"),
            r"Variable.name: must be a name that equations can use \(got 'w'\)",
        ),
        (
            lambda: Variable("my var"),
            r"Variable.name: must be a name without spaces \(got 'my var'\); letters, digits and _",
        ),
        (
            lambda: Variable("v", per="neuron"),
            "v.per: must be one of 'cell', 'population', 'synapse', 'pathway'",
        ),
        (
            lambda: Variable("v", role="state"),
            "v.role: must be one of 'activity', 'memory', 'parameter', 'input'",
        ),
        (lambda: Population(3), r"Population.name: must be a name without spaces \(got ''\)"),
        (
            lambda: Population(3, "vip", ["v"]),
            r"vip.variables: must be Variable\(...\) \(got 'v'\)",
        ),
        (
            lambda: Population(3, "vip", steps=["v = 1"]),
            r"vip.steps: must be Step\(...\) \(got 'v = 1'\)",
        ),
        (
            lambda: Parts((Population(1, "a"), Population(1, "a")), ()),
            "a: names two parts of the circuit",
        ),
        (
            lambda: Parts((), (Population(1, "a"),)),
            r"circuit.pathways: must be Pathway\(...\) \(got Population",
        ),
        (
            lambda: PAPER["granule"],
            "the circuit has no part called 'granule'; it has clock, neuromodulator, sensory",
        ),
        (
            lambda: PAPER.having("vip"),
            r"parts: must be one of Population\(...\), Pathway\(...\) \(got 'vip'\)",
        ),
        (lambda: Pathway("to vip", "a", "b"), "Pathway.name: must be a name without spaces"),
    ],
)
def test_errors_say_what_to_do(make, text):
    with pytest.raises(InputError, match=text):
        make()


def test_steps_know_whether_they_replay():
    assert not Step("output", "z = 1").replays
    assert PyramidalNeurons(1).steps == (Step("plateau", "plateau = a - inhibition", replays=True),)


def test_parts_are_found_by_their_kind_in_every_area_or_in_one():
    areas = tuple(Population(2, f"pyramidal_{i}", kind="pyramidal", area=i) for i in (1, 2))
    parts = Parts(
        (Population(3, "granule"), *areas),
        (Pathway("w_2", "granule", "pyramidal_2", kind="w", area=2),),
    )
    assert parts.all(kind="pyramidal") == areas
    assert parts.all(kind="pyramidal", area=2) == areas[1:]
    assert [part.name for part in parts.all(kind="w")] == ["w_2"]
    assert (
        parts.all(kind="granule") == parts.populations[:1]
    )  # a part is of its own kind where none is given
    assert parts.all(kind="basket") == ()


def test_a_part_of_ones_own_has_the_kind_of_the_part_whose_place_it_takes():
    parts = Parts((Population(2, "interneurons", kind="interneuron", area=3),), ())
    (own,) = parts.having(Population(2, "interneurons", meaning="mine")).all(
        kind="interneuron", area=3
    )
    assert own.meaning == "mine"
    other = parts.having(Population(2, "interneurons", kind="basket"))
    assert other.all(kind="interneuron") == ()
