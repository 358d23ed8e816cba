"""Experiments of the old form, classes with hooks, run in a lab until all are functions."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from biorrr.sims.lab.declaration import Experiment
from biorrr.sims.lab.findings import Figure, Findings
from biorrr.sims.lab.lab import Job, Lab
from biorrr.sims.lab.quantities import PERCENT, Quantity
from biorrr.sims.lazy import circuits

CHARTED = {"learning_curve", "plateau", "filters", "excess", "symmetry", "communication", "compare", "images"}


@dataclass(frozen=True)
class Part:
    """A part of an experiment of the old form."""

    name: str


@dataclass(frozen=True)
class Legacy(Experiment):
    """An experiment of the old form."""

    old: Any = None

    @property
    def about(self) -> str:
        """Help of the command."""
        import sys

        return sys.modules[type(self.old).__module__].__doc__ or ""

    def measure_of(self, settings: Any) -> str:
        """Return the number that a sweep draws."""
        return self.old.measure_of(settings)

    def page_results(self, results: Mapping[str, Any], exact: Any) -> Mapping[str, Any]:
        """Return the datasets of the charts."""
        return self.old.page_results(results, exact)

    def charts_of(self, results: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the charts."""
        return self.old.page_charts(results)


def adapted(old: Any) -> Legacy:
    """Return an experiment of the old form as one of the new."""
    function = functools.partial(_run, old)
    shows, takes = getattr(old, "shows", ""), getattr(old, "takes", "")
    declared = {"paper": old.paper, "measure": old.measure, "not_swept": old.not_swept, "captions": old.figures}
    return Legacy(function, old.settings, shows, takes, **declared, name=old.name, old=old)


def _run(old: Any, lab: Lab[Any], settings: Any) -> Findings:
    settings = old.check(settings)
    only = None
    for value in settings.every_data:
        data = lab.load(value)
        settings = old.fit(settings, data)
        only = data if len(settings.every_data) == 1 else None
    settings = lab.set(**{field.name: getattr(settings, field.name) for field in fields(settings)})
    concluded = []
    for value in settings.every_data:
        problem = old.prepare(settings, lab.load(value) if only is None else only)
        concluded.append(old.conclude(problem, rounds(old, lab, problem)))
    return _converted(old.combine(settings, concluded))


def rounds(old: Any, lab: Lab[Any], problem: Any) -> dict[str, Any]:
    """Run all parts, round by round, and return the results by name."""
    found: dict[str, Any] = {}
    while True:
        parts = old.parts(problem, found)
        left = [Part(name) for name in parts if name not in found]
        if not left:
            return found
        done = lab.map(run_part, left, old, problem, {part.name: parts[part.name] for part in left})
        found |= {part.name: result for part, result in done.items()}


def run_part(job: Job, part: Part, old: Any, problem: Any, parts: Mapping[str, Any]) -> Any:
    """Run a part."""
    result = old.run_part(problem, parts[part.name], job.options())
    if isinstance(result, circuits.Run) and result.ended == "interrupted":
        raise KeyboardInterrupt
    return result


def _converted(findings: Any) -> Findings:
    def unit(name: str, value: Any) -> str:
        return PERCENT if isinstance(value, float) and ("excess" in name or "relative_error" in name) else ""

    figures = [(stem.partition("-"), draw) for stem, draw in findings.figures.items()]
    return Findings(
        title=findings.title,
        quantities=[Quantity(name, value, unit(name, value)) for name, value in findings.numbers.items()],
        data=findings.results,
        figures=[Figure(name, draw, which, name in CHARTED) for (name, _, which), draw in figures],
        files=findings.files,
        claims=findings.claims,
        own_tests=findings.own_tests,
        curves=findings.curves,
        rows=findings.rows,
    )
