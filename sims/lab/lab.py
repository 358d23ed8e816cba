"""The lab: run folder, checkpoints, processes, progress and Ctrl-C, so that an experiment reads
like a script.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from biorrr.errors import BiorrrError, InputTypeError, RunError
from biorrr.sims.lab.claims import QUICK, Claim, without_verdicts
from biorrr.sims.lab.declaration import Experiment
from biorrr.sims.lab.findings import Findings
from biorrr.sims.lab.folder import RunFolder
from biorrr.sims.lab.folder.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.lab.folder.contents import INTERRUPTED
from biorrr.sims.lab.interrupts import pressed
from biorrr.sims.lab.processes import Workers
from biorrr.sims.lab.quantities import Quantity
from biorrr.sims.lab.settings import NO_NUMBERS, ExperimentSettings, config_text, provenance
from biorrr.sims.lazy import circuits, data_sets

S = TypeVar("S", bound=ExperimentSettings)


class StoppedError(BiorrrError):
    """A run that ended early; ends the command with this message and exit code."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(
            message, exit_code
        )  # both, so that it can be sent from one process to another
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.args[0]


class Workplace:
    """The folder, the data and the processes that a lab shares with its chapters; a context
    manager.

    Parameters
    ----------
    folder
        Not yet open. It is claimed by the first :meth:`Lab.map`; None for a point of a sweep, which
        keeps nothing.
    given
        Data that are loaded already, by their value.
    workers
        Number of processes that run items side by side; 1 for this process alone.
    """

    def __init__(
        self, folder: RunFolder | None = None, given: Mapping[Any, Any] = {}, workers: int = 1
    ) -> None:
        self.folder, self.given, self.workers = folder, given, workers
        self.checksums: dict[Any, str] = {}  # of all data that are read
        self.config: Callable[[], str] = str  # makes the text of config.toml
        self.checkpoints = NOT_KEPT
        self.claimed = False
        self._stack = ExitStack()

    def __enter__(self) -> Workplace:
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._stack.__exit__(*error)

    @property
    def attended(self) -> bool:
        """True if somebody looks on: progress is shown, and unfinished results may be kept."""
        return self.folder is not None

    def claim(self, every: float) -> Checkpoints:
        """Claim the folder, write config.toml to it, and return the checkpoints; from now on data
        stay as they are.
        """
        if not self.claimed:
            self.claimed = True
            if self.folder is not None:
                self._stack.enter_context(self.folder.opened(self.config()))
                self.folder.checkpoints.mkdir(exist_ok=True)
                self.checkpoints = Checkpoints(self.folder.checkpoints, every)
        return self.checkpoints

    def note(self, data: Any, checksum: str) -> None:
        """Note the checksum of data that are read; refuse data that changed, or that come too
        late.
        """
        if data in self.checksums and self.checksums[data] != checksum:
            raise data_sets.DataError(
                f"{data}: changed while the run was going on (another checksum); begin a new run"
            )
        if data not in self.checksums and self.claimed:
            raise RunError(f"{data}: must be loaded or declared before the first lab.map")
        self.checksums[data] = checksum


