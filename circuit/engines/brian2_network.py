"""Engine `numpy`: the circuit as a Brian2 network, which runs inside this process, tick by tick.

There is a group for each part, and a step for each operation of the circuit's program. The steps
are not run by Brian2's schedule: the engine runs them block by block.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.compile.program import Blocks
from biorrr.circuit.engines import brian2_private
from biorrr.circuit.engines.brian2_private import borrow_brian2
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.recorder import DATA_ROW, Recorder
from biorrr.errors import InputError
from biorrr.models import Pathway, Population
from biorrr.models.expressions import names_in, parse
from biorrr.models.random_draws import DRAWS
from biorrr.models.validation import dimension_of

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
_TICK = brian2.second
_LOOK_AHEAD = 4096  # samples whose order is drawn together
_Functions = dict[str, list[Callable[[], None]]]  # by block


class Brian2Network:
    """The circuit in Brian2, built for the current device.

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
    steps
        Brian2's step for each operation.
    arrays
        Values by "part.variable", for reading and writing in place.
    """

    def __init__(self, blueprint: Blueprint, name: str = "") -> None:
        self.blueprint, self._prefix = blueprint, f"{name}_" if name else ""
        self.network = brian2.Network()
        self.clock = brian2.Clock(dt=_TICK, name=f"{self._prefix}ticks")
        self.groups: dict[str, brian2.Group] = {}
        for part in blueprint.parts.everything:
            self.groups[part.name] = self._group(part)
        operations = blueprint.program.operations
        for operation in operations:
            self._let_hear(operation)
        self.steps = {operation: self._step(operation) for operation in operations}
        for group in self.groups.values():
            brian2_private.deactivate(group)  # what it does is done block by block
        self.network.add(*self.groups.values())
        brian2_private.mark_as_run(self.groups.values(), self.network)
        for operation in operations:
            if any(v.unit != "1" for v in blueprint.parts[operation.part].variables):
                self._check_dimensions(operation)
        self.arrays = {
            array.key: brian2_private.array_of(self.groups[array.part], array.name)
            for array in blueprint.arrays
        }

    def _group(self, part: Population | Pathway) -> brian2.Group:
        """Return the group of ``part``."""
        options = {"clock": self.clock, "name": self._prefix + part.name, "namespace": _draws()}
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
        for array in self.blueprint.arrays:
            if array.part == part.name:
                # What is broadcast is kept like a cell's, in a population of one: what is shared
                # could not be summed into.
                flags = ["shared"] * (array.variable.per in ("population", "pathway"))
                flags += ["constant"] * (array.variable.role == "parameter")
                flagged = f" ({', '.join(flags)})" if flags else ""
                lines.append(f"{array.name} : {dimension_of(array.variable.unit)}{flagged}")
        for one in self.blueprint.program.operations:
            if one.part == part.name and one.fills:
                (filled,) = one.writes
                unit = dimension_of(self.blueprint.by_key[filled].variable.unit)
                lines.append(f"{one.fills}_post = {one.code} : {unit} (summed)")
        return "\n".join(lines)

    def _let_hear(self, operation: Operation) -> None:
        """Let the part of ``operation`` read, under the names that its code has for it, what others
        have or broadcast.
        """
        group = self.groups[operation.part]
        for name in names_in(operation.code).read:
            found = self.blueprint.meanings.find(self.blueprint.parts[operation.part], name)
            if found and name not in group.variables:
                holder = self.groups[found.part]
                brian2_private.let_hear(group, name, holder, found.variable, found.place)

    def _step(self, operation: Operation) -> brian2.BrianObject:
        """Return Brian2's step for ``operation``."""
        group = self.groups[operation.part]
        if operation.fills:
            return brian2_private.summing_step(group, operation.fills)
        code = _in_two_steps(self.blueprint.written_out(operation))
        return group.run_regularly(code, name=self._prefix + operation.name)

    def _check_dimensions(self, operation: Operation) -> None:
        """Refuse statements whose two sides have different dimensions, by Brian2's own check, in
        one sentence.
        """
        try:
            driven = f"{operation.fills}_post" if operation.fills else ""
            brian2_private.check_dimensions(self.groups[operation.part], operation.code, driven)
        except brian2.DimensionMismatchError as error:
            raise InputError(
                f"{operation.part}: units do not agree in phase {operation.phase!r}: {error}"
            ) from error


