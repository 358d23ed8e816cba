"""The C++ program computes what the Brian2 network computes, and passes over what has nothing to
say.
"""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.circuit import Circuit, Microcircuit
from biorrr.circuit.engines import compiler
from biorrr.circuit.engines.cpp_source import write_source
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import (
    DalesLaw,
    DistalSynapses,
    InterneuronToPyramidal,
    Pathway,
    Population,
    ProximalSynapses,
    PyramidalToInterneuron,
    SensoryInput,
    SparseConnections,
    Step,
    Variable,
)
from biorrr.models.expressions import silencers

EXACT = {"rtol": 0, "atol": 1e-12}


@pytest.mark.parametrize(
    ("pathway", "silent"),
    [
        (ProximalSynapses(), {"x_pre", "eta_x", "plateau_post"}),
        (DistalSynapses(), {"eta_y"}),  # decay goes on where y is silent
        (InterneuronToPyramidal(), {"eta_q"}),
        (PyramidalToInterneuron(), {"eta_r"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_silences_plasticity(pathway, silent):
    assert silencers(pathway.change) == silent


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_rule_that_changes_nothing(data, engine):
    X, Y = data[0][:40], data[1][:40]
    circuit = Microcircuit(
        2, pathways=[replace(DistalSynapses(), change="0 * eta_y * w")], engine=engine
    )
    run = circuit.run(X, Y, progress=False)
    np.testing.assert_array_equal(run.data["Vy"][-1], run.data["Vy"][0])
    assert np.any(run.data["Vx"][-1] != run.data["Vx"][0])


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_circuit_without_weights(data, engine):
    run = Circuit([SensoryInput(6)], [], engine=engine).run(
        {"x": data[0][:40]}, record="x", every=1, progress=False
    )
    np.testing.assert_array_equal(run.data["x"], data[0][run.data["data_row"]])


def test_silent_fibres_and_factors_that_are_zero_are_skipped():
    """In the code itself, with departures that wrap the rule too: a mistake here would cost speed,
    not correctness.
    """
    circuit = Microcircuit(
        2, engine="cpp", departures=[SparseConnections(0.5, 0.5), DalesLaw(("Vx",))]
    )
    source = write_source(circuit.blueprint(6, 4).code)

    def of(name):
        return source.partition(f"static void {name}(Circuit &_circuit,")[2].partition("\n}\n")[0]

    def block(name):
        return source.partition(f"void {name}(Circuit &_circuit)\n")[2].partition("\n}\n")[0]

    def due(name):
        (call,) = (
            line.strip().partition(f" {name}(_circuit,")[0]
            for line in (block("sample_end") + block("replay_end")).splitlines()
            if f" {name}(_circuit," in line
        )
        return call.removeprefix("if (").removesuffix(")").split(" && ")

    for step in ("proximal_change", "proximal_replay_alone"):
        assert "any(_circuit.neuromodulator.eta_x[0] != 0)" in due(step)
        assert "any(_circuit.proximal.plastic[0] != 0)" in due(step)
    assert "_i = 0; _i < 6" in of("proximal_change")
    assert "proximal_change(" in block("sample_end")
    assert "proximal_replay_alone(" in block("replay_end")
    assert "_change" not in block("replay_end")
    assert "any(_circuit.neuromodulator.replay_gain[0] != 0)" in due("proximal_replay_alone")
    for step in ("proximal_z_alone", "proximal_replay_alone"):
        assert "_i = _circuit._replayed[_lane]" in of(step)
    assert "distal_a_silent(" in block("replay_tick")
    assert "_i = 0; _i < 4" in of("distal_change")
    assert "sensory_drive_energy_x(" in block("sample_tick")
    assert "sensory_drive" not in block("replay_tick")


def test_exp_of_one_cell_at_a_time_gives_the_same(tmp_path, monkeypatch, current_clamp):
    """As compilers and C libraries without functions of several values compile it."""
    settings = {"cells": 21, "duration": 20.0, "record": ("Vs", "Vd", "calcium")}
    expected = current_clamp(600.0, 300.0, engine="numpy", **settings)
    for name, flags in {"as found": (), "elsewhere": ("-D__clang__",)}.items():
        monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / name))
        monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, *flags))
        run = current_clamp(600.0, 300.0, engine="cpp", **settings)
        for variable in settings["record"]:
            np.testing.assert_allclose(
                run.data[variable], expected.data[variable], rtol=1e-12, atol=1e-12
            )
    (program,) = (tmp_path / "elsewhere" / "circuits").glob("circuit-*")
    assert (
        b"v_exp" not in program.read_bytes()
    )  # with which the name of glibc's exp of several values ends


