"""An experiment: one object that declares what is simulated and what follows from it.

Experiments live in ``sims/experiments``, one in each file, as ``EXPERIMENT``: the file's existence makes it a command.
:mod:`biorrr.sims.frame` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from biorrr.sims.cli.options import command as command
from biorrr.sims.lab.checks import check_rank as check_rank
from biorrr.sims.lab.checks import default_ridge as default_ridge
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.lab import StoppedError as StoppedError
from biorrr.sims.lab.settings import ExperimentSettings
from biorrr.sims.lab.settings import provenance as provenance
from biorrr.sims.lazy import analysis, data_sets, xr
from biorrr.sims.page.views import Chart

S = TypeVar("S", bound=ExperimentSettings)
Found = Mapping[str, Any]  # results of parts, by name
Datasets = Mapping[str, "xr.Dataset"]  # by name of file


@dataclass(frozen=True)
class Problem(Generic[S]):
    """What all parts on one data set share."""

    settings: S  # with all that was left open worked out from the data
    data: data_sets.Dataset
    exact: analysis.Yardstick  # the exact solution for these data


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an experiment has found; the frame writes, draws and prints it."""

    numbers: Mapping[str, Any]  # for summary.json: text, truth values and numbers
    title: str  # of the table that is printed
    rows: Mapping[str, object]
    results: Mapping[str, Any] = field(default_factory=dict)  # datasets or runs, by name of file: "run" is run.nc
    figures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # what draws each and returns its axes
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)  # what writes each further file
    claims: Sequence[Claim] = ()  # of the paper, each with whether it holds
    own_tests: Sequence[Claim] = ()  # of which the paper says nothing
    curves: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # for sweeps: samples seen, and values at them
    failure: str = ""  # why an unfinished run ended; the frame fills it in


class Experiment(Generic[S]):
    """What an experiment declares.

    The docstring of its file is the help of its command, the first line of it the command's summary.
    """

    settings: type[S]  # from which options and config follow; its every_data are loaded one after another
    shows: ClassVar[str]  # in README's table, as are:
    takes: ClassVar[str]  # how long
    paper: ClassVar[str] = ""  # where the paper has it
    measure: ClassVar[str] = ""  # the number of the summary that a sweep draws; the lowest is best
    not_swept: ClassVar[str] = ""  # why it cannot be swept, where it cannot
    figures: ClassVar[Mapping[str, str]] = {}  # caption of each figure: what it shows, and what there is to see in it
    charts: ClassVar[tuple[Chart, ...]] = ()  # interactive ones, of the report page
    keeps_unfinished: ClassVar[bool] = False  # whether a run cut short, or diverged, is a result if it is the only part

    @property
    def name(self) -> str:
        """Name of the command: that of the file."""
        return type(self).__module__.rpartition(".")[2]

    # -- before anything is written ------------------------------------------------------------------------------------

    def check(self, settings: S) -> S:
        """Refuse settings that do not fit together, and settle those that follow from others."""
        return settings

    def fit(self, settings: S, data: data_sets.Dataset) -> S:
        """Check the settings against a data set, and work out from it what they leave open: k must fit, and the ridge.

        Called with each data set in turn.
        """
        check_rank(settings.k, data)  # type: ignore[attr-defined]
        if settings.ridge is None:  # type: ignore[attr-defined]
            settings = replace(settings, ridge=default_ridge(data))  # type: ignore[call-arg]
        return settings

    def chapters(self, settings: S) -> Mapping[str, tuple[Experiment[Any], Any]]:
        """Other experiments that this one is made of, each with its settings, by names that become parts of file names.

        An experiment with chapters has no parts of its own: :meth:`combine` is given the findings of each, by name.
        """
        return {}

    # -- for each data set ---------------------------------------------------------------------------------------------

    def prepare(self, settings: S, data: data_sets.Dataset) -> Problem[S]:
        """Make what all parts on this data set share."""
        X, Y = data.stand_in
        return Problem(settings, data, analysis.Yardstick(X, Y, settings.s, settings.ridge))  # type: ignore[attr-defined]

    def parts(self, problem: Problem[S], found: Found) -> Mapping[str, Any]:
        """The parts to be simulated, by name: what each is, in any form that :meth:`run_part` knows.

        They run side by side. It is asked again with what they have ``found``, until no part is new: later parts may
        depend on earlier ones. A name becomes part of the name of a file.
        """
        raise NotImplementedError

    def run_part(self, problem: Problem[S], part: Any, options: Mapping[str, Any]) -> Any:
        """Run one part, perhaps in another process.

        Parameters
        ----------
        problem, part
            From :meth:`prepare` and :meth:`parts`.
        options
            Of the circuit's ``run``, by which it keeps checkpoints, goes on from them, and shows progress or not.

        Returns
        -------
        The run of a circuit, or arrays and numbers by name; the frame keeps these until all parts are finished.
        """
        raise NotImplementedError

    def conclude(self, problem: Problem[S], found: Found) -> Any:
        """Make :class:`Findings` of the results of all parts, or what :meth:`combine` needs for that."""
        raise NotImplementedError

    # -- over all data sets --------------------------------------------------------------------------------------------

    def combine(self, settings: S, concluded: Sequence[Any]) -> Findings:
        """Join what was concluded from each of several data sets."""
        (findings,) = concluded
        return findings

    # -- for sweeps and the report page --------------------------------------------------------------------------------

    def measure_of(self, settings: S) -> str:
        """The number of the summary that a sweep draws."""
        return self.measure

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """Datasets that the charts are drawn from, made of those in the folder; ``exact`` where the data are here."""
        return results

    def page_charts(self, results: Datasets) -> tuple[Chart, ...]:
        """Charts of these results, where they depend on them."""
        return self.charts


def caption_of(experiment: Experiment, figure: str) -> str:
    """The caption of a figure, by the name of its file without ending: "wiring-3" is the figure "wiring" of seed 3."""
    return experiment.figures.get(figure) or experiment.figures.get(figure.partition("-")[0], "")
