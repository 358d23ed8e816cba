"""Brian2 objects as inputs of a circuit: groups in the same network, and those that say their values beforehand."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biorrr.circuit.stimulus.data_checks import refuse_units
from biorrr.circuit.stimulus.signals import Rows, Signal, SpikeTrains, TimeSeries, seconds, warn_of_a_rest
from biorrr.models.validation import Positive


@dataclass(frozen=True, eq=False)
class GroupInput(Signal):
    """A Brian2 group of one's own, simulated in the same network as the circuit; engines numpy and cython alone.

    It runs on its own clock. At the start of each of its ticks the circuit reads a variable of the group, or counts the
    spikes since its last tick, over `rate` times the tick. The group keeps its state from one run to the next.

    Parameters
    ----------
    group
        A NeuronGroup, PoissonGroup or other group, one cell per fibre.
    variable
        The variable that is read; its spikes unless given.
    rate
        Spikes per second that stand for an input of 1.
    objects
        Further Brian2 objects that the group needs, such as its synapses and what drives it.
    namespace
        What equations of the group and of these objects refer to, where they do not bring it along.
    duration
        Seconds to run for; as long as the other inputs unless given.
    """

    group: Any
    variable: str | None = None
    rate: Positive = 1.0
    objects: Sequence[Any] = ()
    namespace: Mapping[str, Any] = field(default_factory=dict)
    duration: float | None = None

    def __post_init__(self) -> None:
        if self.variable is not None and self.variable not in getattr(self.group, "variables", ()):
            raise ValueError(
                f"GroupInput.variable: the group has no variable called {self.variable!r}; leave it out for spikes"
            )
        super().__post_init__()

    def rows(self, name: str, tick: float, held: int) -> Rows:
        """Return the shape of the values, which are not known beforehand."""
        ticks = 0 if self.duration is None else round(seconds("GroupInput.duration", self.duration) / tick)
        warn_of_a_rest(name, ticks, held, tick)
        nothing = np.broadcast_to(0.0, (ticks // held * held, int(self.group.N)))
        return Rows(nothing, 1, live=LiveGroup(self, tick))


class LiveGroup:
    """A group in the network of the circuit, as an engine reads it from tick to tick.

    Parameters
    ----------
    given, tick
        The input, and the length of the circuit's tick in seconds.
    """

    def __init__(self, given: GroupInput, tick: float) -> None:
        self.given, self.tick = given, tick
        self.monitor = None if given.variable is not None else _spike_counter(given.group)

    @property
    def objects(self) -> list[Any]:
        """Brian2 objects that belong into the network."""
        counter = [] if self.monitor is None else [self.monitor]
        return [self.given.group, *self.given.objects, *counter]

    def begin(self) -> None:
        """Forget what happened before this run."""
        self.before = None if self.monitor is None else np.array(self.monitor.count)

    def read(self, out: np.ndarray) -> None:
        """Write the input of the tick to come to ``out`` (features,)."""
        if self.monitor is None:
            out[:] = self.given.group.variables[self.given.variable].get_value()
        else:
            now = np.array(self.monitor.count)
            out[:] = (now - self.before) / (self.given.rate * self.tick)
            self.before = now


_counters: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _spike_counter(group):
    """Return the monitor that counts the spikes of ``group``: one for all runs, because a network keeps its objects."""
    import brian2

    if group not in _counters:
        _counters[group] = brian2.SpikeMonitor(group, record=False)
    return _counters[group]


def as_signal(name: str, values) -> Signal | None:
    """Return ``values`` as a signal, where they are one or a Brian2 object that is; None for tables of samples."""
    if isinstance(values, Signal):
        return values
    if not type(values).__module__.startswith("brian2."):
        return None
    import brian2

    if isinstance(values, brian2.TimedArray):
        refuse_units(name, values)
        return TimeSeries(np.asarray(values.values).reshape(len(values.values), -1), float(values.dt))
    if isinstance(values, brian2.SpikeGeneratorGroup):
        return SpikeTrains(np.asarray(values._spike_time), np.asarray(values._neuron_index), int(values.N))
    return GroupInput(values) if isinstance(values, brian2.Group) else None
