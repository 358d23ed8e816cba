"""Circuits that learn while their somas and dendrites are imaged, and controls of which the answers
are known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biorrr.sims.lab.own_circuits import completed
from biorrr.sims.lazy import circuits, data_sets, instructive, np

RATE, FRAMES = 10.0, 5  # frames per second, and in each trial
# trials before the recording begins: at first errors and plateaus are large together, whatever they
# say
WARM_UP = 200


# -- circuits --------------------------------------------------------------------------------------


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
        return replace(
            self,
            **{
                name: getattr(self, name)[:trials] for name in ("z", "plateau", "error", "stimulus")
            },
        )


def draw_trials(
    data: data_sets.Dataset, stimuli: int, trials: int, seed: int
) -> tuple[np.ndarray, ...]:
    """Draw a few stimuli: X and Y of them, and the one that is shown in each trial, the warm-up
    included.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(data.X))[:stimuli]
    return data.X[rows], data.Y[rows], rng.integers(len(rows), size=WARM_UP + trials)


def learner_of(run: circuits.Run, plateau: str, readout: str) -> Learner:
    """Return the activity after the warm-up in a run that has recorded y, z, and these two."""
    traces = completed(run).data
    y, z = traces["y"].values, traces["z"].values
    weights = traces[f"{readout}_trace"].values.reshape(len(z), y.shape[1], z.shape[1])
    error = y - np.einsum("tnk,tk->tn", weights, z)
    followed = (z, traces[plateau].values, error, traces["data_row"].values)
    z, carried, error, stimulus = (one[WARM_UP:] for one in followed)
    return Learner(z, carried, error, weights[-1].T, stimulus)


def learn(settings: Any, data: data_sets.Dataset, seed: int) -> Learner | None:
    """Let a circuit learn a few stimuli, each shown many times; return None if it diverges."""
    X, Y, order = draw_trials(data, settings.stimuli, settings.trials, seed)
    circuit = settings.make_circuit(k=settings.k, s=0.0, ridge=settings.ridge, seed=seed)
    try:
        with warnings.catch_warnings(action="ignore"):  # of pixels that are the same in all stimuli
            run = circuit.run(
                X,
                Y,
                order=order,
                record=("y", "z", "plateau", "Vy"),
                every=1,
                snapshots=1,
                centre=True,
                progress=False,
            )
    except circuits.Diverged:
        return None
    return learner_of(run, "plateau", "Vy")


# -- what dendrites carry --------------------------------------------------------------------------


def _broadcast(learner: Learner, other: Learner) -> np.ndarray:
    left, *_ = np.linalg.svd(learner.error - learner.error.mean(axis=0), full_matrices=False)
    return left[:, :1]


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
        Function from the circuit and an unrelated one to the signal, (trials, k) or (trials, 1),
        beside somatic activity; None for somatic activity alone.
    must
        By question: True if the answer must be yes, False if it must be no; questions without a
        known answer are left out.
    shuffled
        True if each neuron has the dendrite of another.
    """

    name: str
    words: str
    carries: Callable[[Learner, Any], np.ndarray] | None
    must: Mapping[str, bool]
    shuffled: bool = False


CIRCUIT = Dendrite(
    "circuit",
    "a circuit that learns",
    lambda learner, other: learner.plateau,
    {"specific": True, "informative": True, "signed": True, "predictive": True},
)
BROADCAST = Dendrite(
    "broadcast",
    "a scalar broadcast signal",
    _broadcast,
    {"specific": False, "informative": True, "signed": False, "predictive": False},
)
SHUFFLED = Dendrite(
    "shuffled",
    "plateaus shuffled across neurons",
    lambda learner, other: learner.plateau,
    {"specific": True, "informative": True, "signed": False, "predictive": False},
    shuffled=True,
)
SOMA = Dendrite(
    "soma",
    "dendrites that repeat the soma, with noise",
    None,
    {"specific": False, "informative": False, "signed": False, "predictive": False},
)
UNRELATED = Dendrite(
    "unrelated", "plateaus of an unrelated circuit", lambda learner, other: other.plateau, {}
)
DENDRITES = (CIRCUIT, BROADCAST, SHUFFLED, SOMA)
# The null hypothesis of each question: the false-positive rate is measured there.
NULL = {
    "specific": BROADCAST,
    "informative": UNRELATED,
    "signed": UNRELATED,
    "predictive": UNRELATED,
}


def observe(
    learner: Learner,
    dendrite: Dendrite,
    noise: float,
    decay: float,
    seed: Sequence[int],
    other: Learner | None = None,
) -> instructive.DendriticRecording:
    """Return the circuit as calcium imaging would show it.

    Somatic activity travels back into the dendrite and adds to what the dendrite carries, with the
    same variance.

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

    rng = np.random.default_rng(seed)
    signal = _standard(learner.z)
    if dendrite.carries is not None:
        signal = signal + _standard(dendrite.carries(learner, other))
    if dendrite.shuffled:
        signal = np.roll(signal, 1, axis=1)
    soma, signal = (imaged(one, FRAMES, decay * RATE, noise, rng) for one in (learner.z, signal))
    return instructive.DendriticRecording(
        soma,
        signal,
        RATE,
        np.repeat(learner.error, FRAMES, axis=0),
        learner.role,
        np.repeat(learner.stimulus, FRAMES),
        FRAMES,
    )


def _standard(signals: np.ndarray) -> np.ndarray:
    return (signals - signals.mean(axis=0)) / signals.std(axis=0)
