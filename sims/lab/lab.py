"""The lab: run folder, checkpoints, workers, progress and Ctrl-C, so that an experiment reads like
a script.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from biorrr.errors import BiorrrError, RunError
from biorrr.interrupt import PRESSED
from biorrr.sims import data as data_sets
from biorrr.sims.lab.findings import Findings, Quantity
from biorrr.sims.lab.own_circuits import circuit_function, compiled_if_possible
from biorrr.sims.lab.run_folder import INTERRUPTED, RunFolder, write_results
from biorrr.sims.lab.safe_files import inside, open_inside
from biorrr.sims.lab.settings import NO_NUMBERS, BasicSettings, config_text, provenance
from biorrr.sims.lab.training import check_rank
from biorrr.sims.lab.workers import Submit, submit_here
from biorrr.sims.lazy import circuits, xr

if TYPE_CHECKING:
    from biorrr.sims.lab.experiment import Experiment

S = TypeVar("S", bound=BasicSettings)


class StoppedError(BiorrrError):
    """A run that ended early; ends the command with this message and exit code."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        # Both, so that it can be sent from one process to another.
        super().__init__(message, exit_code)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.args[0]


@dataclass
class Workplace:
    """The folder, the data and the workers that a lab shares with its chapters.

    Parameters
    ----------
    folder
        The run folder; None for a sweep and for each of its points.
    given
        Data that are loaded already, by their value.
    submit
        How items are computed; see :mod:`biorrr.sims.lab.workers`.
    kept_in
        Folder of the results of a sweep, where there is no run folder; None to keep nothing.
    """

    folder: RunFolder | None = None
    given: Mapping[Any, Any] = field(default_factory=dict)
    submit: Submit = submit_here
    kept_in: Path | None = None
    checksums: dict[Any, str] = field(default_factory=dict)  # of all data that are read
    config: Callable[[], str] = str  # makes the text of config.toml
    begun: bool = False

    @property
    def place(self) -> Path | None:
        """Folder of the results of finished items; None to keep nothing."""
        return self.folder.checkpoints if self.folder is not None else self.kept_in

    def begin(self) -> None:
        """Keep config.toml in the folder; from now on data stay as they are."""
        if not self.begun and self.folder is not None:
            self.folder.begin(self.config())
        self.begun = True

    def note(self, data: Any, checksum: str) -> None:
        """Note the checksum of data that are read; refuse data that changed, or that come too
        late.
        """
        if data in self.checksums and self.checksums[data] != checksum:
            raise data_sets.DataError(
                f"{data}: changed while the run was going on (another checksum); begin a new run"
            )
        if data not in self.checksums and self.begun:
            raise RunError(f"{data}: must be loaded or declared before the first lab.map")
        self.checksums[data] = checksum


