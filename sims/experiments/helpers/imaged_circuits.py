"""Circuits that learn while their somas and dendrites are imaged, and controls of which the answers are known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiment import Problem
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lazy import circuits, models, np

if TYPE_CHECKING:
    from biorrr.analysis.instructive import DendriticRecording

RATE, FRAMES = 10.0, 5  # frames per second, and in each trial
WARM_UP = 200  # trials before the recording begins: at first errors and plateaus are large together, whatever they say
# What a dendrite carries, and what the answer to each question must then be; None where either will do.
MUST: dict[str, dict[str, bool | None]] = {
    "circuit": {"specific": True, "informative": True, "signed": True, "predictive": True},
    "broadcast": {"specific": False, "informative": True, "signed": False, "predictive": False},
    "shuffled": {"specific": True, "informative": True, "signed": False, "predictive": False},
    "soma": {"specific": False, "informative": False, "signed": False, "predictive": False},
    "frozen Q": {"specific": None, "informative": None, "signed": False, "predictive": None},
}
# Where chance alone decides: the error rate of each question is measured there.
NULL = {"specific": "broadcast", "informative": "unrelated", "signed": "unrelated", "predictive": "unrelated"}


@dataclass(frozen=True)
class Learner:
    """What a circuit did in each trial while it learned.

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
        """The first trials alone."""
        return replace(self, **{name: getattr(self, name)[:trials] for name in ("z", "plateau", "error", "stimulus")})


def learn(problem: Problem[Any], seed: int, frozen: bool = False) -> Learner | None:
    """Let a circuit learn a few stimuli, each shown many times; None if it diverges.

    ``frozen`` interneuron synapses, Q and R, stay what they are at the start.
    """
    settings, data = problem.settings, problem.data
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(data.X))[: settings.stimuli]
    order = rng.integers(len(rows), size=WARM_UP + settings.trials)
    circuit = settings.make_circuit(k=settings.k, s=0.0, ridge=settings.ridge, seed=seed)
    events = [models.Freeze(0, weight) for weight in "QR"] if frozen else []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pixels that are the same in all stimuli
            run = circuit.run(
                data.X[rows], data.Y[rows], order=order, record=("y", "z", "plateau", "Vy"), every=1,
                snapshots=1, centre=True, events=events, progress=False,
            )  # fmt: skip
    except circuits.Diverged:
        return None
    traces = completed(run).data
    y, z, plateau = (traces[name].values for name in ("y", "z", "plateau"))
    Vy = traces["Vy_trace"].values.reshape(len(z), y.shape[1], settings.k)
    error = y - np.einsum("tnk,tk->tn", Vy, z)
    z, plateau, error, stimulus = (one[WARM_UP:] for one in (z, plateau, error, traces["data_row"].values))
    return Learner(z, plateau, error, Vy[-1].T, stimulus)


def observe(
    learner: Learner, carries: str, noise: float, decay: float, seed: Sequence[int], other: Learner | None = None,
    neurons: int | None = None,
) -> DendriticRecording:  # fmt: skip
    """The circuit as calcium imaging would show it.

    Somatic activity travels back into the dendrite and adds to what the dendrite ``carries``, with the same variance.

    Parameters
    ----------
    carries
        The plateau ("circuit", "frozen Q"); the plateau of another neuron, with the soma's activity that belongs to it
        ("shuffled"); one signal for all neurons, the leading component of the error ("broadcast"); nothing ("soma");
        the plateau of the ``other`` circuit ("unrelated").
    noise
        Of imaging, in units of the signal's standard deviation.
    decay
        Of the indicator, in seconds.
    neurons
        How many neurons are imaged, drawn at random; all of them unless given.
    """
    from biorrr.analysis.imaging import imaged
    from biorrr.analysis.instructive import DendriticRecording

    rng = np.random.default_rng(seed)
    k = learner.z.shape[1]
    chosen = np.sort(rng.permutation(k)[:neurons])
    dendrite = _standard(learner.z)
    if carries == "broadcast":
        left, *_ = np.linalg.svd(learner.error - learner.error.mean(axis=0), full_matrices=False)
        dendrite = dendrite + _standard(left[:, :1])
    elif carries == "unrelated":
        assert other is not None
        dendrite = dendrite + _standard(other.plateau)
    elif carries != "soma":
        dendrite = dendrite + _standard(learner.plateau)
    if carries == "shuffled":
        dendrite[:, chosen] = dendrite[:, np.roll(chosen, 1)]
    soma, dendrite = (imaged(one[:, chosen], FRAMES, decay * RATE, noise, rng) for one in (learner.z, dendrite))
    return DendriticRecording(
        soma, dendrite, RATE, np.repeat(learner.error, FRAMES, axis=0), learner.role[chosen],
        np.repeat(learner.stimulus, FRAMES), FRAMES,
    )  # fmt: skip


def _standard(signals: np.ndarray) -> np.ndarray:
    return (signals - signals.mean(axis=0)) / signals.std(axis=0)