class Lab(Generic[S]):
    """The interface of an experiment to its run: data, run folder, processes, progress.

    Code outside :meth:`map` runs again when a run is resumed, and so is cheap and deterministic.
    Data are loaded, and settings filled in, before the first :meth:`map`, so that a refusal leaves
    no folder behind.
    """

    def __init__(
        self,
        experiment: Experiment,
        settings: S,
        workplace: Workplace | None = None,
        chapter: tuple[str, ...] = (),
    ) -> None:
        self.settings = settings  # with all that was left open filled in
        self.failure = ""  # why the only item is unfinished, where that is allowed
        self._experiment, self._chapter = experiment, chapter
        self._workplace = workplace or Workplace()
        self._used: dict[str, Quantity] = {}  # what was taken of files: areas, event, window
        self._asked: Counter[tuple[str, str]] = Counter()

    # -- data and settings -------------------------------------------------------------------------

    def load(self, data: Any) -> Any:
        """Load data, a value of :mod:`biorrr.sims.data`; their checksum is part of what the results
        belong to.
        """
        given = self._workplace.given
        loaded = given[data] if data in given else data.load()
        self._workplace.note(data, loaded.checksum)
        self._used |= {
            f"data_{name}": Quantity(f"data_{name}", text, "", f"data {name.replace('_', ' ')}")
            for name, text in loaded.used.items()
        }
        return loaded

    def declare(self, *data: Any) -> None:
        """Note the checksums of data that chapters will load, one after another; those that are
        missing are skipped.
        """
        for one in data:
            with suppress(data_sets.DataError):
                self._workplace.note(one, one.checksum())

    def set(self, **values: Any) -> S:
        """Change settings that follow from others or from the data; config.toml holds what they
        became.
        """
        self.settings = replace(self.settings, **values)
        return self.settings

    def fill_in(self, **values: Any) -> S:
        """Fill in those of the settings that were left open (None); config.toml holds what they
        became.
        """
        return self.set(
            **{
                name: value
                for name, value in values.items()
                if getattr(self.settings, name) is None
            }
        )

    # -- work --------------------------------------------------------------------------------------

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        *shared: Any,
        keep_unfinished: bool = False,
    ) -> dict[Any, Any]:
        """Run ``function(job, item, *shared)`` for each item, side by side, and return the results
        by item.

        Each result is kept in the run folder and never computed again.

        Parameters
        ----------
        function
            A function of a module. It returns a Run, a Dataset, or arrays and numbers by name.
            ``job.run(circuit, X, Y, ...)`` runs a circuit with checkpoints; see :class:`Job`.
        items
            Frozen dataclasses, or numbers and text; one call may hold items of several types.
        shared
            Further arguments, the same for all items: data, runs, exact solutions.
        keep_unfinished
            Return a single item's run if it was interrupted or has diverged; :attr:`failure` then
            says why it ended.
        """
        from biorrr.circuit.simulation.progress import progress_bar

        jobs = {self._name(function, item): item for item in _checked(items)}
        checkpoints = self._workplace.claim(self.settings.checkpoint)
        attended, single = self._workplace.attended, len(jobs) == 1
        work = functools.partial(
            _work,
            function,
            shared,
            self._identity(function),
            self.settings,
            checkpoints,
            alone=single,
            progress=attended and single,
            keep_unfinished=keep_unfinished and attended and single,
        )
        found = {}
        with (
            Workers(work, self._workplace.workers) as pool,
            progress_bar(len(jobs), " parts", self._experiment.name) as bar,
        ):
            bar.disable |= single or not attended  # a single circuit shows its samples
            for name, (result, failure) in pool.run(jobs):
                found[jobs[name]] = result
                self.failure = self.failure or failure
                if pressed() and not failure:  # too late for the item to heed it
                    raise KeyboardInterrupt
                bar.update()
        return {
            item: found[item] for item in jobs.values()
        }  # in their own order, whichever was finished first

    def _name(self, function: Callable, item: Any) -> str:
        """Return the name of the files of an item: the same in every run of the same experiment."""
        asked = function.__name__, repr(item)
        self._asked[asked] += 1  # the same item may be run on one data set after another
        which = (
            str(item)
            if isinstance(item, int)
            else hashlib.sha256(repr(item).encode()).hexdigest()[:16]
        )
        turn = [str(self._asked[asked])] if self._asked[asked] > 1 else []
        return "-".join([*self._chapter, function.__name__, which, *turn])

    def _identity(self, function: Callable) -> dict[str, str]:
        """Return what a result belongs to, beside its item: function, settings and data."""
        settings = {
            field.name: getattr(self.settings, field.name)
            for field in dataclasses.fields(self.settings)
        }
        return {"function": f"{function.__module__}.{function.__qualname__}"} | {
            "data": ",".join(self._workplace.checksums.values()),
            **{name: repr(value) for name, value in settings.items() if name not in NO_NUMBERS},
        }

    def chapter(self, name: str, experiment: Experiment, settings: Any) -> Findings:
        """Run another experiment inside this one; a chapter whose data are missing is skipped and
        says so.

        ``name`` becomes part of the names of files.
        """
        inner = Lab(experiment, settings, self._workplace, (*self._chapter, name))
        try:
            return inner.findings()
        except data_sets.DataError as error:
            claim = Claim(
                text=f"all that {experiment.name} checks",
                place=experiment.paper,
                untestable=str(error),
            )
            return Findings(title=f"not run: {error}", claims=[claim], experiment=experiment.name)

    def findings(self) -> Findings:
        """Run the experiment and return what it found, without verdicts if it has not come to its
        end.
        """
        if self.settings.circuit is not None:
            from biorrr.sims.lab.circuits import circuit_function

            circuit_function(self.settings.circuit)  # fails here or not at all
        found = self._experiment(self, self.settings)
        # A quick run of chapters leaves out those that have to converge.
        quick = QUICK if getattr(self.settings, "quick", False) and not found.chapters else ""
        why = quick or (self.failure and f"the run has not come to its end: {self.failure}")
        claims, own_tests = (
            without_verdicts(judged, why) for judged in (found.claims, found.own_tests)
        )
        quantities = [*found.quantities, *self._used.values()]
        return replace(
            found,
            quantities=quantities,
            claims=claims,
            own_tests=own_tests,
            failure=self.failure,
            experiment=self._experiment.name,
        )

    def config(self, **more: Any) -> str:
        """Return the text of config.toml, with the settings as they are now or with ``more`` in
        place of them.
        """
        data = ",".join(self._workplace.checksums.values())
        return config_text(
            replace(self.settings, **more), provenance(self._experiment.name, data_sha256=data)
        )


