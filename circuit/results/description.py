"""The model in readable text, made from the objects that are simulated."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import ORDER, Action
from biorrr.models import Pathway, Population


def describe(blueprint: Blueprint, unknown: Mapping[str, str] | None = None) -> str:
    """Return all populations and their variables, all pathways with current and rule, and the order
    within a tick.

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
    lines += ["", "Within a tick, in this order"]
    for phase, actions in groupby(blueprint.schedule, key=lambda action: action.phase):
        lines.append(f"  {phase}: {'; '.join(dict.fromkeys(map(_happening, actions)))}")
    return "\n".join(lines)


def _population(population: Population, sizes: Mapping[str, str]) -> list[str]:
    title = f"  {population.name} ({sizes[population.name]}): {population.meaning}".rstrip(": ")
    return [title, *_variables(population), *_steps(population)]


def _happening(action: Action) -> str:
    """Return one action of a tick in a few words."""
    if action.drives:
        return f"{action.drives} by {action.part}"
    if action.name.endswith("_total"):
        return action.code
    return action.part + {"waking": " (not in replay)", "replaying": " (in replay)"}.get(
        action.gate, ""
    )


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
    averaged = (
        "  # mean over the time for which a sample is held, when it ends"
        if pathway.averaged
        else ""
    )
    lines += [f"      w += {pathway.change}{averaged}"] if pathway.change else []
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
    return [f"      {line}  # {step.phase}" for step in part.steps for line in _code(step.code)]


def _code(code: str) -> list[str]:
    return [line.strip() for line in code.splitlines() if line.strip()]
