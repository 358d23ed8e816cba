"""From a circuit and its data to a job: everything that a simulation starts from, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.simulation.events import as_events, check_events
from biorrr.circuit.simulation.initial_state import initial_state
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.saving import Saving, recording_of, snapshot_samples
from biorrr.circuit.stimulus.data_checks import check_order, mapping, warn, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import read_feeds
from biorrr.circuit.stimulus.presentation import Presentation, as_seed
from biorrr.errors import InputError, InputTypeError
from biorrr.models import Event, Silence
from biorrr.models.validation import LARGEST_WHOLE, truth, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.base import CircuitBase
    from biorrr.circuit.results.run import Run


def prepare(circuit: CircuitBase, X, Y=None, *, seed=None, **arguments) -> Job:
    """Check data and arguments, as :meth:`biorrr.circuit.Microcircuit.run` takes them; return what
    is to be simulated.
    """
    return prepare_seeds(
        circuit, X, Y, seeds=[circuit.seed if seed is None else seed], **arguments
    )[0]


def prepare_seeds(
    circuit: CircuitBase,
    X,
    Y=None,
    *,
    epochs: int = 1,
    order=None,
    saving: Saving = Saving(),  # noqa: B008  # a frozen value
    plastic: bool = True,
    start: Run | None = None,
    centre: bool = False,
    events: Sequence[Event] = (),
    final: bool = True,
    seeds: Iterable,
    weights: Mapping[str, object] | None = None,
) -> list[Job]:
    """Check data and arguments, as :meth:`biorrr.circuit.Microcircuit.run` takes them; return what
    is to be simulated with each of ``seeds``.
    """
    for switch, value in {"plastic": plastic, "centre": centre, "final": final}.items():
        truth(switch, value)
    epochs = whole_number("epochs", epochs, minimum=1)
    feeds = read_feeds(circuit.parts, circuit.ports, X, Y, centre, circuit.timing)
    n_samples = feeds[circuit.ports[0].name].samples
    order = check_order(order, n_samples, any(feed.in_time for feed in feeds.values()))
    warn_of_shuffling(order, circuit.parts.departures, circuit.timing)
    if start is not None and not hasattr(start, "inner_state"):
        raise InputTypeError(
            f"start: must be a Run (got {start!r}); Run.load reads one from a file"
        )
    first = 0 if start is None else start.samples
    last = first + epochs * (n_samples if isinstance(order, str) else len(order))
    if last > LARGEST_WHOLE:
        raise InputError(
            f"epochs: a circuit can count 2**53 samples (got {epochs} epochs, {last} samples in"
            " all)"
        )
    moving = frozenset(name for name, feed in feeds.items() if feed.ticks != feed.duration)
    sizes = {name: feed.values.shape[1] for name, feed in feeds.items()}
    events = as_events(events)
    silent = (event.population for event in events if isinstance(event, Silence))
    blueprint = circuit.blueprint_for(sizes, moving, tuple(dict.fromkeys(silent)))
    given = mapping("weights", weights)
    if plastic and start is not None and start.cooled:
        warn(
            "start: that run was final, and its rates have fallen to zero; they begin anew here."
            " Give final=False to a run that is to be continued"
        )
    switches = [q.key for q in blueprint.state if q.name in ("plastic", "learning")]
    switched = {key: np.array([float(plastic)]) for key in switches}
    switched["clock.sample"] = np.array([first - 1.0])
    record = circuit.traced if saving.record is None else saving.record
    recording = recording_of(record, saving.every, blueprint, first, last)
    snapshots = snapshot_samples(saving.snapshots, first, last)
    events = check_events(events, first, last, blueprint, order)
    announced = last if final and plastic else math.inf
    jobs = []
    begin = circuit.begin(blueprint, feeds, announced, start)
    m = sizes[blueprint.replayed_port.name]
    for seed in [as_seed("seed", seed) for seed in seeds]:
        state = initial_state(blueprint, begin, seed, given, start) | switched
        presented = Presentation(n_samples, m, order, begin.replay, seed)
        jobs.append(
            Job(
                blueprint,
                presented,
                feeds,
                first,
                last,
                state,
                recording,
                snapshots,
                circuit,
                events,
                plastic,
                begin.parameters,
            )
        )
    return jobs