def _in_two_steps(code: str) -> str:
    """Return ``code`` in which no name is assigned an expression that reads it.

    Brian2 rearranges such assignments by SymPy, and then misses functions that have cancelled out.
    And it adds in place: after `a = b`, `a += 1` would change b too.
    """
    lines = []
    for name, value in parse(code):
        text = ast.unparse(value)
        again = name in names_in(text).read
        lines.append(f"_new_{name} = {text}\n{name} = _new_{name}" if again else f"{name} = {text}")
    return "\n".join(lines)


@functools.cache
def _draws() -> dict[str, brian2.Function]:
    """Return the three random draws as Brian2 functions, by name."""
    made = {}
    for name, draw in DRAWS.items():
        arguments = len(inspect.signature(draw).parameters)
        made[name] = brian2.Function(draw, arg_units=[1] * arguments, return_unit=1, stateless=True)
        made[name].implementations.add_implementation("numpy", draw)
    return made


class NumpyEngine(Brian2Network):
    """Builds the network once and advances it."""

    def __init__(self, blueprint: Blueprint, name: str = "") -> None:
        with borrow_brian2("numpy"):
            super().__init__(blueprint, name)
            program, timing = blueprint.program, blueprint.timing
            self._sample = self._functions(program.sample), timing.duration
            self._replay = self._functions(program.replay), timing.replay_duration
            self._ticks = self._alone()
            # All of a tick is done before what else is in the network looks.
            operation = brian2.NetworkOperation(
                lambda: next(self._ticks, None),
                clock=self.clock,
                when="start",
                order=-2000,
                name=f"{self._prefix}tick",
            )
            self.network.add(operation)

    def _functions(self, blocks: Blocks) -> _Functions:
        """Return functions that do the operations of each block, in order."""
        return {name: [self._function(one) for one in block] for name, block in blocks}

    def _function(self, operation: Operation) -> Callable[[], None]:
        """Return a function that does ``operation``, unless its plasticity is switched off."""
        run = brian2_private.prepare(self.steps[operation])
        if "plastic" not in operation.silencers:
            return run
        plastic = self.arrays[f"{operation.part}.plastic"]

        def run_if_plastic() -> None:
            if plastic[0]:
                run()

        return run_if_plastic

    def _alone(self) -> Iterator[None]:
        """Do what happens in samples, tick by tick, with inputs that the user sets."""
        while True:
            yield from _present(*self._sample)

    def begin(self, state: dict[str, np.ndarray]) -> None:
        """Put the network into ``state``, values by "part.variable"."""
        for key, values in state.items():
            self.arrays[key][:] = values

    def advance(
        self, jobs: Sequence[Job], recorders: Sequence[Recorder], interrupted: threading.Event
    ) -> list[Outcome]:
        """Simulate one job."""
        (job,), (recorder,) = jobs, recorders
        with borrow_brian2("numpy"), np.errstate(all="ignore"):
            self.begin(job.state)
            loop = _Loop(job, recorder, self.arrays, interrupted)
            self._ticks = self._through(loop)
            try:
                ticks = (job.stop - job.start) * job.ticks_per_sample
                self.network.run(ticks * _TICK, namespace={})
                next(self._ticks, None)
            finally:
                self._ticks = self._alone()
        state = {key: self.arrays[key].copy() for key in job.state}
        return [Outcome(loop.done, state, loop.ended)]

    def _through(self, loop: _Loop) -> Iterator[None]:
        """Present one sample after another; each ``yield`` ends a tick.

        What is left of the tick in which a run ends early is not part of the run.
        """
        for sample, row, replayed, traced in loop.samples():
            for _ in _present(*self._sample, functools.partial(loop.show, sample, row)):
                if traced:
                    loop.trace(sample, row)
                yield
            for fibre in replayed:
                yield from _present(*self._replay, functools.partial(loop.show_alone, fibre))
            loop.end(sample + 1)
            if loop.ended != "done":
                self.network.stop()
                return


