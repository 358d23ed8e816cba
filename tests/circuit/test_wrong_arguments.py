"""Wrong arguments: the result is right, or one sentence says what is wrong, soon and in little
memory.
"""

import contextlib
import inspect
import re
import resource
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest

from biorrr.circuit import (
    Checkpoint,
    Circuit,
    Diverged,
    Hierarchy,
    Microcircuit,
    MicrocircuitRegressor,
    TimeSeries,
    Unsettled,
)
from biorrr.errors import InputError
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    CutInstruction,
    DalesLaw,
    Eligibility,
    Freeze,
    InAreas,
    LateInstruction,
    Leaky,
    LoopDelay,
    Millivolts,
    Pathway,
    Population,
    Rate,
    Rates,
    Rectified,
    SensoryInput,
    Settled,
    Sign,
    Silence,
    SparseConnections,
    Spiking,
    SwapData,
    TransmissionNoise,
    Variable,
)

DRAWS = np.random.default_rng(5)
X, Y = DRAWS.standard_normal((24, 4)), DRAWS.standard_normal((24, 3))
RATES = Rates(Rate(0.01), Rate(0.01), Rate(0.01))
ROOM = 6 * 2**30  # bytes that a call may ask for beyond what the process has
# None of these is right for every argument; where one is, the call must work.
VALUES = (
    None,
    True,
    False,
    -1,
    0,
    1,
    3,
    0.5,
    -0.5,
    1e-320,
    1e300,
    10**9,
    10**30,
    float("inf"),
    -float("inf"),
    float("nan"),
    1j,
    "",
    "x",
    "auto",
    "1",
    b"x",
    [],
    [1],
    [-1],
    (1, 2, 3),
    ("a", "b"),
    {},
    {"x": 1},
    {1},
    object(),
    len,
    int,
    Path("x"),
    np.float32(2),
    np.int64(2),
    np.array(1.0),
    np.array([1.0, np.nan]),
    np.zeros((2, 2)),
    np.array([["a"]]),
    RATES,
    [None],
    [[1, 2], [3]],
    Leaky(),
    [Leaky()],
    "Vx",
    ("Vx", "Q"),
    np.zeros((0, 3)),
    range(3),
    iter(()),
)
EVERY_CALL = {"progress": False, "record": (), "callback": lambda seen, weights: True}


def run(departures=(), rates=RATES, cell="algebraic", **how):
    """Run a small circuit up to its first snapshot."""
    circuit = Microcircuit(2, rates=rates, departures=departures, cell=cell, engine="numpy")
    return circuit.run(**{"X": X, "Y": Y, **EVERY_CALL, **how})


def departure(kind, **defaults):
    """Return the call that runs a circuit with a departure, and its right arguments."""
    return lambda **given: run([kind(**given)]), defaults


def signal_in_time(kind, **defaults):
    return lambda **given: run([Leaky(hold=20, dt=5)], X=kind(**given)), defaults


def event(kind, **defaults):
    return lambda **given: run(events=[kind(**given)]), defaults


def relay(**given):
    cell = Population(1, "cell", [Variable("z", "output")])
    drive = Pathway("relay", "sensory", "cell", drives="z", current="w * x_pre", phase="drive")
    circuit = Circuit(
        **{"populations": [SensoryInput(), cell], "pathways": [drive], "engine": "numpy", **given}
    )
    return circuit.run({"x": X}, **EVERY_CALL)


def estimator(**given):
    return MicrocircuitRegressor(
        **{"k": 1, "epochs": 1, "engine": "numpy", "random_state": 0, **given}
    ).fit(X, Y)


def made(**given):
    return Microcircuit(**{"k": 2, "engine": "numpy", **given}).run(X, Y, **EVERY_CALL)


def areas(**given):
    return Hierarchy(**{"areas": (2, 2), "engine": "numpy", **given}).run(X, Y, **EVERY_CALL)


def checkpointed(folder, **given):
    return run(checkpoint=Checkpoint(**{"path": folder / "c.npz", **given}))


def in_millivolts(**given):
    small = {"population": 2, "interneuron_population": 2, "hold": 20.0, "latency": 5.0}
    return run(cell=Millivolts(**small | given))


def arguments(function):
    """Return the names of the arguments of ``function``, which the call has right values for."""
    return dict.fromkeys(name for name in inspect.signature(function).parameters if name != "self")


def sized(sizes):
    return Microcircuit(2, engine="numpy").build(*(sizes if isinstance(sizes, tuple) else (sizes,)))


