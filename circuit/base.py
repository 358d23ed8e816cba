"""The base of all circuits: their fields, running them, and views of them."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from biorrr.circuit.compile.blueprint import Blueprint, Port, ports_of
from biorrr.circuit.compile.program import compile_program
from biorrr.circuit.engines.choice import ENGINES, Engines
from biorrr.circuit.results.results import results, results_of_seeds
from biorrr.circuit.results.run import Run
from biorrr.circuit.results.tables import Tabled, Text
from biorrr.circuit.simulation.events import let_fall_silent
from biorrr.circuit.simulation.prepare import Beginning, initial_state, prepare_seeds
from biorrr.circuit.simulation.recorder import Callback, Checkpoint
from biorrr.circuit.simulation.saving import Saving
from biorrr.circuit.simulation.simulate import simulate, simulate_seeds
from biorrr.circuit.stimulus.data_checks import check_memory
from biorrr.circuit.stimulus.feeds import Feed
from biorrr.circuit.stimulus.presentation import as_seed, check_seeds
from biorrr.errors import InputError, InputTypeError, RunError
from biorrr.hints import HintsAtKeywords, hints_at_keywords
from biorrr.models import Departure, Event, Parts
from biorrr.models.language import check_name
from biorrr.models.validation import (
    LARGEST_WHOLE,
    check_fields,
    instance_of,
    one_of,
    truth,
    whole_number,
)

if TYPE_CHECKING:
    from biorrr.circuit.regression import Regression
    from biorrr.circuit.results.description import LocalityTable

_BYTES = 32  # of one synapse: its weight, its first weight, and a snapshot of each


def _begins_names(name: str, value) -> str:
    """Return ``value``, if names of Brian2 objects can begin with it."""
    return value and check_name(name, value)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CircuitBase(HintsAtKeywords, Tabled):
    """Base of circuits: frozen values whose parts follow from their fields.

    A circuit keeps nothing of its runs but what it has built, which is kept to save time and
    changes no answer.

    Parameters
    ----------
    departures, engine, seed, name
        As :class:`~biorrr.circuit.Microcircuit` takes them.
    """

    departures: Sequence[Departure] = ()
    engine: Annotated[str, partial(one_of, choices=ENGINES)] = "auto"
    seed: Annotated[int, as_seed] = 0
    name: Annotated[str, _begins_names] = ""

    def __post_init__(self) -> None:
        check_fields(self, "")
        compile_program(self.parts)
        _ = self.ports  # both are checked when they are made

    def __getstate__(self):
        """Return the fields; all else follows from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # -- what differs between circuits -------------------------------------------------------------

    traced: ClassVar[tuple[str, ...]] = ()  # variables that are recorded by default

    @functools.cached_property
    def regression(self) -> Regression | None:
        """The regression that it learns; None for circuits that learn something else."""
        return None

    @functools.cached_property
    def parts(self) -> Parts:
        """All parts, under all departures."""
        return self.regression.parts  # type: ignore[union-attr]  # other circuits have their own

    @functools.cached_property
    def ports(self) -> tuple[Port, ...]:
        """The places where data come in: one for each variable declared as an input."""
        return ports_of(self.parts)

    def begin(
        self,
        blueprint: Blueprint,
        feeds: Mapping[str, Feed] | None = None,
        last: float = math.inf,
        start: Run | None = None,
    ) -> Beginning:
        """Return how the circuit meets the data of ``feeds``, or any data where there are none.

        ``last`` is the sample after which learning is announced to end; infinite if no end is
        announced. ``start`` is the run that is continued.
        """
        return self.regression.begin(blueprint, feeds, last, start)  # type: ignore[union-attr]

    # -- circuits of known sizes -------------------------------------------------------------------

    @functools.cached_property
    def _blueprints(self) -> dict[tuple, Blueprint]:
        return {}

    def blueprint(self, *sizes: int) -> Blueprint:
        """Return the circuit for so many features of each port, in their order; the smallest that
        fit unless given.
        """
        names = [port.name for port in self.ports]
        if sizes and len(sizes) != len(names):
            raise InputError(
                f"sizes: must be the numbers of features of {', '.join(names)} (got {sizes})"
            )
        cells = max(
            (population.size or 1 for population in self.parts.all(kind="pyramidal")), default=1
        )
        smallest = [self.parts[port.population].size or cells for port in self.ports]
        given = zip(names, sizes or smallest, strict=True)
        return self.blueprint_for(
            {name: whole_number(name, size, minimum=1) for name, size in given}
        )

    def blueprint_for(
        self,
        sizes: Mapping[str, int],
        moving: frozenset[str] = frozenset(),
        silent: tuple[str, ...] = (),
    ) -> Blueprint:
        """Return the circuit for so many features of each port.

        Parameters
        ----------
        sizes
            By port.
        moving
            Ports whose inputs change while a sample is held.
        silent
            Populations of which some cells fall silent.
        """
        key = tuple(sizes[port.name] for port in self.ports), moving, silent
        if key not in self._blueprints:
            if self.regression is not None:
                self.regression.check_sizes(sizes)
            parts = let_fall_silent(self.parts, silent)
            for port in self.ports:
                population, size = parts[port.population], sizes[port.name]
                if population.size not in (None, size):
                    raise InputError(
                        f"{port.name}: must have {population.size} features, the cells of"
                        f" {population.name} (got {size})"
                    )
                parts = parts.having(replace(population, size=size))
            for population in parts.populations:
                if population.size is None:
                    raise InputError(
                        f"{population.name}.size: must be given, because no data say how many cells"
                        " there are"
                    )
            blueprint = Blueprint(parts, self.ports, tuple(sorted(moving)))
            synapses = sum(math.prod(blueprint.orientations[p.name].shape) for p in parts.weighted)
            check_memory("circuit", _BYTES * synapses, "use fewer cells")
            self._blueprints[key] = blueprint
        return self._blueprints[key]

    # -- running -----------------------------------------------------------------------------------

    @hints_at_keywords
    def run(
        self,
        X,
        Y=None,
        epochs: int = 1,
        order=None,
        record=None,
        every=None,
        snapshots=100,
        plastic: bool = True,
        start: Run | None = None,
        callback: Callback | None = None,
        centre: bool = False,
        progress: bool = True,
        checkpoint: str | os.PathLike | Checkpoint | None = None,
        events: Sequence[Event] = (),
        final: bool = True,
        seed=None,
        weights: Mapping[str, object] | None = None,
        seeds: Iterable | None = None,
    ) -> Any:
        """Present the data and let the circuit learn.

        Parameters
        ----------
        X, Y
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n); Y may be
            (n_samples,). Memory maps are not copied. In place of both, a dict of the data of every
            port by its name, ``{"x": X, "y": Y}``. Or signals in time
            (:class:`~biorrr.circuit.TimeSeries`), for circuits whose dynamics have time: each
            window of ``Leaky.hold`` is then one sample.
        epochs
            Passes over the data, or over ``order`` where that is an index array.
        order
            "shuffle" (a new permutation each epoch), "sequential", or an index array of any length;
            unless given, samples are shuffled and signals in time are not.
        record
            Variables to trace: names, or a dict of names to True or to the chosen cells. Any
            variable that a part of the circuit declares, such as x, y, z, a, n, inhibition,
            plateau; "part.variable" where two parts have one of that name. Weights too: ``{"Vx":
            [(3, 0)]}`` records one synapse as ``run.data["Vx_trace"]``, each value after the
            plasticity of its sample. The rates eta_x, eta_y, eta_q, eta_r go with every record.
            Unless given, a microcircuit records plateau, a, inhibition and z, and other circuits
            nothing. Or a :class:`~biorrr.circuit.Saving`, which says `every` and `snapshots` too.
        every
            Samples from one that is traced to the next, or windows of consecutive samples, as
            [(first, last + 1), ...]. By default 20 blocks of 50 consecutive samples are traced,
            spaced evenly in log time, and every hundredth sample between them (fewer in runs of
            more than two million samples). Where outputs settle, each sample has one row, at its
            equilibrium.
        snapshots
            How many weight snapshots to keep, evenly in log time; ("linear", count) for evenly in
            samples; or a list of sample counts. The start and the end are always among them.
        plastic
            False for a pass with learning off.
        start
            An earlier run to continue: its weights, its sample count, its place in the order.
        callback
            Called with (samples seen, {"Vx": ..., "Vy": ..., "Q": ..., "R": ...}) at each snapshot;
            ends the run by returning True.
        centre
            True to subtract the means of the data from each sample as it is presented.
        progress
            True to show a progress bar in terminals and notebooks.
        checkpoint
            File that keeps the run as far as it has come, every 30 seconds; ``Checkpoint(path,
            every=5)`` for another pace. Where it exists, the run goes on from there and ends bit
            for bit where it would have ended without the break; a file of another run is refused.
            It stays when the run is done.
        events
            What happens in the middle of the run: :class:`~biorrr.models.Silence`, ``Freeze``,
            ``CutInstruction``, ``SwapData``, each at a sample of this run and until its end.
        final
            True where learning ends with this run: rates "auto" then fall to zero by its last
            sample, which brings the weights much nearer to the optimum. Give False to a run that
            another is to continue by ``start``: the two then end bit for bit where one
            uninterrupted run with final=False ends. Rates "auto" stay as they were fitted to the
            data of the first of such runs. Rates that are given as :class:`~biorrr.models.Rates`
            are used as they stand.
        seed
            In place of the circuit's, for this run.
        weights
            Initial matrices of any pathway by name, in place of those drawn.
        seeds
            Several seeds, such as ``range(32)``. Returns :class:`~biorrr.circuit.Runs`, the same as
            of one run after another; compiled circuits run eight of them side by side, on all
            cores. Runs that diverge or do not settle are among them, and in ``errors``. A
            checkpoint run.npz becomes run-0.npz, run-1.npz, and so on.

        Raises
        ------
        CheckpointError
            Where the checkpoint is damaged, or belongs to another run; it says what differs.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        Unsettled
            Where outputs did not reach their equilibrium while a sample was held; its ``run`` holds
            the results.
        """
        truth("progress", progress)
        if callback is not None and not callable(callback):
            raise InputTypeError(
                f"callback: must be a function of samples seen and weights (got {callback!r})"
            )
        if seeds is not None and seed is not None:
            raise InputError("seeds: cannot be given beside seed; leave one of them out")
        own = self.seed if seed is None else seed
        jobs = prepare_seeds(
            self,
            X,
            Y,
            epochs=epochs,
            order=order,
            saving=Saving.of(record, every, snapshots),
            plastic=plastic,
            start=start,
            centre=centre,
            events=events,
            final=final,
            seeds=[own] if seeds is None else check_seeds(seeds),
            weights=weights,
        )
        file = Checkpoint.of(checkpoint)
        if seeds is None:
            return results(jobs[0], simulate(jobs[0], file, callback, progress))
        files = [file and file.of_seed(job.presentation.seed) for job in jobs]
        return results_of_seeds(jobs, simulate_seeds(jobs, files, callback, progress))

    @functools.cached_property
    def engines(self) -> Engines:
        """Engines built so far, which are kept to save time and change no answer."""
        return Engines(self.name)

    def build(self, *sizes: int):
        """Build the circuit now rather than at the first :meth:`run`; return it.

        Engine numpy builds :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its library, and so does "auto" where there is a compiler. Features are given as
        :meth:`blueprint` takes them.
        """
        blueprint = self.blueprint(*sizes)
        name = self.engines.choose(self.engine, blueprint, LARGEST_WHOLE)
        engine = self.engines.get(name, blueprint)
        if hasattr(engine, "begin"):
            begin = self.begin(blueprint)
            engine.begin(initial_state(blueprint, begin, self.seed))
        return self

    @property
    def network(self):
        """The Brian2 Network of the circuit as it was made (engine numpy), to add one's own
        monitors to.

        Its objects are called as the parts are, behind the circuit's name where it has one. A tick
        is one second of Brian2's time. ``run`` presents the samples; to run the network alone, set
        its inputs. All of a tick is done before monitors look. ``run.network`` is that of one run.
        """
        found = self.engines.networks(
            {b.code for (_, _, silent), b in self._blueprints.items() if not silent}
        )
        if len(found) == 1:
            return found[0]
        if found:
            raise RunError(
                f"network: {len(found)} are built, for data of different sizes; use that of a run,"
                " run.network, or make a circuit for each"
            )
        raise RunError(
            "network: nothing is built in this process yet; call circuit.build(m, n) first, and run"
            " with engine='numpy' (engine cpp has no network)"
        )

    # -- views -------------------------------------------------------------------------------------

    def _blueprint_of(self, sizes: tuple[int, ...], run: Run | None) -> Blueprint:
        """Return the blueprint of ``run``, or that of the circuit with ``sizes``."""
        return self.blueprint(*sizes) if run is None else instance_of("run", run, Run).job.blueprint

    def wiring(self, *sizes: int, run: Run | None = None):
        """Return the circuit, or that of ``run``, as a graph; see
        :func:`biorrr.circuit.export.graph.wiring`.
        """
        from biorrr.circuit.export.graph import wiring

        return wiring(self._blueprint_of(sizes, run))

    def describe(self, *sizes: int, run: Run | None = None) -> Text:
        """Return the model in readable text, made from the objects that are simulated.

        ``print(circuit.describe())`` shows it, and so does a notebook.

        Parameters
        ----------
        sizes
            Features of each port, in their order; left open unless given.
        run
            A run of the circuit to describe instead, with its sizes and what its events needed.
        """
        from biorrr.circuit.results.description import describe

        unknown = {
            port.population: {"x": "m", "y": "n"}.get(port.name, f"features of {port.name}")
            for port in self.ports
            if not sizes and run is None and self.parts[port.population].size is None
        }
        return describe(self._blueprint_of(sizes, run), unknown)

    def locality(self, run: Run | None = None) -> LocalityTable:
        """Return which variables each plasticity rule reads: a list with a :class:`Locality` for
        each pathway, which ``print`` and notebooks show as a table.
        """
        from biorrr.circuit.results.description import LocalityTable, locality

        parts = self._blueprint_of((), run).parts
        return LocalityTable(locality(parts, pathway) for pathway in parts.weighted)

    def to_brian2(self, path: str | os.PathLike, run: Run) -> Path:
        """Write a plain Brian2 script that repeats ``run``, a run of this circuit; return its path.

        The script imports only brian2 and numpy. It has the equations of the circuit, the order of
        updates, parameters, initial weights and the order of samples. ``python script.py data.npz
        weights.npz`` reads X and Y (for other circuits each port by its name), as many samples as
        ``run`` had, and saves all weights.

        Raises
        ------
        InputError
            For runs with events or with signals in time, for runs that were read from a file, and
            for the runs of several seeds.
        """
        from biorrr.circuit.export.brian2_script import write_script

        return write_script(path, run)

    def to_html(
        self,
        path: str | os.PathLike,
        X,
        Y=None,
        run: Run | None = None,
        pixels: tuple[int, int] | None = None,
        s: float | None = None,
        *,
        epochs: int = 1,
        order=None,
        centre: bool = False,
        seed=None,
        weights: Mapping[str, object] | None = None,
        start: Run | None = None,
        title: str = "A cortical microcircuit learns",
    ) -> Path:
        """Write a page on which the circuit learns while one watches; return its path.

        The page is one file that needs no network. It computes what the engines compute, in the
        browser: ``page.html#samples=2000`` presents 2,000 samples at once and then holds all
        weights as JSON in its element `weights`. Rates "auto" run as with ``final=False``, and the
        order of samples repeats when it ends.

        Parameters
        ----------
        path
            File to write.
        X, Y, epochs, order, centre, seed, weights, start
            Data, their order and the start, as :meth:`run` takes them.
        run
            A run of this circuit on these data: the page begins as it began, and presents the same
            samples in the same order. It takes the place of ``epochs``, ``order``, ``centre``,
            ``seed``, ``weights`` and ``start``.
        pixels
            Rows and columns of the picture that each sample of X is; filters are then drawn as
            pictures.
        s
            Member of the family of regressions that the circuit is compared with, for circuits that
            do not say; 0 is RRMSE, 1 is CCA.
        title
            Heading of the page.

        Raises
        ------
        InputError
            For signals in time: a page presents samples. For a ``run`` that was read from a file,
            has events or belongs to another circuit.
        """
        from biorrr.circuit.export.live_page import write_page

        return write_page(
            self,
            path,
            X,
            Y,
            run,
            pixels,
            s,
            title,
            epochs=epochs,
            order=order,
            centre=centre,
            seed=seed,
            weights=weights,
            start=start,
        )

    def table(self) -> tuple[str, dict[str, str]]:
        """Return the name of the circuit, its cells, and the way it learns."""
        inputs = [port.population for port in self.ports]
        cells = [
            f"{p.size} {p.name}" for p in self.parts.populations if p.shape and p.name not in inputs
        ]
        pathways = (f"{p.name} ({p.source} to {p.target})" for p in self.parts.weighted)
        learned = self.regression.rows() if self.regression else {"pathways": ", ".join(pathways)}
        return f"{type(self).__name__} {self.name}".strip(), {
            "inputs": ", ".join(port.name for port in self.ports),
            "cells": ", ".join(cells),
            **learned,
            "departures": self.in_words or "none",
            "engine, seed": f"{self.engine}, {self.seed}",
        }

    @property
    def in_words(self) -> str:
        """Its departures, as a user writes them; empty where there are none."""
        return (
            self.regression.in_words if self.regression else "; ".join(map(repr, self.departures))
        )
