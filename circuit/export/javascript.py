"""The program of a circuit in JavaScript: the loops of engine `cpp`, with the same numbers.

All values are of double precision and every draw is that of the engines, so results differ from
theirs by rounding alone.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.engines.cpp_source import CppFunction, Translator, array_of, render
from biorrr.circuit.export import TEMPLATES
from biorrr.models.random_draws import DRAWS, LARGEST_MEAN

_CALLED: dict[type, str] = {ast.Pow: "_pow", ast.Mod: "_mod", ast.FloorDiv: "_floordiv"}
_SPELLING = {"int": "trunc", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_OURS = ("clip", *DRAWS)  # functions that the page brings along
# Words of JavaScript that are names elsewhere.
_RESERVED = (
    *("arguments", "await", "debugger", "eval", "extends", "function", "implements", "in"),
    *("instanceof", "interface", "let", "null", "package", "super", "undefined", "var"),
)
_NAMES = {"inf": "Infinity", "pi": "Math.PI", **{word: f"{word}$" for word in _RESERVED}}


class _Spelling(ast.NodeTransformer):
    """An expression as JavaScript spells it, where all values are floating-point."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(float(node.value))  # type: ignore[arg-type]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(_NAMES.get(node.id, node.id))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        # Two signs in a row would mean something else.
        sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
        return ast.BinOp(ast.Constant(sign), ast.Mult(), self.visit(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        called = _CALLED.get(type(node.op))
        return ast.Call(ast.Name(called), [node.left, node.right], []) if called else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func)
        spelled = f"_{name}" if name in _OURS else f"Math.{_SPELLING.get(name, name)}"
        if name == "int" and isinstance(node.args[0], ast.Compare):
            spelled = "Number"
        return ast.Call(ast.Name(spelled), [self.visit(each) for each in node.args], [])


class JavaScript(Translator):
    """Turns operations into JavaScript functions, which have the loops of those in C++.

    Parameters
    ----------
    blueprint
        The circuit.
    """

    declares = "let"

    def __init__(self, blueprint: Blueprint) -> None:
        super().__init__(blueprint, str)

    def function(self, operation: Operation) -> CppFunction:
        """Return the function of ``operation``; synapses of inputs that are silent are left out."""
        step = super().function(operation)
        if not step.driver:
            return step
        active = active_of(step.driver)
        return replace(step, sources=(f"{active}.begin", f"{active}.end"))

    def local(self, name: str) -> str:
        """Return the name of a local variable that holds what the code calls ``name``."""
        return _NAMES.get(name, name)

    def expression(self, expression: str) -> str:
        """Return ``expression`` in JavaScript."""
        return ast.unparse(_Spelling().visit(ast.parse(expression, mode="eval")))


def active_of(key: str) -> str:
    """Return the range of cells in which an input may not be 0, in JavaScript."""
    return f"_circuit.active_{key.replace('.', '_')}"


def write_program(circuit: Blueprint) -> str:
    """Return the JavaScript of ``circuit``: a function that makes circuits with memories of their
    own.
    """
    program, translator = circuit.program, JavaScript(circuit)
    steps = {one: translator.function(one) for one in program.operations}
    rates = broadcast_rates(circuit)
    return render(
        TEMPLATES / "circuit.js",
        largest_mean=LARGEST_MEAN,
        steps=steps.values(),
        blocks=[
            (f"{presented}_{name}", [(steps[one], sorted(one.writes & rates)) for one in block])
            for presented, name, block in program.blocks
        ],
        circuit=circuit,
        ports=[
            {
                "name": port.name,
                "array": array_of(port.key),
                "active": active_of(port.key),
                "size": circuit.sizes[port.name],
                "moves": port.name in circuit.moving_ports,
            }
            for port in circuit.ports
        ],
    )


def broadcast_rates(circuit: Blueprint) -> frozenset[str]:
    """Return the learning rates that are broadcast anew, as "part.variable": those that a slider
    can turn.
    """
    return frozenset(
        f"{part.name}.{variable.name}"
        for part in circuit.parts.populations
        for variable in part.variables
        if variable.per == "circuit"
        and variable.role == "activity"
        and variable.name.startswith("eta_")
    )
