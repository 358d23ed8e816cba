"""Checks of names and declarations, made when a circuit is made.

What nobody declares and what a synapse cannot know is said in one sentence, long before Brian2 sees any of it.
"""

from __future__ import annotations

import difflib

from biorrr.models import PHASES, Parts, Pathway, Population, Variable
from biorrr.models.expressions import FUNCTIONS, Names, names_in
from biorrr.models.meanings import Meanings
from biorrr.models.parts import PENDING


def check_declarations(parts: Parts) -> None:
    """Check that parts declare their variables once, per what they have, and connect populations that there are."""
    broadcast: dict[str, str] = {}
    for part in parts.everything:
        names = [variable.name for variable in part.variables]
        for variable in part.variables:
            _check_declaration(part, variable, names)
            if variable.per == "circuit":
                if variable.name in broadcast:
                    raise ValueError(
                        f"{variable.name}: is broadcast by both {broadcast[variable.name]} and {part.name}; "
                        "rename one of them"
                    )
                broadcast[variable.name] = part.name
    for part in parts.everything:
        for name in [v.name for v in part.variables if broadcast.get(v.name) == "clock" != part.name]:
            raise ValueError(
                f"{part.name}.{name}: has the name of a variable that the clock broadcasts, by which samples are "
                "held and weights change; give yours another name"
            )
    populations = [population.name for population in parts.populations]
    weights = [pathway.weight for pathway in parts.pathways if pathway.weighted]
    for pathway in parts.pathways:
        for end, name in (("source", pathway.source), ("target", pathway.target)):
            if name not in populations:
                have = ", ".join(populations)
                raise ValueError(f"{pathway.name}.{end}: there is no population called {name!r}; there are {have}")
        if weights.count(pathway.weight) > 1:
            raise ValueError(f"{pathway.weight}: names the weights of two pathways; give one of them another name")


def _check_declaration(part: Population | Pathway, variable: Variable, names: list[str]) -> None:
    """Check one variable of ``part``, which declares ``names``."""
    synaptic = isinstance(part, Pathway)
    if names.count(variable.name) > 1:
        raise ValueError(f"{part.name}: declares {variable.name} twice; one declaration is enough")
    if isinstance(part, Pathway) and part.averaged and variable.name == PENDING:
        raise ValueError(
            f"{part.name}: declares {PENDING}, where what its rule asks for is kept while a sample is held; give your "
            "variable another name"
        )
    if synaptic != (variable.per in ("synapse", "pathway")):
        raise ValueError(
            f"{part.name}.{variable.name}: is declared per {variable.per}, but {part.name} are "
            f"{'synapses' if synaptic else 'cells'}; per must be "
            f"{'synapse or pathway' if synaptic else 'cell, population or circuit'}"
        )
    if variable.per == "circuit" and part.size != 1:  # type: ignore[union-attr]
        raise ValueError(
            f"{part.name}.{variable.name}: is declared per circuit, but {part.name} do not have exactly one cell; "
            "what is broadcast needs a population of size 1"
        )


def known_names(
    meanings: Meanings, part: Population | Pathway, where: str, code: str, given: tuple[str, ...] = ()
) -> Names:
    """Return the names in ``code`` of ``part``, each known or among ``given``; ``where`` names the code in errors."""
    where = f"{part.name}.{where}"
    try:
        found = names_in(code)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    for name in found.called:
        if name not in FUNCTIONS and name not in given:
            raise ValueError(f"{where}: calls {name}, which is not a function; there are {', '.join(FUNCTIONS)}")
    for name in found.read:
        if name not in given and meanings.find(part, name) is None:
            raise ValueError(f"{where}: reads {name}, {_why_unknown(meanings, part, name)}")
    return found


def _why_unknown(meanings: Meanings, part: Population | Pathway, name: str) -> str:
    """Return the reason why ``name`` means nothing in the code of ``part``, and what to do."""
    holders = [p.name for p in meanings.parts.populations if name in meanings.declared[p.name]]
    matrices = [p.name for p in meanings.parts.pathways if name in (p.name, p.weight)]
    if isinstance(part, Pathway) and (holders or matrices):
        hint = f"; write {name}_pre or {name}_post for that of its own two cells" if holders else ""
        return (
            f"which belongs to {(holders or matrices)[0]} and is not local: a synapse knows its weight w, its own "
            f"variables, what its two cells have and what is broadcast{hint}"
        )
    if holders:
        return (
            f"which belongs to {holders[0]}; cells know their own variables and what is broadcast, and need a "
            "Pathway to hear of others"
        )
    near = difflib.get_close_matches(name, _known_to(meanings, part), n=1, cutoff=0.75)
    meant = f"did you mean {near[0]}? Else " if near else ""
    return (
        f"which nobody declares; {meant}add Variable({name!r}, ...) to {part.name}, with a value where it is a "
        "parameter"
    )


def _known_to(meanings: Meanings, part: Population | Pathway) -> list[str]:
    """Return all names that the code of ``part`` can use."""
    known = [*meanings.declared[part.name], *meanings.broadcast]
    if isinstance(part, Pathway):
        for end, side in ((part.source, "pre"), (part.target, "post")):
            known += [f"{name}_{side}" for name in meanings.declared[end]]
    return known


def check_values(meanings: Meanings, part: Population | Pathway) -> None:
    """Check values of parameters and memories, and the weights that a pathway begins with."""
    for variable in part.variables:
        if isinstance(variable.value, str):
            given = ("seed", "i", "cells", "relaxation")
            for name in read_in(meanings, part, f"{variable.name}.value", variable.value, given):
                found = meanings.find(part, name)
                if found and name != "seed" and meanings.role(found.key) != "parameter":
                    raise ValueError(
                        f"{part.name}.{variable.name}.value: reads {name}, which is not a parameter; a value is found "
                        "once, before the circuit runs"
                    )
        scale = names_in(variable.scale)
        unknown = [name for name in scale.read if name not in ("x", "y", "z", "a", "n")]
        if unknown:
            raise ValueError(
                f"{part.name}.{variable.name}.scale: must be a product of powers of x, y, z, a and n (got "
                f"{variable.scale!r})"
            )
    if isinstance(part, Pathway) and part.weighted:
        read_in(meanings, part, "start", part.start)


def read_in(
    meanings: Meanings, part: Population | Pathway, where: str, expression: str, given: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the names that an expression of ``part`` reads; as :func:`known_names`, and it must not assign."""
    names = known_names(meanings, part, where, expression, given)
    if names.written:
        raise ValueError(
            f"{part.name}.{where}: must be an expression, not a statement (it assigns to {names.written[0]}); what is "
            "added to w is written without 'w +='"
        )
    return names.read


def check_phase(part: str, phase: str) -> None:
    """Check that ``phase``, which ``part`` names, exists."""
    if phase not in PHASES:
        raise ValueError(f"{part}.phase: there is no phase called {phase!r}; in order there are {', '.join(PHASES)}")


def check_writes(meanings: Meanings, part: Population | Pathway, names: Names) -> None:
    """Check that a step of ``part`` assigns to variables of its own, and to none that is a parameter."""
    for name in names.written:
        found = meanings.find(part, name)
        if name in meanings.declared[part.name] and name != "plastic":
            if meanings.role(f"{part.name}.{name}") == "parameter":
                raise ValueError(
                    f"{part.name}: a step assigns to {name}, which is a parameter; declare it as memory to change it"
                )
        elif found is not None:
            raise ValueError(
                f"{part.name}: a step assigns to {name}, which belongs to {found.part}; a part "
                "changes its own variables only"
            )