@dataclass
class Job:
    """The context in which the function of :meth:`Lab.map` computes one item."""

    settings: Any
    name: str
    checkpoints: Checkpoints
    progress: bool = False
    keep_unfinished: bool = False
    failure: str = ""  # why the run is unfinished, where that is allowed
    _runs: int = 0

    def run(self, circuit: Any, X: Any, Y: Any, **options: Any) -> circuits.Run:
        """Run a circuit with checkpoints, progress and Ctrl-C; ``options`` are those of its
        ``run``.
        """
        try:
            run = circuit.run(X, Y, **self.options(), **options)
        except circuits.Diverged as error:
            if not self.keep_unfinished:
                raise
            self.failure = str(error)
            return error.run
        if run.ended == INTERRUPTED:
            if not self.keep_unfinished:
                raise KeyboardInterrupt
            self.failure = INTERRUPTED
        return run

    def options(self) -> dict[str, Any]:
        """Return the options of a circuit's ``run`` by which it keeps checkpoints of its own and
        shows progress.
        """
        self._runs += 1
        name = self.name if self._runs == 1 else f"{self.name}-{self._runs}"
        return {**self.checkpoints.run_options(name), "progress": self.progress}


def _checked(items: Iterable[Any]) -> list[Any]:
    """Return the items, each once; refuse what cannot be told apart by its value."""
    for item in (items := [*items]):
        frozen = dataclasses.is_dataclass(item) and type(item).__dataclass_params__.frozen  # type: ignore
        if not frozen and not isinstance(item, int | float | str):
            raise InputTypeError(
                "lab.map: items must be frozen dataclasses, numbers or text (got"
                f" {type(item).__name__})"
            )
    return [*dict.fromkeys(items)]


def _work(
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    identity: dict[str, str],
    settings: Any,
    checkpoints: Checkpoints,
    name: str,
    item: Any,
    *,
    alone: bool,
    progress: bool,
    keep_unfinished: bool,
) -> tuple[Any, str]:
    """Return the result of an item, from disk if it was finished earlier, and why it is unfinished,
    if it may be.
    """
    identity = identity | {"item": repr(item)}
    if (kept := checkpoints.kept(name, identity)) is not None:
        return kept, ""
    job = Job(settings, name, checkpoints, progress, keep_unfinished)
    try:
        result = function(job, item, *shared)
    except circuits.Diverged as error:
        raise StoppedError(str(error) if alone else f"{_words(item)}: {error}") from error
    return checkpoints.keep(name, identity, result), job.failure


def _words(item: Any) -> str:
    """Return the item in words: the names and values of its fields."""
    if not dataclasses.is_dataclass(item):
        return f"seed {item}" if isinstance(item, int) else str(item)
    return ", ".join(
        f"{field.name} {getattr(item, field.name)}" for field in dataclasses.fields(item)
    )
