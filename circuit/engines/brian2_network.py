"""Engine `numpy`: the circuit as a Brian2 network, which runs inside this process, tick by tick.

There is a group for each part, and a step for each operation of the circuit's program. The steps
are not run by Brian2's schedule: the engine runs them block by block.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.engines.brian2_private import (
    borrow_brian2,
    check_units,
    draws,
    refuse_changes,
)
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.recorder import DATA_ROW, Recorder
from biorrr.models import Pathway, Population
from biorrr.models.expressions import names_in, parse, rename
from biorrr.models.validation import dimension_of

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
_TICK = brian2.second


class NumpyEngine:
    """Builds the network once and runs jobs in it, one at a time.

    Parameters
    ----------
    blueprint
        The circuit.
    name
        Name of the circuit. It begins the names of all Brian2 objects, so that two circuits fit
        into one network.

    Attributes
    ----------
    network, clock
        The Brian2 network, and the clock of all its parts.
    groups
        Its groups, by the names of the circuit's parts.
    arrays
        Values by "part.variable", for reading and writing in place.
    durations
        Ticks of a "sample" and of a "replay".
    ticks
        What happens next, tick by tick.
    lanes, states
        One run at a time, and its values by "part.variable".
    lock
        Held by the thread whose run is in the network.
    """

    lanes = 1

    def __init__(self, blueprint: Blueprint, name: str = "") -> None:
        self.blueprint, self._prefix = blueprint, f"{name}_" if name else ""
        self.lock = threading.RLock()
        with borrow_brian2(), refuse_changes():
            check_units(blueprint)
            self.clock = brian2.Clock(dt=_TICK, name=f"{self._prefix}ticks")
            self.groups: dict[str, brian2.Group] = {}
            for part in blueprint.parts.everything:
                self.groups[part.name] = self._group(part)
            self.arrays = {
                array.key: self.groups[array.part].variables[array.name].get_value()
                for array in blueprint.arrays
            }
            steps = {one: self._step(one) for one in blueprint.program.operations}
            # All of a tick is done before what else is in the network looks.
            tick = brian2.NetworkOperation(
                lambda: next(self.ticks, None),
                clock=self.clock,
                when="start",
                order=-2000,
                name=f"{self._prefix}tick",
            )
            self.network = brian2.Network(tick, *self.groups.values())
            for one in (tick, *self.groups.values()):
                # Brian2 would warn of one that is deleted before a network has run it.
                object.__setattr__(one, "group", self.network)
                for step in getattr(one, "contained_objects", ()):
                    step.active = False  # what it does is done block by block
        timing = blueprint.timing
        self.durations = {"sample": timing.duration, "replay": timing.replay_duration}
        self._blocks: dict[str, dict[str, list[Callable[[], None]]]] = {"sample": {}, "replay": {}}
        for presented, block, operations in blueprint.program.blocks:
            self._blocks[presented][block] = [steps[one] for one in operations]
        self.ticks: Iterator[None] = self.alone()

    def _group(self, part: Population | Pathway) -> brian2.Group:
        """Return the group of ``part``."""
        options = {"clock": self.clock, "name": self._prefix + part.name, "namespace": draws()}
        equations = self._equations(part)
        if not isinstance(part, Pathway):
            return brian2.NeuronGroup(part.size, equations, **options)
        source, target = self.groups[part.source], self.groups[part.target]
        synapses = brian2.Synapses(source, target, equations, **options)
        sources, targets = self.blueprint.ends(part.name)
        synapses.connect(i=sources, j=targets)  # pairs as arrays need no code of their own
        return synapses

    def _equations(self, part: Population | Pathway) -> str:
        """Return the variables of ``part`` as Brian2 declares them."""
        lines = []
        for name, variable in self.blueprint.meanings.declared[part.name].items():
            # What is broadcast is kept like a cell's, in a population of one: what is shared
            # could not be summed into.
            flags = ["shared"] * (variable.per in ("population", "pathway"))
            flags += ["constant"] * (variable.role == "parameter")
            flagged = f" ({', '.join(flags)})" if flags else ""
            lines.append(f"{name} : {dimension_of(variable.unit)}{flagged}")
        for one in self.blueprint.program.operations:
            if one.part == part.name and one.fills:
                (filled,) = one.writes
                unit = dimension_of(self.blueprint.by_key[filled].variable.unit)
                lines.append(f"{one.fills}_post = {one.code} : {unit} (summed)")
        return "\n".join(lines)

    def _step(self, operation: Operation) -> Callable[[], None]:
        """Return a function that does ``operation``, unless its plasticity is switched off."""
        group, part = self.groups[operation.part], self.blueprint.parts[operation.part]
        for name in names_in(operation.code).read:
            found = self.blueprint.meanings.find(part, name)
            if found and name not in group.variables:  # another's, under the name that it has here
                ends = {"pre": "_presynaptic_idx", "post": "_postsynaptic_idx"}
                index, holder = ends.get(found.place, "0"), self.groups[found.part]
                group.variables.add_reference(name, holder, found.variable, index=index)
        if operation.fills:
            step = group.summed_updaters[f"{operation.fills}_post"]
        else:
            own = self.blueprint.meanings.declared[part.name]
            step = group.run_regularly(
                _assign_once(operation.code, own), name=self._prefix + operation.name
            )
        step.before_run({})
        if (key := f"{part.name}.plastic") not in operation.silencers:
            return step.run
        return lambda: step.run() if self.arrays[key][0] else None

    def do_tick(self, presented: str, tick: int) -> None:
        """Do what happens in a ``tick`` of a "sample" or a "replay", counted from its onset."""
        last = tick + 1 == self.durations[presented]
        due = {"onset": tick == 0, "tick": True, "end": last}
        for name, block in self._blocks[presented].items():
            for step in block if due[name] else ():
                step()

    def alone(self) -> Iterator[None]:
        """Do what happens in samples, tick by tick, with inputs that the user sets."""
        while True:
            for tick in range(self.durations["sample"]):
                self.do_tick("sample", tick)
                yield

    def begin(self, state: Mapping[str, np.ndarray]) -> None:
        """Put the network into ``state``, values by "part.variable"."""
        for key, values in state.items():
            self.arrays[key][:] = values

    def load(self, jobs: Sequence[Job]) -> NumpyEngine:
        """Make ready to run a job, of which there is one."""
        (self.job,) = jobs
        self.begin(self.job.state)
        self.states = [{key: self.arrays[key] for key in self.job.state}]
        return self

    def advance(
        self, start: int, stop: int, recorders: Mapping[int, Recorder]
    ) -> tuple[int, set[int]]:
        """Simulate samples ``start`` to ``stop``, or up to the one in which the run diverges;
        return the sample count, and lane 0 if it has diverged.
        """
        self.ticks = self._through(start, stop, recorders[0])
        try:
            with borrow_brian2(), np.errstate(all="ignore"):
                ticks = (stop - start) * self.job.ticks_per_sample
                self.network.run(ticks * _TICK, namespace={})
                next(self.ticks, None)  # what follows the last tick
        finally:
            self.ticks = self.alone()
        return int(self.arrays["clock.sample"][0]) + 1, set() if self._finite() else {0}

    def _through(self, start: int, stop: int, recorder: Recorder) -> Iterator[None]:
        """Present one sample after another; each ``yield`` ends a tick.

        What is left of the tick in which a run diverges is not part of the run.
        """
        job, presented = self.job, self.job.presentation
        traced, due = set(job.recording.samples(start, stop)), set(job.recording.snapshots.tolist())
        rows, replayed = presented.rows(start, stop), presented.replayed(start, stop)
        for sample, row, fibres in zip(range(start, stop), rows, replayed, strict=True):
            self.arrays["clock.sample"][:] = sample
            for tick in range(self.durations["sample"]):
                self.arrays["clock.moment"][:] = sample * self.durations["sample"] + tick
                self._show(tick, row)
                self.do_tick("sample", tick)
                if sample in traced:
                    self._trace(sample, row, recorder)
                yield
            for fibre in fibres:
                for tick in range(self.durations["replay"]):
                    self._show(tick, None, fibre)
                    self.do_tick("replay", tick)
                    yield
            if not self._finite():
                self.network.stop()
                return
            if sample + 1 in due:
                weights = {p.name: self.arrays[f"{p.name}.w"] for p in job.blueprint.parts.weighted}
                recorder.snapshot([sample + 1], {name: w[None] for name, w in weights.items()})

    def _finite(self) -> bool:
        """Return True if activity is finite, so that the run has not diverged."""
        return all(np.isfinite(self.arrays[q.key]).all() for q in self.blueprint.watched)

    def _show(self, tick: int, row: int | None, fibre: int = 0) -> None:
        """Present a ``row`` of the data at a ``tick`` of a sample; in a replay, where there is no
        row, one ``fibre`` of the first port alone.
        """
        if "clock.elapsed" in self.arrays:
            self.arrays["clock.elapsed"][:] = tick
        for port in self.blueprint.ports:
            if tick == 0 or port.name in self.blueprint.moving_ports:
                activity, feed = self.arrays[port.key], self.job.feeds[port.name]
                if row is None:
                    activity[:] = 0.0
                else:
                    np.subtract(feed.values[feed.row(row, tick)], feed.mean, out=activity)
                    activity *= feed.gain
        if row is None:
            self.arrays[self.blueprint.replayed_port.key][fibre] = 1.0

    def _trace(self, sample: int, row: int, recorder: Recorder) -> None:
        """Hand out what the tick just done has left behind, for a ``row`` of the data."""
        rows = {DATA_ROW: np.array([[row]])}
        for trace in self.job.recording.traces:
            rows[trace.label] = self.arrays[trace.quantity.key][trace.places][None]
        recorder.traces.add([sample], rows)


def _assign_once(code: str, own: Collection[str]) -> str:
    """Return ``code`` in which all but the ``own`` variables of a group is assigned once, under a
    new name each time.

    Brian2 takes what is one number for all cells before what each has, adds in place, so that
    after `a = b`, `a += 1` would change b too, and rearranges by SymPy what reads its own name.
    """
    latest: dict[str, str] = {}
    lines = []
    for number, (name, value) in enumerate(parse(code)):
        new = f"_{number}_{name}"
        lines.append(f"{new} = {rename(ast.unparse(value), latest)}")
        lines += [f"{name} = {new}"] * (name in own)
        latest[name] = new
    return "\n".join(lines)
