"""Circuits that learn while their somas and dendrites are imaged, and controls of which the answers are known."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab.circuits import completed
from biorrr.sims.lazy import circuits, data_sets, np

if TYPE_CHECKING:
    from biorrr.analysis.instructive import DendriticRecording

RATE, FRAMES = 10.0, 5  # frames per second, and in each trial
WARM_UP = 200  # trials before the recording begins: at first errors and plateaus are large together, whatever they say


# -- circuits ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learner:
    """Activity of a circuit in each trial while it learned.

    Parameters
    ----------
    z, plateau : (trials, k)
        Output and plateau of each neuron.
    error : (trials, n)
        y less the readout Vy z.
    role : (k, n)
        How each neuron drives the readout, Vy' at the end.
    stimulus : (trials,)
        Which stimulus was shown.
    """

    z: np.ndarray
    plateau: np.ndarray
    error: np.ndarray
    role: np.ndarray
    stimulus: np.ndarray

    def first(self, trials: int) -> Learner:
        """Return the first trials alone."""
        return replace(self, **{name: getattr(self, name)[:trials] for name in ("z", "plateau", "error", "stimulus")})


def learn(settings: Any, data: data_sets.Dataset, seed: int) -> Learner | None:
    """Let a circuit learn a few stimuli, each shown many times; return None if it diverges."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(data.X))[: settings.stimuli]
    order = rng.integers(len(rows), size=WARM_UP + settings.trials)
    circuit = settings.make_circuit(k=settings.k, s=0.0, ridge=settings.ridge, seed=seed)
    try:
        with warnings.catch_warnings(action="ignore"):  # of pixels that are the same in all stimuli
            run = circuit.run(
                data.X[rows], data.Y[rows], order=order, record=("y", "z", "plateau", "Vy"), every=1,
                snapshots=1, centre=True, progress=False,
            )  # fmt: skip
    except circuits.Diverged:
        return None
    traces = completed(run).data
    y, z, plateau = (traces[name].values for name in ("y", "z", "plateau"))
    Vy = traces["Vy_trace"].values.reshape(len(z), y.shape[1], settings.k)
    error = y - np.einsum("tnk,tk->tn", Vy, z)
    z, plateau, error, stimulus = (one[WARM_UP:] for one in (z, plateau, error, traces["data_row"].values))
    return Learner(z, plateau, error, Vy[-1].T, stimulus)


# -- what dendrites carry ----------------------------------------------------------------------------------------------


def _plateau(learner: Learner, other: Learner | None) -> np.ndarray:
    return learner.plateau


def _broadcast(learner: Learner, other: Learner | None) -> np.ndarray:
    left, *_ = np.linalg.svd(learner.error - learner.error.mean(axis=0), full_matrices=False)
    return left[:, :1]


def _plateau_of_other(learner: Learner, other: Learner | None) -> np.ndarray:
    assert other is not None
    return other.plateau


@dataclass(frozen=True, eq=False)
class Dendrite:
    """A dendritic signal, and what the answers must be where it is found.

    Parameters
    ----------
    name
        Coordinate of results, and part of the names of quantities.
    words
        In claims.
    carries
        Function from the circuit and an unrelated one to the signal, (trials, k) or (trials, 1), beside somatic
        activity; None for somatic activity alone.
    must
        By question: True if the answer must be yes, False if it must be no; questions without a known answer are
        left out.
    shuffled
        True if each neuron has the dendrite of another.
    """

    name: str
    words: str
    carries: Callable[[Learner, Learner | None], np.ndarray] | None
    must: Mapping[str, bool]
    shuffled: bool = False


CIRCUIT = Dendrite(
    "circuit", "a circuit that learns", _plateau,
    {"specific": True, "informative": True, "signed": True, "predictive": True},
)  # fmt: skip
BROADCAST = Dendrite(
    "broadcast", "a scalar broadcast signal", _broadcast,
    {"specific": False, "informative": True, "signed": False, "predictive": False},
)  # fmt: skip
SHUFFLED = Dendrite(
    "shuffled", "plateaus shuffled across neurons", _plateau,
    {"specific": True, "informative": True, "signed": False, "predictive": False}, shuffled=True,
)  # fmt: skip
SOMA = Dendrite(
    "soma", "dendrites that repeat the soma, with noise", None,
    {"specific": False, "informative": False, "signed": False, "predictive": False},
)  # fmt: skip
UNRELATED = Dendrite("unrelated", "plateaus of an unrelated circuit", _plateau_of_other, {})
DENDRITES = (CIRCUIT, BROADCAST, SHUFFLED, SOMA)
# The null hypothesis of each question: the false-positive rate is measured there.
NULL = {"specific": BROADCAST, "informative": UNRELATED, "signed": UNRELATED, "predictive": UNRELATED}


def observe(
    learner: Learner, dendrite: Dendrite, noise: float, decay: float, seed: Sequence[int], other: Learner | None = None
) -> DendriticRecording:
    """Return the circuit as calcium imaging would show it.

    Somatic activity travels back into the dendrite and adds to what the dendrite carries, with the same variance.

    Parameters
    ----------
    noise
        Noise of imaging, in units of the signal's standard deviation.
    decay
        Decay of the indicator, in seconds.
    other
        An unrelated circuit.
    """
    from biorrr.analysis.imaging import imaged
    from biorrr.analysis.instructive import DendriticRecording

    rng = np.random.default_rng(seed)
    signal = _standard(learner.z)
    if dendrite.carries is not None:
        signal = signal + _standard(dendrite.carries(learner, other))
    if dendrite.shuffled:
        signal = np.roll(signal, 1, axis=1)
    soma, signal = (imaged(one, FRAMES, decay * RATE, noise, rng) for one in (learner.z, signal))
    return DendriticRecording(
        soma, signal, RATE, np.repeat(learner.error, FRAMES, axis=0), learner.role,
        np.repeat(learner.stimulus, FRAMES), FRAMES,
    )  # fmt: skip


def _standard(signals: np.ndarray) -> np.ndarray:
    return (signals - signals.mean(axis=0)) / signals.std(axis=0)
