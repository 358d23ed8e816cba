"""The four questions, each with its effect size, interval and test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.instructive.answer import LEVEL, Answer, interval, jackknife_interval
from biorrr.analysis.instructive.chance import (
    PERMUTATIONS,
    each_neuron,
    exceeded,
    exchanged,
    own_against_others,
    shifted_products,
)
from biorrr.analysis.instructive.recording import DendriticRecording
from biorrr.analysis.instructive.residual import (
    WithoutMemoryError,
    dendritic_residual,
    error_beyond_somas,
    frame_before,
)

FOLDS = 10  # stretches of time from which intervals are found
BLOCKS = 10  # stretches of time between which activity changes
FEWEST_POINTS = 6  # of which a correlation is made
NEGLIGIBLE = 1e-6  # of the largest singular value: components of the error that follow from the others


def ask(recording: DendriticRecording, decay: float) -> dict[str, Answer]:
    """Answers to all :data:`QUESTIONS`, by name.

    Parameters
    ----------
    recording
        Of somas and dendrites.
    decay
        Seconds within which the indicator's fluorescence decays, by which the error is smoothed before it is compared.
    """
    return {question: ask_one(question, recording, decay) for question in QUESTIONS}


def ask_one(question: str, recording: DendriticRecording, decay: float) -> Answer:
    """The answer to one of :data:`QUESTIONS`."""
    try:
        residual = dendritic_residual(recording.soma, recording.dendrite, recording.is_smooth(decay))
    except WithoutMemoryError as error:
        return Answer(unasked=str(error))
    length = np.linalg.norm(residual, axis=0)
    mute = np.flatnonzero(length <= NEGLIGIBLE * np.linalg.norm(recording.dendrite, axis=0))
    if len(mute):
        return Answer(unasked=f"the dendrite of neuron {mute[0]} is a sum of somas, and nothing else")
    return QUESTIONS[question](recording, residual / length, decay)


def specific(recording: DendriticRecording, residual: NDArray, decay: float) -> Answer:
    """Ask whether neurons carry different signals, or one that all share, each with a gain of its own.

    One shared signal has one canonical correlation with the task's error; more than one are needed for signals that
    differ. Where the error is not known or has one component, the residuals themselves, a frame earlier, stand in its
    place: they share signals that outlast a frame, and no imaging noise. The effect is the second canonical
    correlation, held out.
    """
    if recording.neurons < 2:
        return Answer(unasked="it takes at least 2 neurons (got 1)")
    against = _basis(_error(recording, decay)) if recording.error is not None else residual[:, :1]
    if against.shape[1] < 2:
        against = _basis(frame_before(residual))
    signals = _basis(residual)
    if signals.shape[1] < 2:
        return Answer(unasked="all dendrites say the same, up to a gain; are the neurons the same one?")
    left, _, right = np.linalg.svd(signals.T @ against)
    rest, against_rest = signals @ left[:, 1:], against @ right[1:].T
    strengths = np.linalg.norm(shifted_products(rest, against_rest, recording.period), ord=2, axis=(1, 2))
    shared = signals @ left[:, 0]
    alone = residual - np.outer(shared, shared @ residual)
    alone /= np.linalg.norm(alone, axis=0)
    each = np.square(shifted_products(alone, against_rest, recording.period)).sum(axis=2)
    p = float(exceeded(strengths[0], strengths[1:]))
    held_out = np.array([_second_correlation(*pair) for pair in _folds(signals, against)])
    return Answer(*interval(held_out), p, np.sqrt(each[0]), each_neuron(each, p))


def informative(recording: DendriticRecording, residual: NDArray, decay: float) -> Answer:
    """Ask whether the residual tells the task's error.

    The effect is its correlation with the error, held out, mean over neurons.
    """
    if recording.error is None:
        return Answer(unasked="the task’s error is not known")
    error = _basis(_error(recording, decay))
    explained = np.square(shifted_products(residual, error, recording.period)).sum(axis=2)
    together = explained.mean(axis=1)
    p = float(exceeded(together[0], together[1:]))
    held_out = np.array([_correlations(*pair) for pair in _folds(residual, error)])
    return Answer(*interval(held_out.mean(axis=1)), p, held_out.mean(axis=0), each_neuron(explained, p))


def signed(recording: DendriticRecording, residual: NDArray, decay: float) -> Answer:
    """Ask whether the residual has the sign by which the neuron, in its causal role, would reduce the error.

    The error weighted by a neuron's role is what back-propagation would send to it. The effect is the correlation of
    the residual with that of its own neuron, less the mean correlation with those of the others.
    """
    if recording.error is None or recording.role is None:
        return Answer(
            unasked=f"the {'task’s error' if recording.error is None else 'neurons’ causal role'} is not known"
        )
    kinds = Counter(map(bytes, np.ascontiguousarray(recording.role)))
    orders = math.factorial(min(recording.neurons, 20)) / math.prod(math.factorial(min(n, 20)) for n in kinds.values())
    if orders * LEVEL < 1:
        return Answer(
            unasked=f"roles of {recording.neurons} neurons can be exchanged in {orders:.0f} ways, and it takes at "
            f"least {1 / LEVEL:.0f} to tell them from chance; record more neurons"
        )
    error = _error(recording, decay)
    sent = error @ recording.role.T
    folds = np.array_split(np.arange(recording.frames), FOLDS)
    each = np.array([own_against_others(_cross_correlation(residual[fold], sent[fold])).mean() for fold in folds])
    p = exchanged(_cross_correlation(residual, sent))
    weights = recording.role.T / np.linalg.norm(sent, axis=0)
    own = own_against_others(shifted_products(residual, error, recording.period) @ weights)
    return Answer(*interval(each), p, own[0], each_neuron(own, p))


def predictive(recording: DendriticRecording, residual: NDArray, decay: float) -> Answer:
    """Ask whether the residual predicts how the activity of the same neuron changes.

    The recording is cut into blocks. In each, the mean residual in each condition stands beside the change of somatic
    activity in that condition from the block before to the block after, so that no frame is used twice. The effect is
    their correlation, over conditions and blocks, less the mean correlation with the changes of other neurons.
    """
    if recording.neurons < 4:
        return Answer(unasked=f"it takes at least 4 neurons to exchange (got {recording.neurons})")
    taught, change, block = _changes(recording, residual)
    if len(taught) < FEWEST_POINTS:
        return Answer(
            unasked=f"conditions must return in three of {BLOCKS} successive blocks of the recording, "
            f"{FEWEST_POINTS} times (got {len(taught)}); conditions are too many or the recording is too short"
        )
    association = _cross_correlation(taught, change)
    own = own_against_others(association)
    without = [
        own_against_others(_cross_correlation(taught[block != one], change[block != one])).mean()
        for one in np.unique(block)
        if np.sum(block != one) >= FEWEST_POINTS
    ]
    p = exchanged(association)
    # Chance: within each block the conditions are exchanged for one another.
    rng = np.random.default_rng(0)
    keys = block + rng.random((PERMUTATIONS, len(block)))
    places = np.argsort(np.argsort(block, kind="stable"))
    drawn = np.argsort(keys, axis=1)[:, places]
    standard = _standard(taught), _standard(change)
    by_chance = own_against_others(standard[0][drawn].transpose(0, 2, 1) @ standard[1])
    strength = np.concatenate([own[None], by_chance])
    return Answer(*jackknife_interval(float(own.mean()), np.array(without)), p, own, each_neuron(strength, p))


# Each as it is asked in tables and figures.
QUESTIONS: dict[str, Callable[[DendriticRecording, NDArray, float], Answer]] = {
    "specific": specific,
    "informative": informative,
    "signed": signed,
    "predictive": predictive,
}


def _error(recording: DendriticRecording, decay: float) -> NDArray:
    """The task's error (T, J) as the indicator would show it, beyond what the somas tell."""
    error = recording.imaged_error(decay)
    return error_beyond_somas(recording.soma, error, recording.is_smooth(decay))


