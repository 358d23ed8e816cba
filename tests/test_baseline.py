"""The numbers of fixed experiments and circuits are those that were kept (``tests/baseline``)."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).with_name("baseline")))
make = importlib.import_module("make")

pytestmark = pytest.mark.slow
ENTRIES = [(kind, name) for kind, baseline in make.BASELINES.items() for name in baseline.names]


@pytest.mark.parametrize(("kind", "name"), ENTRIES, ids=[name for _, name in ENTRIES])
def test_no_number_has_moved(kind, name):
    if kind == "experiments" and make.lacks_data(name):
        pytest.skip(make.NO_DATA)
    moved = make.BASELINES[kind].moved(name)
    assert not moved, f"{kind}, {name}: {len(moved)} numbers moved\n" + "\n".join(moved)


def test_every_experiment_is_kept():
    from biorrr.sims.experiments import experiment_names

    assert {experiment.command.split()[0] for experiment in make.EXPERIMENTS.values()} == set(
        experiment_names()
    )