def _present(
    blocks: _Functions, duration: int, show: Callable[[int], None] = lambda tick: None
) -> Iterator[None]:
    """Do what happens in each tick of what is presented for so many; ``show`` comes first."""
    for tick in range(duration):
        show(tick)
        onset = blocks["onset"] if tick == 0 else []
        end = blocks["end"] if tick + 1 == duration else []
        for operation in itertools.chain(onset, blocks["tick"], end):
            operation()
        yield


class _Loop:
    """What samples of a job show and leave.

    Attributes
    ----------
    done, ended
        The sample count that is reached, and how the run ended there, as in an Outcome.
    """

    def __init__(
        self,
        job: Job,
        recorder: Recorder,
        arrays: dict[str, np.ndarray],
        interrupted: threading.Event,
    ) -> None:
        self.job, self.recorder, self.arrays, self.interrupted = job, recorder, arrays, interrupted
        self.done, self.ended = job.start, "done"
        self.state = {key: arrays[key] for key in job.state}
        self.inputs = {port.name: arrays[port.key] for port in job.blueprint.ports}
        self.due = set(job.snapshots.tolist())

    def samples(self) -> Iterator[tuple[int, int, np.ndarray, bool]]:
        """Yield the number of each sample, its row in the data, its replays and whether it is
        traced.
        """
        job, presented = self.job, self.job.presentation
        for first in range(job.start, job.stop, _LOOK_AHEAD):
            several = np.arange(first, last := min(first + _LOOK_AHEAD, job.stop))
            traced = np.isin(several, job.recording.samples(first, last))
            rows, replayed = presented.rows(first, last), presented.replayed(first, last)
            yield from zip(several.tolist(), rows, replayed, traced, strict=True)

    def show(self, sample: int, row: int, tick: int) -> None:
        """Present a ``row`` of the data as a ``sample``, at its ``tick``."""
        for name, activity in self._presented(tick):
            feed = self.job.feeds[name]
            np.subtract(feed.values[feed.row(row, tick)], feed.mean, out=activity)
            activity *= feed.gain
        self.arrays["clock.sample"][:] = sample
        self.arrays["clock.moment"][:] = sample * self.job.blueprint.timing.duration + tick

    def show_alone(self, fibre: int, tick: int) -> None:
        """Present one fibre of the first port, with all others silent."""
        for name, activity in self._presented(tick):
            activity[:] = 0.0
            if name == self.job.blueprint.replayed_port.name:
                activity[fibre] = 1.0

    def _presented(self, tick: int) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the inputs that are presented at a ``tick``, after noting that."""
        if "clock.elapsed" in self.arrays:
            self.arrays["clock.elapsed"][:] = tick
        often = self.job.blueprint.moving_ports
        for name, activity in self.inputs.items():
            if tick == 0 or name in often:
                yield name, activity

    def trace(self, sample: int, row: int) -> None:
        """Hand out what the tick just done has left behind, for a ``row`` of the data."""
        rows = {DATA_ROW: np.array([[row]])}
        for trace in self.job.recording.traces:
            values = self.arrays[trace.quantity.key]
            chosen = slice(None) if trace.chosen is None else list(trace.chosen)
            rows[trace.label] = np.array(values[chosen])[None]
        self.recorder.traces.add([sample], rows)

    def end(self, done: int) -> None:
        """Hand out what ``done`` samples have led to, and note whether the run ends."""
        watched = (self.arrays[q.key] for q in self.job.blueprint.watched)
        if not np.isfinite(sum(values.sum() for values in watched)):
            self.ended = "diverged"
            return
        self.done = done
        if done in self.due:
            weights = {p.name: self.state[f"{p.name}.w"] for p in self.job.blueprint.parts.weighted}
            self.recorder.snapshot([done], {name: w[None] for name, w in weights.items()})
        self.recorder.note(done, self.state)
        if done < self.job.stop and (self.recorder.stopped or self.interrupted.is_set()):
            self.ended = "stopped" if self.recorder.stopped else "interrupted"