def _basis(signals: NDArray) -> NDArray:
    """Orthonormal columns that span those of ``signals``, without what follows from the others."""
    left, strength, _ = np.linalg.svd(signals, full_matrices=False)
    return left[:, strength > NEGLIGIBLE * strength[0]]


def _folds(signals: NDArray, others: NDArray):
    """Held-out and training moments of each stretch of time: the signals and others in it, and products outside it."""
    for fold in np.array_split(np.arange(len(signals)), FOLDS):
        s, o = signals[fold], others[fold]
        yield s, o, signals.T @ signals - s.T @ s, signals.T @ others - s.T @ o, others.T @ others - o.T @ o


def _correlations(signals: NDArray, others: NDArray, _, products: NDArray, squares: NDArray) -> NDArray:
    """Correlation of each signal with its prediction from the others, (N,), on frames that were held out."""
    predicted = others @ (np.linalg.pinv(squares, hermitian=True) @ products.T)
    return np.diagonal(_cross_correlation(signals, predicted))


def _second_correlation(signals: NDArray, others: NDArray, own: NDArray, products: NDArray, squares: NDArray) -> float:
    """Correlation of the second canonical pair on frames that were held out."""
    half, other_half = map(_whitening, (own, squares))
    left, _, right = np.linalg.svd(half @ products @ other_half)
    pair = signals @ half @ left[:, 1], others @ other_half @ right[1]
    return float(_cross_correlation(*(one[:, None] for one in pair))[0, 0])