LEAKY = {
    "tau_soma": 10.0,
    "tau_dendrite": 10.0,
    "tau_interneuron": 10.0,
    "tau_plateau": 30.0,
    "hold": 20.0,
    "dt": 2.0,
}
SPIKES = {
    "times": np.array([100.0, 200.0]),
    "indices": np.array([0, 3]),
    "dt": 5,
    "n": 4,
    "duration": 480,
    "rate": 10.0,
}
RATE = Rate(0.1)
CALLS = {
    "Microcircuit": (made, arguments(Microcircuit)),
    "Hierarchy": (areas, arguments(Hierarchy)),
    "Circuit": (relay, arguments(Circuit)),
    # scikit-learn itself checks random_state.
    "MicrocircuitRegressor": (
        estimator,
        {k: v for k, v in arguments(MicrocircuitRegressor).items() if k != "random_state"},
    ),
    "run": (run, arguments(Microcircuit.run) | {"rates": None}),
    "describe": (
        lambda m, n, run=None: Microcircuit(2).describe(m, n, run=run),
        {"m": 4, "n": 3, "run": None},
    ),
    "build": (sized, {"sizes": (4, 3)}),
    "Rate": (
        lambda **given: run(rates=Rates(Rate(**given), RATE, RATE)),
        {"eta0": 0.1, "N": 100.0},
    ),
    "Rates": (
        lambda **given: run(rates=Rates(**given)),
        {"x": RATE, "y": RATE, "q": RATE, "r": None},
    ),
    "TimeSeries": signal_in_time(TimeSeries, values=np.repeat(X, 4, axis=0), dt=5),
    "of_spikes": signal_in_time(TimeSeries.of_spikes, **SPIKES),
    "Checkpoint": (checkpointed, {"path": None, "every": 30.0}),
    "Silence": event(Silence, at=1, cells=(0,), population="interneurons"),
    "Freeze": event(Freeze, at=1, weight="Q"),
    "CutInstruction": event(CutInstruction, at=1),
    "SwapData": event(SwapData, at=1, X=X, Y=Y),
    "AllOrNone": departure(AllOrNone, amplitude=0.1),
    "ApicalDrive": departure(ApicalDrive, gain=0.1),
    "DalesLaw": departure(DalesLaw, weights=("Q", "R")),
    "Eligibility": departure(Eligibility, tau_x=1.0, tau_plateau=0.0, tau_output=1.0),
    "InAreas": departure(InAreas, departure=Rectified(), areas=(1,)),
    "LateInstruction": departure(LateInstruction, samples=1, ticks=0),
    "Leaky": departure(Leaky, **LEAKY),
    "LoopDelay": departure(LoopDelay, samples=1, ticks=0),
    "Millivolts": (in_millivolts, arguments(Millivolts)),
    "Rectified": departure(Rectified, baseline=0.0),
    "Settled": (
        lambda **given: areas(departures=[Settled(**given)]),
        {"ticks": 20, "tolerance": 0.5, "softest": None},
    ),
    "Sign": departure(Sign, amplitude=0.1),
    "SparseConnections": departure(SparseConnections, proximal=0.5, distal=0.5),
    "Spiking": departure(Spiking, population=5, baseline=4.0, filter=20.0),
    "TransmissionNoise": departure(TransmissionNoise, sigma=0.1),
}


@contextlib.contextmanager
def within(seconds):
    """Raise TimeoutError after so many ``seconds`` of work, and MemoryError where too much memory
    is asked for.
    """

    def late(*_):
        raise TimeoutError

    before, limits = signal.signal(signal.SIGPROF, late), resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, limits[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def attack(name, wrong, folder):
    """Make a call with ``wrong`` arguments; return what went wrong with the call itself, or
    None."""
    call, right = CALLS[name]
    given = {argument: value for argument, value in right.items() if value is not None} | wrong
    if name == "Checkpoint":
        given["folder"] = folder
        given["path"] = folder / "c.npz" if "path" not in wrong else wrong["path"]
    try:
        with (
            within(10),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.chdir(folder),
        ):
            warnings.simplefilter("ignore")
            call(**given)
    except (InputError, Diverged, Unsettled, OSError):
        return None
    except Exception as error:  # a foreign exception is what the test looks for
        if isinstance(error.__cause__, TimeoutError):  # Brian2 wraps what it meets
            return None
        named = re.match(r"([\w.]+).*?: \w", str(error))
        if (
            not isinstance(error, (ValueError, TypeError))
            or not named
            or named[1].split(".")[0] not in {name, *right}
        ):
            return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def survey(seed, calls, folder):
    """Make so many random wrong ``calls``; return those that failed badly, as text."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the data, which are as they are
        run()  # imports Brian2, which may take its time
    found = []
    for number in range(calls):
        name = list(CALLS)[rng.integers(len(CALLS))]
        chosen = rng.permutation(list(CALLS[name][1]))[: 1 + (rng.random() < 0.2)]
        wrong = {str(argument): VALUES[rng.integers(len(VALUES))] for argument in chosen}
        place = folder / str(number)
        place.mkdir()
        if said := attack(name, wrong, place):
            found.append(f"{name}({', '.join(f'{k}={v!r:.60}' for k, v in wrong.items())}): {said}")
    return found


linux_only = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="counts memory as Linux does"
)


@linux_only
def test_wrong_arguments_get_a_sentence(tmp_path):
    found = survey(1, 300, tmp_path)
    assert not found, "\n".join(found)


@linux_only
@pytest.mark.slow
def test_two_thousand_wrong_arguments_get_a_sentence(tmp_path):
    found = survey(2, 2000, tmp_path)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda X: Microcircuit(2, rate="auto"), "rate: .* Microcircuit; did you mean 'rates'?"),
        (lambda X: Microcircuit(2).run(X, X, epoch=2), "epoch: .* run; did you mean 'epochs'?"),
        (lambda X: Hierarchy(area=(3, 2)), "area: .* Hierarchy; did you mean 'areas'?"),
        (lambda X: Rates(0.1, z=0.1), "z: .* Rates; it takes x, y, q, r, start"),
        (lambda X: Rate(0.1, n=3), "n: .* Rate; it takes eta0, N"),
        (lambda X: Rates.suggested(X.T, X[:, :2]), "did you mean X.T?"),
    ],
)
def test_what_was_meant_is_hinted_at(call, error):
    with pytest.raises(ValueError, match=error.replace("?", "[?]")):
        call(np.ones((6, 3)))
