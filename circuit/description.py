"""The model in readable text, made from the objects that are simulated."""

from __future__ import annotations

from inspect import cleandoc

from biorrr.circuit.blueprint import Blueprint


def describe(blueprint: Blueprint) -> str:
    """All populations with their equations and all pathways with current and rule, in the order of a tick."""
    lines = ["Populations"]
    for p in (*blueprint.populations, blueprint.neuromodulator):
        lines += [f"  {p.name} ({p.size}): {_first_line(p)}", *_block(p.equations)]
        lines += [*_block(p.response), *_block(p.reception), *_block(p.update)]
    modulator = blueprint.neuromodulator
    lines += ["", "At the start of a tick, the neuromodulator announces", *_block(modulator.announce)]
    lines += ["", "Pathways, in the order their currents flow"]
    for pathway in sorted(blueprint.pathways, key=lambda p: p.order):
        sources, targets = blueprint.weight_shape(pathway)
        lines += [
            f"  {pathway.name}, {pathway.weight}: {pathway.source} ({sources}) to {pathway.target} ({targets}), "
            f"{'excitatory' if pathway.sign > 0 else 'inhibitory'}. {_first_line(pathway)}",
            *_block(pathway.equations),
            *_block(pathway.current),
            *_block(pathway.rule),
            f"      # {pathway.equation}",
        ]
    if modulator.adapt:
        lines += ["", "Before plasticity, the neuromodulator fits the rates", *_block(modulator.adapt)]
    return "\n".join(lines)


def _first_line(part) -> str:
    return cleandoc(type(part).__doc__ or "").splitlines()[0]


def _block(code: str) -> list[str]:
    return [f"      {line.strip()}" for line in code.splitlines() if line.strip()]