def _whitening(squares: NDArray) -> NDArray:
    """Inverse square root of a matrix of products; directions in which there is nothing stay without."""
    values, vectors = np.linalg.eigh(squares)
    there = values > NEGLIGIBLE * values[-1]
    return (vectors[:, there] / np.sqrt(values[there])) @ vectors[:, there].T


def _cross_correlation(signals: NDArray, others: NDArray) -> NDArray:
    """Correlation of each column of one, (n, N), with each of the other, (n, J): (N, J); 0 where one never changes."""
    return _standard(signals).T @ _standard(others)


def _standard(signals: NDArray) -> NDArray:
    """Columns of mean 0 and length 1; those that never change are 0."""
    centred = signals - signals.mean(axis=0)
    return centred / np.maximum(np.linalg.norm(centred, axis=0), np.finfo(float).tiny)


def _changes(recording: DendriticRecording, residual: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Mean residuals and changes of activity, (points, N) each, and the block each point is of, (points,)."""
    T = recording.frames
    condition = np.zeros(T, dtype=np.int64) if recording.condition is None else recording.condition
    shown = np.asarray(condition) >= 0
    kind = np.unique(np.asarray(condition)[shown], return_inverse=True)[1]
    kinds = int(kind.max()) + 1 if len(kind) else 0
    place = (np.arange(T) * BLOCKS // T)[shown] * kinds + kind
    count = np.bincount(place, minlength=BLOCKS * kinds).reshape(BLOCKS, kinds)

    def means(signals: NDArray) -> NDArray:
        sums = [np.bincount(place, weights=column, minlength=BLOCKS * kinds) for column in signals[shown].T]
        return np.array(sums).T.reshape(BLOCKS, kinds, -1) / np.maximum(count, 1)[..., None]

    there = (count[:-2] > 0) & (count[1:-1] > 0) & (count[2:] > 0)
    active = means(recording.soma)
    block = np.broadcast_to(np.arange(BLOCKS - 2)[:, None], there.shape)
    return means(residual)[1:-1][there], (active[2:] - active[:-2])[there], block[there]
