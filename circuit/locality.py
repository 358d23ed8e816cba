"""Is a plasticity rule local? Reads the rule's own text and sorts its variables by where they live."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from biorrr.circuit.blueprint import Blueprint
from biorrr.models import Pathway


@dataclass(frozen=True)
class Locality:
    """What one plasticity rule reads.

    Parameters
    ----------
    pathway, rule
        Whose rule, and its text.
    pre, post
        Variables of the synapse's two cells.
    own
        The synapse's own variables.
    broadcast
        The same for all synapses of the pathway, told by the neuromodulator.
    elsewhere
        Everything else: what a synapse cannot know.
    """

    pathway: str
    rule: str
    pre: tuple[str, ...]
    post: tuple[str, ...]
    own: tuple[str, ...]
    broadcast: tuple[str, ...]
    elsewhere: tuple[str, ...]

    @property
    def local(self) -> bool:
        """True where the rule reads nothing from elsewhere."""
        return not self.elsewhere

    def __str__(self) -> str:
        verdict = "local" if self.local else f"NOT local: reads {', '.join(self.elsewhere)}"
        read = [
            f"{where} {', '.join(names)}"
            for where in ("pre", "post", "own", "broadcast")
            if (names := getattr(self, where))
        ]
        return f"{self.pathway}: {verdict}; reads {'; '.join(read)}"


def locality(blueprint: Blueprint, pathways: tuple[Pathway, ...] | None = None) -> list[Locality]:
    """Inspect the rules of ``pathways``, or of all of ``blueprint``."""
    return [inspect_rule(blueprint, p) for p in pathways or blueprint.pathways]


def inspect_rule(blueprint: Blueprint, pathway: Pathway) -> Locality:
    """Sort the variables of one rule by where they live."""
    held = {
        "pre": _variables(blueprint.population(pathway.source).equations),
        "post": _variables(blueprint.population(pathway.target).equations),
    }
    nodes = list(ast.walk(ast.parse(pathway.rule)))
    functions = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    read = {node.id for node in nodes if isinstance(node, ast.Name)} - functions - {"inf"}
    own = {"w", *_variables(pathway.equations)}
    # What the rule itself computes on the way, it knows.
    interim = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - own
    where: dict[str, list[str]] = {place: [] for place in ("pre", "post", "own", "broadcast", "elsewhere")}
    for name in sorted(read - interim):
        stem, _, side = name.rpartition("_")
        if side in held and stem in held[side]:
            where[side].append(stem)
        elif name in own:
            where["own"].append(name)
        elif name in blueprint.neuromodulator.broadcast:
            where["broadcast"].append(name)
        else:
            where["elsewhere"].append(name)
    return Locality(pathway.name, pathway.rule, **{place: tuple(names) for place, names in where.items()})


def _variables(equations: str) -> set[str]:
    """Names that Brian2 equations define, one a line: `name : unit` or `name = expression : unit`."""
    lines = (line.split("#")[0].strip() for line in equations.splitlines())
    return {line.split(":")[0].split("=")[0].strip() for line in lines if line}
