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

_OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "===",
    ast.NotEq: "!==",
    ast.USub: "-",
    ast.UAdd: "+",
}
_CALLED: dict[type, str] = {ast.Pow: "_pow", ast.Mod: "_mod", ast.FloorDiv: "_floordiv"}
_SPELLING = {"int": "trunc", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "ceil": "ceil"}
_OURS = ("clip", *DRAWS)  # functions that the page brings along
# Words of JavaScript that are names elsewhere.
_RESERVED = frozenset(
    """
    arguments await debugger eval extends function implements in instanceof interface let null
    package super undefined var
    """.split()  # noqa: SIM905
)


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
        return f"{name}$" if name in _RESERVED else name

    def expression(self, expression: str) -> str:
        """Return ``expression`` in JavaScript."""
        return self._written(ast.parse(expression, mode="eval").body)

    def _written(self, node: ast.expr) -> str:
        """Return a node of an expression, in parentheses where it consists of several."""
        if isinstance(node, ast.Constant):
            return repr(float(node.value)).replace("inf", "Infinity")  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            constants = {"inf": "Infinity", "pi": "Math.PI"}
            return constants.get(node.id) or self.local(node.id)
        if isinstance(node, ast.UnaryOp):
            return f"({_OPERATORS[type(node.op)]}{self._written(node.operand)})"
        if isinstance(node, ast.Compare):
            sign = _OPERATORS[type(node.ops[0])]
            return f"({self._written(node.left)} {sign} {self._written(node.comparators[0])})"
        if isinstance(node, ast.BinOp):
            left, right = self._written(node.left), self._written(node.right)
            if called := _CALLED.get(type(node.op)):
                return f"{called}({left}, {right})"
            return f"({left} {_OPERATORS[type(node.op)]} {right})"
        assert isinstance(node, ast.Call)
        return self._call(ast.unparse(node.func), node.args)

    def _call(self, name: str, arguments: list[ast.expr]) -> str:
        """Return the call of a function of the language."""
        written = ", ".join(map(self._written, arguments))
        if name == "int" and isinstance(arguments[0], ast.Compare):
            return f"({written} ? 1 : 0)"
        return (
            f"_{name}({written})"
            if name in _OURS
            else f"Math.{_SPELLING.get(name, name)}({written})"
        )


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
