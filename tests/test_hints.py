"""Misspelled keywords: what an error hints at, and what passes."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from biorrr import Microcircuit, ReducedRankRegression, excess
from biorrr.circuit import MicrocircuitRegressor, Saving
from biorrr.errors import InputTypeError
from biorrr.models import Departure, Leaky, Population, Rates, Silence, Spiking, Variable

X = np.random.default_rng(0).standard_normal((30, 4))
Y = X[:, :2]


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: Microcircuit(k=2, ridg=0.1), "ridg: is no argument of Microcircuit; did you mean"),
        (lambda: Rates(0.1, strat=(1, 1, 1)), "strat: is no argument of Rates; did you mean"),
        (lambda: Rates(0.1, Q=0.1), "Q: is no argument of Rates; it takes x, y, q, r, start"),
        (lambda: Leaky(tau_some=10), "tau_some: is no argument of Leaky; did you mean 'tau_soma'"),
        (lambda: Spiking(popluation=5), "popluation: .* did you mean 'population'"),
        (lambda: Silence("interneurons", form=5), "form: .* Silence"),
        (lambda: Population(2, "cells", varables=[]), "varables: .* did you mean 'variables'"),
        (lambda: Variable("b", "cell", rol="memory"), "rol: .* did you mean 'role'"),
        (lambda: Saving(snapshot=3), "snapshot: .* did you mean 'snapshots'"),
        (lambda: ReducedRankRegression(k=2, ridgee=1), "ridgee: .* did you mean 'ridge'"),
        (lambda: MicrocircuitRegressor(epoch=1), "epoch: .* did you mean 'epochs'"),
        (lambda: excess(X[:, :2], X, Y, rige=0), "rige: is no argument of excess; did you mean"),
        (lambda: RUN.summary(X, Y, heldout=(X, Y)), "heldout: .* did you mean 'held_out'"),
        (lambda: RUN.plot_plateau(neuron=[1]), "neuron: .* did you mean 'neurons'"),
        (lambda: Microcircuit(k=2, rates=0.01), r"did you mean Rates\(0.01\)\?"),
    ],
)
def test_misspelled_keywords_are_told_what_was_meant(call, hint):
    with pytest.raises(InputTypeError, match=hint):
        call()


RUN = Microcircuit(k=2, engine="numpy").run(X, Y, progress=False)


class Fieldless(Departure):
    """A departure without fields."""


@dataclass(frozen=True)
class Own(Departure):
    """A departure of the user's."""

    limit: float = 1.0


def test_departures_of_ones_own_have_hints_too():
    with pytest.raises(InputTypeError, match="limt: is no argument of Own; did you mean 'limit'"):
        Own(limt=2)
    for arguments in ({"limit": 2}, {}):
        with pytest.raises(InputTypeError, match="Fieldless: takes no arguments"):
            Fieldless(*([] if arguments else [1]), **arguments)


def test_what_is_made_without_arguments_first_is_not_hindered():
    for one in (Own(limit=2), Rates(0.1), Saving()):
        assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert clone(ReducedRankRegression(k=2, ridge=0.5)).ridge == 0.5