LANGUAGE = """
third = 1 / 3
wrapped = (i - 5) % 4 + (i * 1.5 - 4) // 2
v = third * x + wrapped - abs(x) ** 2 + int(x > 0.5) + int(3 * x)
v += clip(x, -0.5, inf) * sign(x) + int(x > 0) * int(i < 4) + sqrt(abs(x)) - pi
v *= exp(-x / 3) / (1 + exp(tanh(x) - v)) + arctan(x) + log1p(abs(x)) + floor(x) - ceil(x / 2)
memory = 0.5 * memory + v
"""
CELLS = Population(
    9,
    "cells",
    (Variable("x", role="input"), Variable("v"), Variable("memory", role="memory")),
    (Step("input", LANGUAGE),),
)
SHARED = Population(
    9,
    "cells",
    (
        Variable("x", role="input"),
        Variable("level", per="population", role="memory"),
        Variable("v"),
    ),
    (Step("input", "level = 0.5 * level + 1\nv = level * x"),),
)


@pytest.fixture
def nine_inputs(data):
    return np.hstack([data[0], data[0][:, :3]])[:60]


@pytest.mark.parametrize("cells", [CELLS, SHARED], ids=["functions", "shared"])
def test_the_equation_language_is_the_same_on_every_engine(cells, nine_inputs):
    v = [
        Circuit([cells], [], engine=engine)
        .run({"x": nine_inputs}, record="v", every=1, progress=False)
        .data["v"]
        .values
        for engine in ("numpy", "cpp")
    ]
    assert v[0].max() - v[0].min() > 1
    np.testing.assert_allclose(v[1], v[0], **EXACT)


@pytest.mark.parametrize(
    "code", ["v = x\nlevel = 0.5 * level", "level = x\nv = x"], ids=["after", "from a cell"]
)
def test_what_cells_share_is_set_first_and_from_shared_values(code, nine_inputs):
    cells = replace(SHARED, steps=(Step("input", code),))
    with pytest.raises(
        ValueError, match=r"^cells\.level: is one for all, so a step must set it before"
    ):
        Circuit([cells], [], engine="cpp").run({"x": nine_inputs}, progress=False)


def test_cells_of_a_pathway_are_counted_in_its_code(data):
    """`i` and `j` are the numbers of the two cells of a synapse."""
    sensory = SensoryInput(6)
    target = Population(3, "target", (Variable("u"),))
    pathway = Pathway(
        "fan",
        "sensory",
        "target",
        "u",
        "w * x_pre + mark",
        "drive",
        variables=(Variable("mark", per="synapse"),),
        steps=(Step("input", "mark = 10 * i + j / 4"),),
    )
    u = [
        Circuit([sensory, target], [pathway], engine=engine)
        .run({"x": data[0][:20]}, record="u", every=1, progress=False)
        .data["u"]
        .values
        for engine in ("numpy", "cpp")
    ]
    np.testing.assert_allclose(u[1], u[0], **EXACT)


@pytest.mark.parametrize(("what", "drawn"), [("order", "rows"), ("replay", "replayed")])
@pytest.mark.parametrize("stray", [40, -1])
def test_nothing_outside_the_data_is_presented(what, drawn, stray, data, make_circuit, monkeypatch):
    """Compiled code would read it, or end Python."""
    draw = getattr(Presentation, drawn)

    def draw_stray(presentation, start, stop):
        entries = draw(presentation, start, stop)
        entries[7] = stray
        return entries

    monkeypatch.setattr(Presentation, drawn, draw_stray)
    with pytest.raises(RuntimeError, match=f"^{what}: must lie in .*, within the data"):
        make_circuit("cpp", ridge=0.1, replay=2).run(data[0][:40], data[1][:40], progress=False)
