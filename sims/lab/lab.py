"""An experiment, and the lab in which it runs: data, run folder, workers, progress and Ctrl-C, so
that an experiment reads like a script.

Experiments live in ``sims/experiments``, one in each file, as a function of the same name. The
file's existence makes it a command.
"""

from __future__ import annotations

import copy
import functools
import shutil
import sys
import typing
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from biorrr.sims import data as data_sets
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.findings import COLUMNS, Findings, Quantity
from biorrr.sims.lab.items import (
    Grid,
    StoppedError,
    Submit,
    compiled_if_possible,
    compute_items,
    digest_of,
    one_by_one,
    submit_here,
    submit_side_by_side,
)
from biorrr.sims.lab.own_circuits import circuit_function
from biorrr.sims.lab.run_folder import INTERRUPTED, RunFolder, is_finished
from biorrr.sims.lab.settings import BasicSettings, config_text, provenance
from biorrr.sims.lab.training import check_rank
from biorrr.sims.lazy import circuits

S = TypeVar("S", bound=BasicSettings)


@dataclass(frozen=True)
class Experiment:
    """A function from a lab and settings to findings, with its declarations.

    Parameters
    ----------
    function
        ``name(lab: Lab, settings: NameSettings) -> Findings``. Options, config files and checks
        follow from the type of ``settings``.
    shows, takes, paper
        What the experiment shows, how long it takes and where the paper has it: the row of the
        README's table.
    measure
        Name of the quantity that a sweep draws and compares, the lowest being the best; a function
        from settings to the name where it depends on them.
    not_swept
        Why the experiment cannot be swept, if it cannot.
    captions
        Caption of each figure, by its name.
    small
        Settings with which the experiment takes a second or two: the tests use them.
    """

    function: Callable[[Lab, Any], Findings]
    shows: str
    takes: str
    paper: str = ""
    measure: str | Callable[[Any], str] = ""
    not_swept: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the function, of its file and of its command."""
        return self.function.__name__

    @functools.cached_property
    def settings(self) -> type[BasicSettings]:
        """The class of its settings."""
        return typing.get_type_hints(self.function)["settings"]

    @property
    def about(self) -> str:
        """Help of the command: the docstring of the experiment's file."""
        return sys.modules[self.function.__module__].__doc__ or ""

    def measure_of(self, settings: Any) -> str:
        """Return the name of the quantity that a sweep draws and compares, the lowest being the
        best.
        """
        return self.measure if isinstance(self.measure, str) else self.measure(settings)


