"""The model in readable text, made from the objects that are simulated."""

from __future__ import annotations

from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.schedule import ORDER
from biorrr.models import PHASES, Pathway, Population


def describe(blueprint: Blueprint) -> str:
    """All populations with what they have, all pathways with current and rule, and what happens within a tick."""
    lines = ["Populations"]
    for population in blueprint.parts.populations:
        lines += [
            f"  {population.name} ({population.size}): {population.meaning}".rstrip(": "),
            *_variables(population),
        ]
        lines += _steps(population)
    lines += ["", "Pathways, in the order in which their currents flow"]
    for pathway in sorted(blueprint.parts.pathways, key=lambda p: ORDER[p.phase]):
        lines += _pathway(pathway, blueprint)
    lines += ["", "Within a tick, in this order"]
    for action in blueprint.schedule:
        when = {"waking": " (not in replay)", "replaying": " (in replay only)"}.get(action.gate, "")
        what = f"{action.drives} = sum of {action.code}" if action.drives else "; ".join(_code(action.code))
        lines.append(f"  {action.phase}, {action.part}{when}: {what}")
    lines += ["", "Phases", *(f"  {phase}: {meaning}" for phase, meaning in PHASES.items())]
    return "\n".join(lines)


def _pathway(pathway: Pathway, blueprint: Blueprint) -> list[str]:
    sources, targets = blueprint.weight_shape(pathway)
    weight = f", {pathway.weight}" if pathway.weighted else ""
    lines = [
        f"  {pathway.name}{weight}: {pathway.source} ({sources}) to {pathway.target} ({targets}), "
        f"{'adds to' if pathway.sign > 0 else 'is subtracted from'} its target. {pathway.meaning}".rstrip(),
        *_variables(pathway),
        *(f"      {drives} += {current}  # summed over synapses" for drives, current in pathway.currents),
    ]
    lines += [f"      w += {pathway.change}"] if pathway.change else []
    lines += [f"      w += {pathway.replay}  # in replay"] if pathway.replay else []
    lines += [f"      w = {pathway.bound}  # bound"] if pathway.bound else []
    lines += _steps(pathway)
    return [*lines, f"      # {pathway.equation}"] if pathway.equation else lines


def _variables(part: Population | Pathway) -> list[str]:
    lines = []
    for variable in part.variables:
        value = f" = {variable.value}" if variable.role == "parameter" else ""
        role = "" if variable.role == "activity" else f", {variable.role}"
        lines.append(f"      {f'{variable.name}{value}':<24} # {variable.meaning} (per {variable.per}{role})")
    return lines


def _steps(part: Population | Pathway) -> list[str]:
    return [f"      {line}  # {step.phase}" for step in part.steps for line in _code(step.code)]


def _code(code: str) -> list[str]:
    return [line.strip() for line in code.splitlines() if line.strip()]
