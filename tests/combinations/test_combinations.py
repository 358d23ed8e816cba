"""Every departure in every kind of circuit: it runs, the same on all engines, or it is refused for
a reason.
"""

import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

C = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("combinations.py"))))
ALLOWED = [(d, c) for d in C.DEPARTURES for c in C.CIRCUITS if not C.refusal(d, c)]
FAST = {
    ("DalesLaw", "two areas, settled"),
    ("Eligibility", "two areas, settled"),
    ("Spiking", "two areas, leaky"),
    ("TransmissionNoise", 'cell="millivolts"'),
}


def refused(departure):
    """Return the circuits that cannot have ``departure``, by the words in their names."""
    return {circuit for circuit in C.CIRCUITS if C.refusal(departure, circuit)}


def named(*words):
    return {circuit for circuit in C.CIRCUITS if any(word in circuit for word in words)}


@pytest.mark.parametrize(
    ("departures", "circuits"),
    [
        (("Leaky", "Millivolts"), named("leaky", "spiking", "millivolts", "settled")),
        (("Settled",), set(C.CIRCUITS)),
        (("AllOrNone", "Sign", "LoopDelay in ticks"), named("millivolts", "settled")),
        (("TransmissionNoise", "LateInstruction in ticks"), named("settled")),
        (("Spiking",), named("spiking", "millivolts", "settled")),
        (("Rectified", "LoopDelay in samples"), named("millivolts")),
        (("ApicalDrive",), named("millivolts", "feedback", "areas")),
        (
            (
                "SparseConnections",
                "DalesLaw",
                "Eligibility",
                "HomeostaticScaling",
                "LateInstruction in samples",
            ),
            set(),
        ),
    ],
)
def test_what_is_refused(departures, circuits):
    for departure in departures:
        assert refused(departure) == circuits | (
            named("feedback=, leaky") if departure == "Millivolts" else set()
        )


def test_every_refusal_is_one_sentence():
    for departure in C.DEPARTURES:
        for circuit in C.CIRCUITS:
            reason = C.refusal(departure, circuit)
            assert "\n" not in reason
            assert not reason or len(reason) > 20


def learned(departure, circuit, engine):
    """Return the run of a circuit with a departure, with one record of every activity that is
    compared.
    """
    made = C.CIRCUITS[circuit](C.DEPARTURES[departure], engine=engine)
    X, Y = C.data()
    count = 24 if made.parts.all(kind="bursting_cells") else 6  # such cells learn after 20 samples
    cells = made.parts.all(kind="pyramidal")
    record = [f"{each.name}.{name}" for each in cells for name in ("z", "plateau")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return made.run(
            X,
            Y,
            order=np.arange(count),
            record=record,
            every=1,
            weights=C.weights(2 if "areas" in circuit else 0),
            progress=False,
        )


def compare(departure, circuit, engine):
    expected, run = learned(departure, circuit, "numpy"), learned(departure, circuit, engine)
    moved = 0.0
    for name, values in expected.data.data_vars.items():
        if values.dtype.kind == "f" and "snapshot" not in values.dims:
            np.testing.assert_allclose(run.data[name], values, rtol=1e-12, atol=1e-12, err_msg=name)
    for name, values in expected.weights.items():
        np.testing.assert_allclose(run.weights[name], values, rtol=0, atol=1e-12, err_msg=name)
        moved = max(moved, np.abs(values - expected.data[name].values[0]).max())
    assert moved > 1e-6


@pytest.mark.parametrize(("departure", "circuit"), sorted(FAST))
def test_engines_agree(departure, circuit):
    compare(departure, circuit, "cpp")


@pytest.mark.slow
@pytest.mark.parametrize(("departure", "circuit"), [pair for pair in ALLOWED if pair not in FAST])
def test_engines_agree_everywhere(departure, circuit):
    compare(departure, circuit, "cpp")