class Lab(Generic[S]):
    """The interface of an experiment to its run: data, run folder, workers, progress.

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
        self._asked: Counter[str] = Counter()

    # -- data and settings -------------------------------------------------------------------------

    def load(self, data: Any, k: int = 0) -> data_sets.Dataset:
        """Load data, a value of :mod:`biorrr.sims.data`; their checksum is part of what the results
        belong to.

        With ``k``, refuse data from which ``k`` neurons cannot learn.
        """
        given = self._workplace.given
        loaded = given[data] if data in given else data.load()
        self._workplace.note(data, loaded.checksum)
        self._used |= {
            f"data_{name}": Quantity(f"data_{name}", text, "", f"data {name.replace('_', ' ')}")
            for name, text in loaded.used.items()
        }
        if k:
            check_rank(k, loaded)
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
        left_open = [name for name in values if getattr(self.settings, name) is None]
        return self.set(**{name: values[name] for name in left_open})

    # -- work --------------------------------------------------------------------------------------

    def map(
        self,
        function: Callable[..., Any],
        over: Mapping[str, Any],
        *shared: Any,
        seeds: Sequence[int] | None = None,
        keep_unfinished: bool = False,
        on_error: Callable[[Exception], Any] | None = None,
    ) -> Any:
        """Run ``function(task, *shared, **coordinates)`` for all combinations of coordinates, side
        by side.

        Each result is kept in the run folder and never computed again.

        Parameters
        ----------
        function
            A function of a module. It returns a Run, a Dataset, or numbers and arrays by name.
            ``task.run(circuit, X, Y, ...)`` runs a circuit with checkpoints; see :class:`Task`.
        over
            The values of each coordinate by name: numbers, text or frozen dataclasses. Each is a
            dimension, unless a tuple of a dimension and values says which it belongs to.
        shared
            Further arguments, the same for all items: data, runs, exact solutions.
        seeds
            The last coordinate, ``seed``, for a function that takes several ``seeds``, gives them
            to ``task.run(..., seeds=seeds)``, and returns a list with a result for each. Compiled
            circuits get all seeds at once and run them side by side.
        keep_unfinished
            Return a single item's run if it was interrupted or has diverged; :attr:`failure` then
            says why it ended.
        on_error
            Function that makes a result of the error of an item; unless given, the first error
            ends all.

        Returns
        -------
        A dataset of all results with these coordinates; of runs, an array of these.
        """
        from biorrr.sims.lab.labelled import Grid

        grid = Grid.over(over)
        if seeds is None:
            results = self._compute(function, grid.items, shared, keep_unfinished, on_error)
        else:
            batches = [tuple(seeds)] if self._compiled else [(seed,) for seed in seeds]
            items = [{**item, "seeds": batch} for item in grid.items for batch in batches]
            found = self._compute(function, items, shared, keep_unfinished, on_error)
            results = [one for several in found for one in _one_by_one(several)]
            grid = Grid.over({**over, "seed": seeds})
        if any(isinstance(result, circuits.Run) for result in results):
            return grid.array(results)
        return grid.join(results)

    @property
    def _compiled(self) -> bool:
        """True if the paper's circuits are compiled."""
        settings = self.settings
        own = getattr(settings, "circuit", None) is not None
        return not own and compiled_if_possible(settings.engine) == "cpp"

    def _compute(
        self,
        function: Callable[..., Any],
        items: Sequence[Mapping[str, Any]],
        shared: tuple[Any, ...],
        keep_unfinished: bool,
        on_error: Callable[[Exception], Any] | None,
    ) -> list[Any]:
        """Return the result of each item, in their order: from disk if it was finished earlier."""
        from biorrr.circuit.simulation.progress import progress_bar
        from biorrr.sims.lab.labelled import Grid, as_dataset, in_memory_order

        workplace = self._workplace
        workplace.begin()
        place, single = workplace.place, len(items) == 1
        names = [self._asked_name(function, item) for item in items]
        results: list[Any] = [kept_result(place, name) for name in names]
        left = [number for number, result in enumerate(results) if result is None]
        work = functools.partial(_work, function, self.settings, place, single, keep_unfinished)
        title, done = self._experiment.name, len(items) - len(left)
        with (
            closing(
                workplace.submit(work, shared, [(names[number], items[number]) for number in left])
            ) as outcomes,
            progress_bar(len(items), " parts", title, initial=done) as bar,
        ):
            bar.disable |= single or place is None  # a single circuit shows its samples
            for number, outcome in outcomes:
                if isinstance(outcome, Exception):
                    if on_error is None:
                        raise outcome
                    outcome = on_error(outcome), ""
                result, failure = outcome
                several = result if isinstance(result, list) else [result]
                if all(isinstance(one, circuits.Run) for one in several):
                    # A run is kept by its own checkpoint, which the circuit has written.
                    several = [circuits.Run(in_memory_order(run.data)) for run in several]
                    result = several if isinstance(result, list) else several[0]
                else:
                    sets = [as_dataset(function.__name__, one) for one in several]
                    seeds = Grid.over({"seed": items[left[number]].get("seeds", (0,))})
                    result = seeds.join(sets) if isinstance(result, list) else sets[0]
                    keep_result(place, names[left[number]], result)
                results[left[number]] = result
                self.failure = self.failure or failure
                if PRESSED.is_set() and not failure:  # too late for the item to heed it
                    raise KeyboardInterrupt
                bar.update()
        return results

    def _asked_name(self, function: Callable, item: Mapping[str, Any]) -> str:
        """Return the name of an item, with a number where it was asked for before."""
        name = self.name_of(function, item)
        self._asked[name] += 1  # the same item may be run on one data set after another
        return name if self._asked[name] == 1 else f"{name}-{self._asked[name]}"

    def name_of(self, function: Callable, item: Mapping[str, Any]) -> str:
        """Return the name of the files of an item: the same in every run of the same experiment
        with the same settings and data.
        """
        settings = [one.name for one in dataclasses.fields(self.settings)]
        settings = [name for name in settings if name not in NO_NUMBERS]
        identity = [
            function.__module__,
            sorted((name, repr(value)) for name, value in item.items()),
            [(name, repr(getattr(self.settings, name))) for name in settings],
            [*self._workplace.checksums.values()],
        ]
        digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
        return "-".join([*self._chapter, function.__name__, digest])

    def chapter(self, name: str, experiment: Experiment, settings: Any) -> Findings:
        """Run another experiment inside this one; a chapter whose data are missing is skipped and
        says so.

        ``name`` becomes part of the names of files.
        """
        inner = Lab(experiment, settings, self._workplace, (*self._chapter, name))
        try:
            return inner.findings()
        except data_sets.DataError as error:
            from biorrr.sims.lab.claims import Claim

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
        if own := getattr(self.settings, "circuit", None):
            circuit_function(own)  # fails here or not at all
        found = self._experiment(self, self.settings)
        # A quick run of chapters leaves out those that have to converge.
        why = self.failure and f"the run has not come to its end: {self.failure}"
        if getattr(self.settings, "quick", False) and not found.chapters:
            why = "a --quick run is a first look: it has not converged"
        return replace(
            found,
            quantities=[*found.quantities, *self._used.values()],
            claims=[replace(one, unjudged=one.unjudged or why) for one in found.claims],
            own_tests=[replace(one, unjudged=one.unjudged or why) for one in found.own_tests],
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
class Task:
    """The context in which the function of :meth:`Lab.map` computes one item.

    Parameters
    ----------
    settings
        Settings of the experiment.
    place, name
        Folder of the checkpoints, None to keep none, and name of the item's.
    progress
        True to show progress.
    keep_unfinished
        True to return runs that were interrupted or have diverged.
    """

    settings: Any
    place: Path | None = None
    name: str = ""
    progress: bool = False
    keep_unfinished: bool = False
    failure: str = ""  # why the run is unfinished, where that is allowed
    _runs: int = 0

    def run(self, circuit: Any, X: Any, Y: Any, seeds: Sequence[int] = (), **options: Any) -> Any:
        """Run a circuit with checkpoints, progress and Ctrl-C; ``options`` are those of its
        ``run``.

        With ``seeds``, the circuit runs with each of them, and a list of runs is returned.
        """
        if len(seeds) == 1:
            return [self.run(circuit, X, Y, seed=seeds[0], **options)]
        self._runs += 1
        if self.place is not None:
            # Not NAME-2: that is the checkpoint of seed 2 of the first run.
            name = self.name if self._runs == 1 else f"{self.name}-run-{self._runs}"
            path = inside(self.place, f"{name}.npz")
            options["checkpoint"] = circuits.Checkpoint(path, self.settings.checkpoint)
        options["progress"] = self.progress
        if seeds:
            runs = circuit.run(X, Y, seeds=seeds, **options)
            for seed, error in runs.errors.items():
                raise StoppedError(f"seed {seed}: {error}") from error
            if runs[-1].ended == INTERRUPTED or len(runs) < len(seeds):
                raise KeyboardInterrupt
            return list(runs)
        try:
            run = circuit.run(X, Y, **options)
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


def _work(
    function: Callable[..., Any],
    settings: Any,
    place: Path | None,
    single: bool,
    keep_unfinished: bool,
    item: tuple[str, Mapping[str, Any]],
    *shared: Any,
) -> tuple[Any, str]:
    """Return the result of an item, and why it is unfinished, if it may be."""
    name, coordinates = item
    attended = single and place is not None
    task = Task(settings, place, name, attended, keep_unfinished and attended)
    try:
        return function(task, *shared, **coordinates), task.failure
    except circuits.Diverged as error:
        where = {name: value for name, value in coordinates.items() if name != "seeds"}
        if "seeds" in coordinates:
            where["seed"] = error.run.attrs["seed"]
        words = ", ".join(f"{name} {value}" for name, value in where.items())
        raise StoppedError(str(error) if single else f"{words}: {error}") from error


def _one_by_one(several: Any) -> list[Any]:
    """Return the result of each seed, of a list of runs or of a dataset along ``seed``."""
    if isinstance(several, list):
        return several
    return [several.isel(seed=place, drop=True) for place in range(several.sizes["seed"])]


def keep_result(place: Path | None, name: str, result: xr.Dataset) -> None:
    """Keep the result of an item in a folder, which is made, unless it is None."""
    if place is not None:
        from biorrr.files import whole_file

        place.mkdir(parents=True, exist_ok=True)
        with whole_file(inside(place, f"{name}.nc")) as partial:
            write_results(result, partial)


def kept_result(place: Path | None, name: str) -> xr.Dataset | None:
    """Return the result of an item that was finished earlier; None if there is none, or if it is
    damaged: it is computed again.
    """
    if place is None or not inside(place, f"{name}.nc").exists():
        return None
    from biorrr.circuit.results.netcdf import read_netcdf

    with open_inside(place, f"{name}.nc") as file, suppress(Exception):
        return read_netcdf(file)  # damaged files make HDF5 and xarray raise a dozen kinds
    return None
