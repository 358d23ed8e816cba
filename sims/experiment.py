"""An experiment: one object that declares what is simulated and what follows from it.

Experiments live in ``sims/experiments``, one in each file, as ``EXPERIMENT``: the file's existence makes it a command.
:mod:`biorrr.sims.frame` runs them.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from biorrr.sims.claims import Claim
from biorrr.sims.lazy import analysis, data_sets, np, xr
from biorrr.sims.options import command as command
from biorrr.sims.reports.views import Chart
from biorrr.sims.settings import ExperimentSettings, SettingsError

VERSIONS = ("biorrr", "numpy", "scipy", "brian2")  # what results can depend on, beside the settings

S = TypeVar("S", bound=ExperimentSettings)
Found = Mapping[str, Any]  # results of parts, by name
Datasets = Mapping[str, "xr.Dataset"]  # by name of file


def provenance(experiment: str, **more: str | bool) -> dict[str, Any]:
    """Say what wrote a config: the experiment, the versions its results can depend on, and ``more``."""
    from importlib.metadata import version

    return {
        "experiment": experiment,
        "python": platform.python_version(),
        **{name: version(name) for name in VERSIONS},
        **more,
    }


class StoppedError(Exception):
    """A run that ended early; ends the command with this message and exit code."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message, exit_code)  # both, so that it can be sent from one process to another
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.args[0]


@dataclass(frozen=True)
class Problem(Generic[S]):
    """What the parts of an experiment share.

    Parameters
    ----------
    settings
        With all that was left open worked out from the data.
    data
        What is learned.
    exact
        The exact solution for these data.
    """

    settings: S
    data: data_sets.Dataset
    exact: analysis.Yardstick


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an experiment has found; the frame writes, draws and prints it.

    Parameters
    ----------
    numbers
        For summary.json: text, truth values and numbers.
    title, rows
        The table that is printed.
    results
        Datasets, or runs of circuits, by the names of their files without ``.nc``; the first one is "run".
    figures
        What draws each figure and returns its axes, by the names of their files without suffix.
    files
        What writes each further file, by name; called with the path.
    claims
        Of the paper, each with whether it holds.
    curves
        The way there, for sweeps: by name, samples seen and the values at them, two sequences of the same length.
    failure
        Why an unfinished run ended; the frame fills it in.
    """

    numbers: Mapping[str, Any]
    title: str
    rows: Mapping[str, object]
    results: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    curves: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    failure: str = ""


class Experiment(Generic[S]):
    """What an experiment declares.

    The docstring of its file is the help of its command, the first line of it the command's summary.

    Attributes
    ----------
    settings
        Class of the settings, from which options and config follow. Its ``data_names`` are loaded one after another.
    shows, takes, paper
        Row in README's table: what it shows, how long it takes, where the paper has it.
    measure
        The number of the summary that a sweep draws; the lowest is best.
    not_swept
        Why it cannot be swept, where it cannot.
    figures
        What each figure shows, for those who do not see it, by name.
    charts
        Interactive charts of the report page.
    keeps_unfinished
        Whether a run that was interrupted or has diverged is a result too, where it is the only part.
    """

    settings: type[S]
    shows: ClassVar[str]
    takes: ClassVar[str]
    paper: ClassVar[str] = ""
    measure: ClassVar[str] = ""
    not_swept: ClassVar[str] = ""
    figures: ClassVar[Mapping[str, str]] = {}
    charts: ClassVar[tuple[Chart, ...]] = ()
    keeps_unfinished: ClassVar[bool] = False

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


def check_rank(k: int, data: data_sets.Dataset) -> None:
    """Refuse more neurons than the data allow, and data that never change."""
    m, n = data.X.shape[1], data.Y.shape[1]
    if k > min(m, n):
        raise SettingsError(f"k: must not exceed min(m, n) = {min(m, n)} of {data.name} (got {k}); reduce k")
    for view in ("X", "Y"):
        if not np.ptp(getattr(data, view), axis=0).any():
            raise data_sets.DataError(
                f"{data.name}: {view} must change from sample to sample (got the same row throughout)"
            )


def default_ridge(data: data_sets.Dataset) -> float:
    """The ridge unless it is set: 0.1 trace(Cxx)/m."""
    return 0.1 * float(np.square(data.stand_in[0]).mean())
