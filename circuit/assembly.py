"""Turns a blueprint into Brian2 objects with an explicit schedule.

Within a tick: the sample arrives (slot `start`), currents flow in the order of their pathways and the plateau forms
(slot `groups`), then all four plasticities read this tick's activity and the weights before it (slot `end`).
"""

from __future__ import annotations

from dataclasses import dataclass

import brian2

from biorrr.circuit.blueprint import Blueprint
from biorrr.models.chance import draws

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
TICK = brian2.second
_RECEPTION, _UPDATE, _ADAPT = -15, -10, -5  # after every current (orders -40 to -20), within slot `groups`


@dataclass(frozen=True)
class Assembly:
    """A built circuit: the Brian2 network and its parts by name."""

    network: brian2.Network
    clock: brian2.Clock
    parts: dict[str, brian2.Group]

    def variable(self, part: str, name: str):
        """The array behind a variable, for reading and writing in place."""
        return self.parts[part].variables[name].get_value()


def assemble(blueprint: Blueprint, present: brian2.Function | None = None) -> Assembly:
    """Build the network of ``blueprint`` for the current Brian2 device.

    Parameters
    ----------
    blueprint
        What to build.
    present
        A function of t that presents the next sample and returns 1, or 0 for a replay; without it, somebody else
        must fill in the inputs at the start of each tick.
    """
    clock = brian2.Clock(dt=TICK, name="ticks")
    modulator = blueprint.neuromodulator
    parts: dict[str, brian2.Group] = {
        p.name: brian2.NeuronGroup(p.size, p.equations, clock=clock, name=p.name, namespace={})
        for p in (*blueprint.populations, modulator)
    }
    if present is not None:
        parts[modulator.name].namespace["present"] = present
        parts[modulator.name].run_regularly("waking = present(t)", when="start", order=-1, name="present")
    parts[modulator.name].run_regularly(modulator.announce, when="start", name="announce")

    for p in blueprint.populations:
        for name in dict.fromkeys(p.hears):
            parts[p.name].variables.add_reference(name, parts[modulator.name], name, index="0")
        if p.hears:
            parts[p.name].namespace.update(draws())
        for stage, order in (("response", p.response_order), ("reception", _RECEPTION), ("update", _UPDATE)):
            if statements := getattr(p, stage):
                parts[p.name].run_regularly(statements, when="groups", order=order, name=f"{p.name}_{stage}")
    if modulator.adapt:
        parts[modulator.name].run_regularly(modulator.adapt, when="groups", order=_ADAPT, name="adapt")

    for pathway in (*blueprint.pathways, *modulator.senses):
        synapses = brian2.Synapses(
            parts[pathway.source],
            parts[pathway.target],
            f"w : 1\n{pathway.equations}{pathway.current}",
            clock=clock,
            name=pathway.name,
            namespace={},
        )
        synapses.connect()
        # Brian2 gives every summed variable the same place in the tick and breaks ties by name.
        for quantity in pathway.current_targets:
            synapses.summed_updaters[f"{quantity}_post"].order = pathway.order
        if pathway.rule:
            for name in modulator.broadcast:
                synapses.variables.add_reference(name, parts[modulator.name], name, index="0")
            synapses.run_regularly(pathway.rule, when="end", name=f"{pathway.name}_plasticity")
        parts[pathway.name] = synapses
    return Assembly(brian2.Network(*parts.values()), clock, parts)
