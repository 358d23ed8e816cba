"""The decorator that makes an experiment of a function, and what it declares.

Experiments live in ``sims/experiments``, one in each file or package, as a function of the same
name. The file's existence makes it a command.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab.findings import Findings
from biorrr.sims.lab.settings import ExperimentSettings

if TYPE_CHECKING:
    from biorrr.sims.lab.lab import Lab


@dataclass(frozen=True)
class Experiment:
    """A function from a lab and settings to findings, with its declarations; see
    :func:`experiment`.
    """

    function: Callable[[Lab, Any], Findings]
    settings: type[ExperimentSettings]
    shows: str
    takes: str
    paper: str = ""
    measure: str | Callable[[Any], str] = ""
    not_swept: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __call__(self, lab: Lab, settings: Any) -> Findings:
        """Run the experiment in a lab."""
        return self.function(lab, settings)

    @property
    def about(self) -> str:
        """Help of the command: the docstring of the experiment's file."""
        return sys.modules[self.function.__module__].__doc__ or ""

    def measure_of(self, settings: Any) -> str:
        """Return the name of the quantity that a sweep draws and compares, the lowest being the
        best.
        """
        return self.measure if isinstance(self.measure, str) else self.measure(settings)


def experiment(
    *,
    shows: str,
    takes: str,
    paper: str = "",
    measure: str | Callable[[Any], str] = "",
    not_swept: str = "",
    captions: Mapping[str, str] | None = None,
    small: Mapping[str, Any] | None = None,
) -> Callable[[Callable[[Lab, Any], Findings]], Experiment]:
    """Make an experiment of a function ``name(lab: Lab, settings: NameSettings) -> Findings``.

    Options, config files and checks follow from the type of ``settings``.

    Parameters
    ----------
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

    def declare(function: Callable[[Lab, Any], Findings]) -> Experiment:
        parameters = typing.get_type_hints(function, localns={"Lab": object, "Findings": object})
        return Experiment(
            function,
            parameters["settings"],
            shows,
            takes,
            paper,
            measure,
            not_swept,
            captions or {},
            small or {},
            function.__name__,
        )

    return declare
