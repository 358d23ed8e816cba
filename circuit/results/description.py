"""The model in readable text, made from the objects that are simulated, and what each rule
reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import ORDER, Operation
from biorrr.circuit.compile.program import Blocks
from biorrr.circuit.results.tables import Tabled, Text
from biorrr.models import Parts, Pathway, Population
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings

_TITLES = {
    ("onset", False): "When a sample comes on",
    ("tick", False): "In every tick",
    ("end", False): "When the sample ends",
    ("onset", True): "When an input is replayed",
    ("tick", True): "In every tick of replay",
    ("end", True): "When the replay ends",
}


def describe(blueprint: Blueprint, unknown: Mapping[str, str] | None = None) -> Text:
    """Return all populations and their variables, all pathways with current and rule, and what
    happens in which order.

    Parameters
    ----------
    blueprint
        The circuit.
    unknown
        What stands in place of the sizes of populations that no data have set yet, by name.
    """
    sizes = {p.name: str(p.size) for p in blueprint.parts.populations} | dict(unknown or {})
    lines = ["Cells"]
    for population in (p for p in blueprint.parts.populations if p.shape):
        lines += _population(population, sizes)
    lines += ["", "Pathways, in the order in which their currents flow"]
    for pathway in sorted(blueprint.parts.pathways, key=lambda p: ORDER[p.phase]):
        lines += _pathway(pathway, blueprint, sizes)
    lines += ["", "Broadcast to all"]
    for population in (p for p in blueprint.parts.populations if not p.shape):
        lines += _population(population, sizes)
    program = blueprint.program
    lines += [*_blocks(program.sample, False), *_blocks(program.replay, True)]
    return Text("\n".join(lines))


def _blocks(blocks: Blocks, replay: bool) -> list[str]:
    """Return what happens in each block, phase by phase."""
    lines = []
    for name, block in blocks.items():
        if block:
            lines += ["", _TITLES[name, replay]]
        for phase, operations in groupby(block, key=lambda operation: operation.phase):
            lines.append(f"  {phase}: {'; '.join(dict.fromkeys(map(_in_words, operations)))}")
    return lines


def _population(population: Population, sizes: Mapping[str, str]) -> list[str]:
    title = f"  {population.name} ({sizes[population.name]}): {population.meaning}".rstrip(": ")
    return [title, *_variables(population), *_steps(population)]


def _in_words(operation: Operation) -> str:
    """Return an operation in a few words."""
    if operation.fills:
        return f"{operation.fills} by {operation.part}"
    return operation.code if operation.name.endswith("_total") else operation.part


def _pathway(pathway: Pathway, blueprint: Blueprint, sizes: Mapping[str, str]) -> list[str]:
    weight = f", {pathway.weight}" if pathway.weighted else ""
    effect = "adds to" if blueprint.parts.sign(pathway) > 0 else "is subtracted from"
    lines = [
        f"  {pathway.name}{weight}: {pathway.source} ({sizes[pathway.source]}) to"
        f" {pathway.target} ({sizes[pathway.target]}), {effect} its target."
        f" {pathway.meaning}".rstrip(),
        *_variables(pathway),
        *(
            f"      {drives} += {current}  # summed over synapses"
            for drives, current in pathway.currents
        ),
    ]
    averaged = blueprint.timing.duration > 1 and pathway.block == "tick"
    when = "  # mean over the ticks of the sample" if averaged else ""
    lines += [f"      w += {pathway.change}{when}"] if pathway.change else []
    lines += [f"      w += {pathway.replay}  # in replay"] if pathway.replay else []
    lines += [f"      w = {pathway.bound}  # bound"] if pathway.bound else []
    lines += _steps(pathway)
    return [*lines, f"      # {pathway.equation}"] if pathway.equation else lines


def _variables(part: Population | Pathway) -> list[str]:
    lines = []
    for variable in part.variables:
        unit = f" {variable.unit}" if variable.unit != "1" else ""
        value = f" = {variable.value}{unit}" if variable.role == "parameter" else ""
        measured = f", in{unit}" if unit and not value else ""
        role = "" if variable.role == "activity" else f", {variable.role}"
        lines.append(
            f"      {f'{variable.name}{value}':<24} # {variable.meaning} (per"
            f" {variable.per}{role}{measured})"
        )
    return lines


def _steps(part: Population | Pathway) -> list[str]:
    lines = ((line.strip(), step.phase) for step in part.steps for line in step.code.splitlines())
    return [f"      {line}  # {phase}" for line, phase in lines if line]


_KNOWN = ("pre", "post", "own", "broadcast")  # to a synapse


@dataclass(frozen=True)
class Locality:
    """Variables that one plasticity rule reads.

    Parameters
    ----------
    pathway, rule
        Whose rule, and its text.
    pre, post
        Variables of the synapse's two cells.
    own
        The synapse's own variables.
    broadcast
        What all synapses hear alike, such as the rates that the neuromodulator announces.
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
        if not self.rule:
            return f"{self.pathway}: does not learn"
        verdict = "local" if self.local else f"NOT local: reads {', '.join(self.elsewhere)}"
        read = [
            f"{where} {', '.join(names)}" for where in _KNOWN if (names := getattr(self, where))
        ]
        return f"{self.pathway}: {verdict}; reads {'; '.join(read)}"


class LocalityTable(Tabled, list[Locality]):
    """What each plasticity rule of a circuit reads, shown as a table."""

    def table(self) -> tuple[str, dict[str, str]]:
        """Return a title, and what each rule reads by its pathway."""
        said = (str(rule).partition(": ") for rule in self)
        return "What plasticity rules read", {pathway: text for pathway, _, text in said}


def locality(parts: Parts, pathway: Pathway) -> Locality:
    """Sort the variables that the rule of ``pathway`` reads, with its bound and steps, by where
    they live.

    The pathway need not be among the ``parts`` of the circuit.
    """
    rule = pathway.judged or pathway.change
    codes = [rule, pathway.replay, pathway.bound, *(step.code for step in pathway.steps)]
    # Names that a rule computes itself are not among those that it reads.
    read = {name for code in codes if code for name in names_in(code).read} | (
        {"w"} if pathway.plastic else set()
    )
    meanings = Meanings(parts.having(pathway))
    where: dict[str, list[str]] = {place: [] for place in (*_KNOWN, "elsewhere")}
    for name in sorted(read):
        found = meanings.find(pathway, name)
        where[found.place if found else "elsewhere"].append(found.variable if found else name)
    return Locality(pathway.name, rule, **{place: tuple(names) for place, names in where.items()})
