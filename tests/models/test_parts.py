"""Neurons and synapses as descriptions: text, sizes and names that fit together."""

import re

import pytest

from biorrr.models import (
    DistalSynapses,
    InstructiveInput,
    Interneurons,
    InterneuronToPyramidal,
    ProximalSynapses,
    PyramidalNeurons,
    PyramidalToInterneuron,
    SensoryInput,
)

POPULATIONS = (SensoryInput, InstructiveInput, PyramidalNeurons, Interneurons)
PATHWAYS = (ProximalSynapses, DistalSynapses, PyramidalToInterneuron, InterneuronToPyramidal)


def test_the_paper_s_four_matrices():
    assert [p.weight for p in PATHWAYS] == ["Vx", "Vy", "R", "Q"]


@pytest.mark.parametrize("pathway", PATHWAYS)
def test_rules_and_currents_name_what_their_cells_hold(pathway):
    held = {p.name: p.equations for p in POPULATIONS}
    for name, side in re.findall(r"(\w+)_(pre|post)\b", f"{pathway.current} {pathway.rule}"):
        cell = pathway.source if side == "pre" else pathway.target
        assert re.search(rf"^\s*{name} :", held[cell], re.MULTILINE), f"{cell} has no {name}"


def test_currents_flow_soma_first():
    """z and a, then n, then inhibition: within one tick each needs the one before."""
    order = {p.weight: p.order for p in PATHWAYS}
    assert max(order["Vx"], order["Vy"]) < order["R"] < order["Q"]


def test_only_inhibition_is_subtracted():
    assert {p.weight: p.sign for p in PATHWAYS} == {"Vx": 1, "Vy": 1, "R": 1, "Q": -1}
    assert PyramidalNeurons.update == "plateau = a - inhibition"


@pytest.mark.parametrize("population", POPULATIONS)
def test_recordable_quantities_exist(population):
    for trace in population.traces:
        assert re.search(rf"^\s*{trace} :", population.equations, re.MULTILINE)


@pytest.mark.parametrize("population", POPULATIONS)
def test_populations_have_cells(population):
    with pytest.raises(ValueError, match=rf"^{population.__name__}.size: must be a whole number, at least 1 \(got 0\)"):
        population(0)