def experiment(**declared: Any) -> Callable[[Callable[[Lab, Any], Findings]], Experiment]:
    """Make an experiment of a function; see :class:`Experiment` for what can be declared."""
    return functools.partial(Experiment, **declared)


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
        folder: RunFolder | None = None,
        given: Mapping[Any, Any] = {},
        submit: Submit = submit_here,
    ) -> None:
        self.settings = settings  # with all that was left open filled in
        self.failure = ""  # why the only item is unfinished, where that is allowed
        self._experiment, self._chapter = experiment, ""
        self._folder, self._given, self._submit = folder, given, submit
        self._begin = self.begin  # that of the whole run, in chapters too
        self._checksums: dict[Any, str] = {}  # of all data that are read, also by chapters
        self._used: dict[str, Quantity] = {}  # what was taken of files: areas, event, window
        self._asked: Counter[str] = Counter()

    # -- data and settings -------------------------------------------------------------------------

    def load(self, data: Any, k: int = 0) -> data_sets.Dataset:
        """Load data, a value of :mod:`biorrr.sims.data`; their checksum is part of what the results
        belong to.

        With ``k``, refuse data from which ``k`` neurons cannot learn.
        """
        loaded = self._given[data] if data in self._given else data.load()
        self._note(data, loaded.checksum)
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
                self._note(one, one.load().checksum)

    def _note(self, data: Any, checksum: str) -> None:
        """Note the checksum of data that are read; refuse data that changed, or that come too
        late.
        """
        known = self._checksums.setdefault(data, checksum)
        if known != checksum:
            raise data_sets.DataError(
                f"{data}: changed while the run was going on (another checksum); begin a new run"
            )

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

        Returns
        -------
        A dataset of all results with these coordinates; of runs, an array of these.
        """
        grid = Grid.over(over)
        items = grid.items
        if seeds is not None:
            own = getattr(self.settings, "circuit", None) is not None
            compiled = not own and compiled_if_possible(self.settings.engine) == "cpp"
            batches = [tuple(seeds)] if compiled else [(seed,) for seed in seeds]
            items = [{**item, "seeds": batch} for item in items for batch in batches]
            grid = Grid.over({**over, "seed": seeds})
        self._begin()
        results, failure = compute_items(
            function,
            {self.name_item(function, item): item for item in items},
            shared,
            settings=self.settings,
            place=self._folder.checkpoints if self._folder is not None else None,
            submit=self._submit,
            title=self._experiment.name,
            keep_unfinished=keep_unfinished,
        )
        self.failure = self.failure or failure
        if seeds is not None:
            results = [one for several in results for one in one_by_one(several)]
        if any(isinstance(result, circuits.Run) for result in results):
            return grid.array(results)
        return grid.join(results)

    def begin(self) -> None:
        """Keep config.toml in the folder, from which the run can be resumed from now on."""
        if self._folder is not None and not self._folder.begun:
            self._folder.begin(self.config())

    def name_item(self, function: Callable, item: Mapping[str, Any]) -> str:
        """Name the files of an item: the same in every run of the same experiment with the same
        settings and data. An item that comes again, on other data for example, gets a number.
        """
        checksums = [*self._checksums.values()]
        digest = digest_of(function, item, self.settings, checksums)
        name = f"{self._chapter}{function.__name__}-{digest}"
        self._asked[name] += 1
        return name if self._asked[name] == 1 else f"{name}-{self._asked[name]}"

    def chapter(self, name: str, experiment: Experiment, settings: Any) -> Findings:
        """Run another experiment inside this one; a chapter whose data are missing is skipped and
        says so.

        ``name`` becomes part of the names of files.
        """
        inner = copy.copy(self)
        inner._experiment, inner.settings = experiment, settings
        inner._chapter, inner._used, inner._asked = f"{self._chapter}{name}-", {}, Counter()
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
        if own := getattr(self.settings, "circuit", None):
            circuit_function(own)  # fails here or not at all
        found = self._experiment.function(self, self.settings)
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
            captions=self._experiment.captions,
        )

    def config(self, **more: Any) -> str:
        """Return the text of config.toml, with the settings as they are now or with ``more`` in
        place of them.
        """
        data = ",".join(self._checksums.values())
        return config_text(
            replace(self.settings, **more), provenance(self._experiment.name, data_sha256=data)
        )


def carry_out(
    experiment: Experiment,
    settings: Any,
    folder: RunFolder,
    given: Mapping[Any, Any] = {},
    submit: Submit = submit_side_by_side,
) -> Findings:
    """Run an experiment, print what it finds and fill a folder with it.

    Parameters
    ----------
    experiment, settings
        What to run.
    folder
        The folder to fill.
    given
        Data that are loaded already, by their value.
    submit
        How items are computed.
    """
    lab = Lab(experiment, settings, folder, given, submit)
    try:
        with warnings.catch_warnings(), folder:
            # A circuit's words, and ours follow.
            warnings.filterwarnings("ignore", message="interrupted after")
            findings = lab.findings()
            lab.begin()
            if findings.failure and is_finished(folder.path):  # half a run takes no other's place
                if findings.failure == INTERRUPTED:
                    raise KeyboardInterrupt
                folder.discard()
                raise StoppedError(
                    f"{findings.failure} (nothing is kept of it, and the earlier run in"
                    f" {folder.path} stays)"
                )
            # What was found comes first: figures take longer to draw than a short run takes.
            columns = shutil.get_terminal_size((COLUMNS, 24)).columns
            print(*findings.lines(columns), sep="\n", flush=True)
            # The engine that "auto" was: it repeats the run bit for bit.
            engine = {key: one for key, one in findings.numbers.items() if key == "engine"}
            folder.fill(lab.config(**engine), findings, lab.settings.format)
    except KeyboardInterrupt:
        if folder.has_checkpoints:
            earlier = "; until then the earlier run stays as it was"
            way_on = f"`biorrr resume {folder.path}` continues it"
            said = f"interrupted; {way_on}{earlier if is_finished(folder.path) else ''}"
            raise StoppedError(said, exit_code=130) from None
        raise
    print(f"written to {folder.path}")
    if findings.failure:
        saved = f"{findings.numbers['samples']} samples are in {folder.path}"
        if findings.failure == INTERRUPTED:
            way_on = f"`biorrr resume {folder.path}` continues it"
            raise StoppedError(f"interrupted; {saved}; {way_on}", exit_code=130)
        raise StoppedError(f"{findings.failure} ({saved})")
    return findings


def evaluate(experiment: Experiment, settings: Any, given: Mapping[Any, Any] = {}) -> Findings:
    """Return what an experiment finds, in this process and without a folder: a point of a sweep."""
    return Lab(experiment, settings, given=given).findings()
