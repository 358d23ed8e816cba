"""The language of equations: what is refused when a part is made."""

import time
from dataclasses import replace

import pytest

from biorrr.errors import InputError, InputTypeError
from biorrr.models import DistalSynapses, Pathway, Population, Step, Variable
from biorrr.models.expressions import evaluate


def change(code):
    return lambda: replace(DistalSynapses(), change=code)


def step(code):
    return lambda: Step("output", code)


REFUSED = {
    "swapped bounds": (
        change("clip(w, 1, -1)"),
        r"distal.change: clip: must have its lower bound first",
    ),
    "a power in place": (
        step("v **= 2"),
        r"must assign with = \+= -= \*= or /=; write v = v \*\* 2",
    ),
    "a truth value": (
        step("v = v > 1"),
        r"compares where a number is needed \(got 'v > 1'\); write int\(a > b\)",
    ),
    "a chain": (step("v = int(0 < v < 1)"), r"must compare two values"),
    "too few arguments": (
        change("clip(w, 1)"),
        r"distal.change: clip: must have 3 arguments \(got 'clip\(w, 1\)'\)",
    ),
    "an attribute": (
        change("w.real"),
        r"distal.change: must be arithmetic or a call of a function \(got 'w.real'\)",
    ),
    "a condition": (change("w if w > 0 else 0"), r"distal.change: must be arithmetic"),
    "a complex number": (change("w * 1j"), r"distal.change: must consist of real numbers"),
    "text": (change("w * 'a'"), r"distal.change: must consist of real numbers"),
    "too large": (change(f"w * {10**400}"), r"distal.change: must consist of real numbers"),
    "a power without end": (
        change("w * 9**9**9"),
        r"distal.change: must have a finite value \(got '9 \*\* 9 \*\* 9'\)",
    ),
    "a division by zero": (
        change("w / 0"),
        r"distal.change: must have a finite value \(got 'w / 0'\)",
    ),
    "two targets": (
        step("v = u = 1"),
        r"must be expressions or assignments to one name \(got 'v = u = 1'\)",
    ),
    "an expression among statements": (
        step("v = 1; v"),
        r"must assign to a name in every statement",
    ),
    "a value without end": (
        lambda: Variable("v", role="parameter", value="9**9**9"),
        r"v.value: must have a finite",
    ),
    "a comment": (change("w # note"), r"distal.change: must be one expression, without a comment"),
    "many levels": (change("-" * 500 + "w"), r"distal.change: must be nested at most 120 deep"),
    "many levels without a name": (step(" + ".join(["1"] * 900)), r"nested at most 120 deep"),
    "no current": (
        lambda: replace(DistalSynapses(), current=""),
        r"distal.current: must be one expression",
    ),
    "time": (step("t = 1"), r"assigns to t, which is a name that Brian2 uses itself"),
    "no pairs": (
        lambda: replace(DistalSynapses(), sums=("v",)),
        r"distal.sums: must have 2 elements each \(got 'v'\)",
    ),
    "no expression": (
        change("eta_y * (y_pre"),
        r"distal.change: cannot be read \('\(' was never closed\)",
    ),
    "a branch": (step("if v > 1: v = 1"), r"must be expressions or assignments to one name"),
    "too deep": (change("-" * 20_000 + "w"), r"distal.change: cannot be read"),
    "a local name of C++": (
        step("double = 2 * v\nv = double"),
        r"assigns to double, which is a word of Python or of C\+\+",
    ),
    "a phase that does not exist": (
        lambda: Step("noon", "v = 1"),
        r"Step.phase: must be one of 'input', 'feedback",
    ),
    "a statement": (
        change("w += y_pre"),
        r"distal.change: must be an expression, not a statement \(it assigns to w\)",
    ),
    "an unknown function": (
        change("relu(y_pre)"),
        r"distal.change: calls relu, which is not a function; there are sin",
    ),
    "a unit": (
        change("3 * mV"),
        r"distal.change: reads mV, which is a unit; a variable must have another name",
    ),
    "Brian2's time": (
        change("w * t"),
        r"distal.change: reads t, which is a name that Brian2 uses itself",
    ),
    "no real number": (
        change("w * sqrt(-1)"),
        r"distal.change: must have a finite value \(got 'sqrt\(-1\)'\)",
    ),
    "two sums in one": (
        lambda: replace(DistalSynapses(), sums=(("a", "w"),)),
        r"distal.sums: must fill each variable once \(got a, a\)",
    ),
    "a value that is no number": (
        lambda: Variable("v", value=float("nan")),
        r"v.value: must be a number or an expr",
    ),
    "a broadcast of many": (
        lambda: Population(2, "vip", (Variable("dopamine", per="circuit"),)),
        r"vip.dopamine: is declared per circuit, but vip do not have exactly one cell",
    ),
    "a variable of synapses in cells": (
        lambda: Population(2, "vip", (Variable("v", per="synapse"),)),
        r"vip.v: is declared per synapse; per must be one of cell, population, circuit",
    ),
    "a name declared twice": (
        lambda: Population(2, "vip", (Variable("v"), Variable("v"))),
        r"vip: declares v twice",
    ),
    "a function as a name": (
        step("exp = 2"),
        r"assigns to exp, which is a function or a constant of the language",
    ),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_wrong_code_is_refused_when_the_part_is_made(refused):
    make, text = REFUSED[refused]
    with pytest.raises(InputError, match=text):
        make()


@pytest.mark.parametrize(
    "name", ["double", "register", "template", "true", "this", "M_PI", "exp", "inf", "mV", "None"]
)
def test_names_with_another_meaning_are_refused(name):
    with pytest.raises(InputError, match=r"Variable.name: must be a name "):
        Variable(name)


def test_parts_have_such_names_neither():
    for make in (
        lambda: Population(2, "namespace"),
        lambda: Pathway("class"),
        lambda: Population(2, "a b"),
    ):
        with pytest.raises(InputError, match=r"name: must be a name"):
            make()


@pytest.mark.parametrize(
    "make", [change(5), step(None), lambda: Variable(3), lambda: Population(2, 7)]
)
def test_what_is_not_text_is_refused(make):
    with pytest.raises(InputTypeError, match=r": must be text"):
        make()


def test_a_power_without_end_takes_no_time():
    before = time.perf_counter()
    assert evaluate("9**9**9", {}) == float("inf")
    assert evaluate("2**-1 + 2**3", {}) == 8.5
    assert time.perf_counter() - before < 1
