"""The parts that a circuit is made of, as plain values: populations of cells, pathways of synapses,
their variables.

A part knows nothing of the simulator. Its equations are text in Brian2's equation language, held in
fields, so that :func:`dataclasses.replace` makes a variant of it; :mod:`biorrr.circuit` checks,
builds and runs circuits of such parts.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal, Self

from biorrr.errors import InputError
from biorrr.models.expressions import subtracts
from biorrr.models.language import (
    Expression,
    OptionalExpression,
    RuleText,
    Statements,
    Value,
    check_name,
)
from biorrr.models.validation import (
    UNITS,
    Checked,
    Count,
    NotNegative,
    PositiveCount,
    check_fields,
    instance_of,
    one_of,
)

# The phases of each block, in order: when currents flow and when cells and synapses act.
PHASES = {
    "input": (
        "A sample comes on, or an input is replayed; the clock and the learning rates are set."
    ),
    "feedback output": "Somata of areas with apical feedback speak by spikes.",
    "drive": "Currents of the input fibres reach the soma and the distal dendrite.",
    "membrane": "Membranes of the soma and of the distal dendrite relax towards their currents.",
    "cells": "Cells of a population that stands for one output fire, each by its own membrane.",
    "output": "The soma gives its output, as spikes or otherwise.",
    "recruitment": "Currents of the pyramidal output reach the interneurons.",
    "interneuron": "Membranes of the interneurons relax.",
    "delay": "What interneurons say is held back.",
    "interneuron cells": (
        "Cells of a population that stands for one interneuron fire, each by its own membrane."
    ),
    "interneuron output": "Interneurons speak, by spikes or otherwise.",
    "inhibition": "Currents of the interneurons reach the distal dendrite.",
    "dendrite": "The distal dendrite relaxes under inhibition.",
    "plateau": "The plateau potential forms: what inhibition leaves of the distal current.",
    "plateau shape": "That drive is turned into the kind of plateau that the cell makes.",
    "plateau decay": "The plateau rises and decays.",
    "apical": "The plateau reaches the soma.",
    "eligibility": "Traces take in what cells have just done, for synapses that learn across time.",
    "modulation": "The neuromodulator fits the learning rates to what the cells have done.",
    "integration": "What rules ask for is summed up while a sample is named.",
    "plasticity": "Synapses change, by the activities of the sample and the weights before it.",
}
Phase = Annotated[str, partial(one_of, choices=tuple(PHASES))]
# The blocks of the program: when a sample comes on, every tick for which it is held, when it ends.
BLOCKS = ("onset", "tick", "end")
Block = Annotated[str, partial(one_of, choices=BLOCKS)]
# Names that every synapse or cell has already.
_GIVEN = ("i", "j", "w", "plastic")


@dataclass(frozen=True)
class Variable(Checked):
    """A quantity of cells or synapses, declared once; equations, state and traces follow from it.

    Parameters
    ----------
    name
        Its name in equations.
    meaning
        Its meaning in words, for descriptions, Datasets and figures.
    per
        The holders: each "cell" or the whole "population", each "synapse" or the whole "pathway",
        or the "circuit". The last is broadcast: every part may read it. A population that
        broadcasts has one cell.
    role
        "activity", computed anew in every tick; "memory", kept from one tick to the next and from
        one run to the run that continues it; "parameter", set when a run begins; "input", set from
        outside in every tick.
    value
        Of a parameter, or of a memory when a circuit is new: a number, or an expression of the
        part's other parameters, of what is broadcast, of `seed`, of `i`, which counts the cells or
        synapses (source by source), and of the functions `cells('population')`, their number, and
        `relaxation(tau)`, how far something of the time constant tau (ms) relaxes in one tick.
    unit
        Its physical unit, one of :data:`biorrr.models.validation.UNITS`; "1" where it has none.
        Brian2 checks that statements agree with it.
    block
        "end" where only its value when a sample ends counts: a trace then has one value per sample,
        not one per tick.
    """

    name: str
    meaning: str = ""
    per: Literal["cell", "population", "synapse", "pathway", "circuit"] = "cell"
    role: Literal["activity", "memory", "parameter", "input"] = "activity"
    value: Value = 0.0
    unit: Annotated[str, partial(one_of, choices=tuple(UNITS))] = "1"
    block: Literal["tick", "end"] = "tick"

    def __post_init__(self) -> None:
        check_fields(self, check_name("Variable.name", self.name, variable=True))
        if self.name in _GIVEN or self.name.endswith(("_pre", "_post")):
            raise InputError(
                f"Variable.name: must be a name that equations can use (got {self.name!r}); not"
                f" {', '.join(_GIVEN)}, which have a meaning already, and not one that ends in _pre"
                " or _post"
            )


def parameter(
    name: str, meaning: str, value: float | str, unit: str = "1", per: str = "population"
) -> Variable:
    """Return a parameter that all cells of a population share, or what else ``per`` says."""
    return Variable(name, meaning, per, "parameter", value, unit=unit)  # type: ignore[arg-type]


def broadcast(
    name: str, meaning: str, role: str = "activity", value: float | str = 0.0
) -> Variable:
    """Return a variable that every part of the circuit may read."""
    return Variable(name, meaning, "circuit", role, value)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Step(Checked):
    """Statements that cells or synapses carry out while a sample is presented.

    Parameters
    ----------
    phase
        Time within the block: a name of :data:`biorrr.models.PHASES`. Steps of one part in one
        phase follow one another as they were added.
    code
        Statements that assign to variables of the part, or to names of their own that no other code
        sees.
    replays
        True for a step that also happens in spontaneous replay. Without it cells and synapses are,
        in replay, as if the step were not there.
    block
        "tick" for a step of every tick (one that reads only what stands still while a sample is
        held is then executed once, at its onset), "onset" for one that happens when a sample comes
        on, "end" for one that happens when it ends.
    """

    phase: Phase
    code: Statements
    replays: bool = False
    block: Block = "tick"


# Events and passes with learning off set it to 0.
_PLASTIC = Variable("plasticity", "1 where plasticity is on", "pathway", "parameter", 1.0)


class Part(Checked):
    """Base of populations and pathways: something with a name, a kind, an area, variables and
    steps.
    """

    name: str
    kind: str
    variables: tuple[Variable, ...]
    steps: tuple[Step, ...]
    holders: tuple[str, ...]  # who may have one of its variables: what Variable.per may be

    def __post_init__(self) -> None:
        check_fields(self, check_name(f"{type(self).__name__}.name", self.name))
        object.__setattr__(self, "kind", self.kind or self.name)
        names = [variable.name for variable in self.variables]
        for variable in self.variables:
            if names.count(variable.name) > 1:
                raise InputError(
                    f"{self.name}: declares {variable.name} twice; one declaration is enough"
                )
            if variable.per not in self.holders:
                raise InputError(
                    f"{self.name}.{variable.name}: is declared per {variable.per}; per must be one"
                    f" of {', '.join(self.holders)}"
                )

    def variable(self, name: str) -> Variable:
        """Return the declaration of the variable called ``name``."""
        if name not in self.declared:
            have = ", ".join(variable.name for variable in self.variables) or "none"
            raise InputError(f"{self.name}: has no variable called {name!r}; it has {have}")
        return self.declared[name]

    def adding(self, *additions: Variable | Step) -> Self:
        """Return the same with further variables and steps."""
        variables = tuple(added for added in additions if isinstance(added, Variable))
        steps = tuple(added for added in additions if isinstance(added, Step))
        return replace(  # type: ignore[type-var]  # populations and pathways are dataclasses
            self, variables=self.variables + variables, steps=self.steps + steps
        )

    @property
    def declared(self) -> dict[str, Variable]:
        """All its variables by name, with those that it has without declaring them."""
        return {variable.name: variable for variable in self.variables}


@dataclass(frozen=True)
class Population(Part):
    """Cells of one kind.

    Parameters
    ----------
    size
        Number of cells; None where the circuit or the data decide.
    name
        Name by which pathways, departures and recordings refer to it.
    variables, steps
        Variables of its cells, and what they do in every tick once the currents of that phase have
        arrived.
    meaning
        Description in words.
    dimension
        Dimension of its cells in Datasets; the name unless given.
    shape
        Shape of a cell in diagrams, "circle" or "triangle"; empty for what is not a cell and is not
        drawn.
    kind
        Kind of its cells, such as "pyramidal", by which departures find parts. The name unless
        given.
    area
        Number of its area in a hierarchy, from 1; 0 where it belongs to none.
    aliases
        Other names under which pathways may read its variables, as (name, variable).
    """

    size: PositiveCount | None = None
    name: str = ""
    variables: tuple[Variable, ...] = ()
    steps: tuple[Step, ...] = ()
    meaning: str = ""
    dimension: str = ""
    shape: Literal["circle", "triangle", ""] = "circle"
    kind: str = ""
    area: Count = 0
    aliases: tuple[tuple[str, str], ...] = ()
    holders = ("cell", "population", "circuit")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "dimension", self.dimension or self.name)
        broadcasts = [variable.name for variable in self.variables if variable.per == "circuit"]
        if broadcasts and self.size != 1:
            raise InputError(
                f"{self.name}.{broadcasts[0]}: is declared per circuit, but {self.name} do not have"
                " exactly one cell; what is broadcast needs a population of size 1"
            )


@dataclass(frozen=True)
class Pathway(Part):
    """Synapses of one kind, from every cell of one population to every cell of another.

    In its expressions `w` is the synapse's own weight, `_pre` and `_post` mark what its two cells
    have, and other names are the synapse's own variables or broadcast to all synapses alike.

    Parameters
    ----------
    name
        Name by which departures and recordings refer to it.
    source, target
        Names of the two populations.
    drives, current
        The target cell's variable that the currents add up to, and what one synapse adds. Several
        pathways may drive one variable.
    phase
        Time within the tick at which the current flows.
    change
        The plasticity rule, which is added to `w` when a sample ends: one expression, or terms
        (:mod:`biorrr.models.language`). Nothing unless given.
    judged
        Rule whose locality is judged, where ``change`` reaches the same weights in another way. It
        is never simulated, so it may read what a synapse cannot know. ``change`` unless given.
    replay
        Rule by which `w` changes in spontaneous replay instead. Nothing unless given.
    block
        "tick" where `w` changes by the mean of `change` over the ticks of the sample, "end" where
        it changes by the value of `change` when the sample ends.
    bound
        Expression to which `w` is set after each change, such as "clip(w, 0, inf)".
    start
        The weight a synapse begins with, given `w`, the one that was asked for or drawn.
    sums
        Further variables of the target cell with what one synapse adds to them, as (variable,
        expression).
    variables, steps
        Variables of a synapse beside its weight, and what it does in every tick.
    weight
        Name of the matrix of weights; the pathway's own unless given.
    weighted
        False for a plain sum over cells, without weights.
    wiring
        "all" for synapses from every cell to every cell. "groups" where the larger population is
        made of groups of consecutive cells, one group for each cell of the smaller one, and only
        those connect that belong together; such synapses have no weights.
    target_by_source
        True where the matrix has one row per target cell, as the paper's Q and R; else one row per
        source cell.
    spread
        Standard deviation of weights that are drawn.
    meaning, equation
        Description in words, and the rule as the paper writes it.
    kind, area
        Kind of its synapses, such as "proximal", and the number of their area, as in
        :class:`Population`.
    """

    name: str = ""
    source: str = ""
    target: str = ""
    drives: str = ""
    current: Expression = "w"
    phase: Phase = "drive"
    change: RuleText = ""
    judged: OptionalExpression = field(default="", kw_only=True)
    replay: RuleText = ""
    block: Literal["tick", "end"] = "tick"
    bound: OptionalExpression = ""
    start: Expression = "w"
    sums: tuple[tuple[str, Expression], ...] = ()
    variables: tuple[Variable, ...] = ()
    steps: tuple[Step, ...] = ()
    weight: str = ""
    weighted: bool = True
    wiring: Literal["all", "groups"] = "all"
    target_by_source: bool = False
    spread: NotNegative = 0.1
    meaning: str = ""
    equation: str = ""
    kind: str = ""
    area: Count = 0
    holders = ("synapse", "pathway")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "weight", check_name(f"{self.name}.weight", self.weight or self.name)
        )
        if not self.weighted:
            object.__setattr__(self, "weight", "")
        if self.wiring == "groups" and (self.weighted or self.variables or self.steps):
            raise InputError(
                f"{self.name}.wiring: must be 'all' for synapses that have weights or variables"
                " (got 'groups')"
            )
        filled = [variable for variable, _ in self.currents]
        if len(set(filled)) < len(filled):
            raise InputError(
                f"{self.name}.sums: must fill each variable once (got {', '.join(filled)}); add"
                " them up"
            )

    @property
    def plastic(self) -> bool:
        """True if its weights ever change."""
        return bool(self.change or self.replay)

    @property
    def declared(self) -> dict[str, Variable]:
        """All variables of its synapses by name: `w` and `plastic` where it has them, then its
        own.
        """
        given = {}
        if self.weighted:
            given["w"] = Variable("weight", self.meaning, "synapse", "memory")
        if self.plastic:
            given["plastic"] = _PLASTIC
        return {**given, **super().declared}

    @property
    def currents(self) -> tuple[tuple[str, str], ...]:
        """Everything that synapses add up in the target cell, as (variable, expression)."""
        return ((self.drives, self.current), *self.sums)


def with_values(part: Population, **values: float | str) -> Population:
    """Return ``part`` with other values of its parameters or memories, by name."""
    for name in values:
        part.variable(name)
    return replace(
        part, variables=tuple(replace(v, value=values.get(v.name, v.value)) for v in part.variables)
    )


def sum_over(target: str, name: str, source: str, drives: str, current: str, phase: str) -> Pathway:
    """Return a plain sum over the cells of ``source`` that fills a variable of ``target``."""
    return Pathway(name, source, target, drives, current, phase, weighted=False)


@dataclass(frozen=True)
class Parts:
    """The populations and pathways of a circuit, which departures alter.

    Parameters
    ----------
    populations, pathways
        All parts, in the order in which descriptions show them.
    departures
        The departures that have been applied to them, in that order.
    within
        Numbers of the areas to which :meth:`all` is limited; every area if empty.
    """

    populations: tuple[Population, ...]
    pathways: tuple[Pathway, ...]
    departures: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    within: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "circuit")
        names = [part.name for part in self.everything]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"{name}: names two parts of the circuit; give one of them another name"
                )

    @functools.cached_property
    def everything(self) -> tuple[Population | Pathway, ...]:
        """All populations, then all pathways."""
        return (*self.populations, *self.pathways)

    def __getitem__(self, name: str):
        """Return the population or pathway called ``name``."""
        for part in self.everything:
            if part.name == name:
                return part
        have = ", ".join(part.name for part in self.everything)
        raise InputError(f"the circuit has no part called {name!r}; it has {have}")

    def sign(self, pathway: Pathway) -> int:
        """Return -1 if the target cells of ``pathway`` subtract the current that they receive, as
        the distal dendrite does with inhibition; else 1.
        """
        steps = self[pathway.target].steps
        return -1 if any(subtracts(step.code, pathway.drives) for step in steps) else 1

    def all(self, kind: str | None = None, area: int | None = None) -> tuple:
        """Return the populations and pathways of a ``kind``, or all: of every area, or of one."""
        seen = (p for p in self.everything if not self.within or p.area in (0, *self.within))
        return tuple(p for p in seen if kind in (None, p.kind) and area in (None, p.area))

    @functools.cached_property
    def weighted(self) -> tuple[Pathway, ...]:
        """Pathways that have weights, of the areas that :meth:`all` is limited to."""
        return tuple(part for part in self.all() if isinstance(part, Pathway) and part.weighted)

    def having(self, *parts: Population | Pathway) -> Parts:
        """Return the same with ``parts``, each in place of that of its name, or behind the others
        where there is none.

        A part that declares no kind of its own has the kind and the area of the part whose place it
        takes.
        """
        named: dict[str, Any] = {part.name: part for part in self.everything}
        for part in parts:
            old = named.get(instance_of("parts", part, Population, Pathway).name)
            if old is not None and part.kind == part.name:
                part = replace(part, kind=old.kind, area=old.area)
            named[part.name] = part
        populations = tuple(part for part in named.values() if isinstance(part, Population))
        pathways = tuple(part for part in named.values() if isinstance(part, Pathway))
        return replace(self, populations=populations, pathways=pathways)
