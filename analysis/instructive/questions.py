"""The four questions, each with its effect size, interval and test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.instructive.answer import LEVEL, Answer, interval, jackknife_interval
from biorrr.analysis.instructive.cautions import caution, withheld
from biorrr.analysis.instructive.chance import (
    exceeded,
    exchanged,
    flipped_sums,
    own_against_others,
    sums_within,
)
from biorrr.analysis.instructive.recording import DendriticRecording
from biorrr.analysis.instructive.residual import WithoutMemoryError, frame_before
from biorrr.analysis.instructive.signals import Signals, signals_of

FOLDS = 10  # parts of the recording from which confidence intervals are found
BLOCKS = 10  # parts of the recording between which activity changes
FEWEST_POINTS = 6  # of which a correlation is made
NEGLIGIBLE = (
    1e-6  # of the largest singular value: components of the error that follow from the others
)


def ask(
    recording: DendriticRecording, decay: float, questions: Iterable[str] | None = None
) -> dict[str, Answer]:
    """Return the answers to ``questions``, by name; to all :data:`QUESTIONS` by default.

    Parameters
    ----------
    recording
        Somas and dendrites.
    decay
        Seconds within which the indicator's fluorescence decays, by which the error is smoothed
        before it is compared.
    questions
        Names among :data:`QUESTIONS`.
    """
    questions = tuple(QUESTIONS if questions is None else questions)
    try:
        signals = signals_of(recording, decay)
    except WithoutMemoryError as error:
        return dict.fromkeys(questions, Answer(unasked=str(error)))
    length = np.linalg.norm(signals.residual, axis=0)
    mute = np.flatnonzero(length <= NEGLIGIBLE * np.linalg.norm(signals.dendrite, axis=0))
    if len(mute):
        unasked = f"the dendrite of neuron {mute[0]} is a linear combination of the somas"
        return dict.fromkeys(questions, Answer(unasked=unasked))
    signals = replace(signals, residual=signals.residual / length)
    answers = {question: QUESTIONS[question](signals) for question in questions}
    answers |= {
        q: Answer(unasked=reason) for q, reason in withheld(signals).items() if q in answers
    }
    doubt = caution(signals)
    return {q: one if one.unasked else replace(one, caution=doubt) for q, one in answers.items()}


def specific(signals: Signals) -> Answer:
    """Ask whether neurons carry different signals, or one that all share, each with a gain of its
    own.

    One shared signal has one canonical correlation with the task's error; more than one are needed
    for signals that differ. Where the error is not known or has one component, the residuals
    themselves, a frame earlier, stand in its place: they share signals that outlast a frame, and no
    imaging noise. The effect is the second canonical correlation, held out.
    """
    residual = signals.residual
    if signals.neurons < 2:
        return Answer(unasked="at least 2 neurons are needed (got 1)")
    against = _basis(signals.error) if signals.error is not None else residual[:, :1]
    if against.shape[1] < 2:
        against = _basis(frame_before(residual))
    basis = _basis(residual)
    if basis.shape[1] < 2:
        return Answer(
            unasked=(
                "all dendrites carry the same signal, up to a gain; are these different neurons?"
            )
        )
    left, _, right = np.linalg.svd(basis.T @ against)
    rest, against_rest = basis @ left[:, 1:], against @ right[1:].T
    strengths = np.linalg.norm(
        flipped_sums(sums_within(rest, against_rest, signals.stretch)), ord=2, axis=(1, 2)
    )
    p = float(exceeded(strengths[0], strengths[1:]))
    shared = basis @ left[:, 0]
    each = np.linalg.norm((residual - np.outer(shared, shared @ residual)).T @ against_rest, axis=1)
    held_out = np.array([_second_correlation(*pair) for pair in _folds(basis, against)])
    return Answer(*interval(held_out), p, each)


def informative(signals: Signals) -> Answer:
    """Ask whether the residual carries information about the task's error.

    The effect is its correlation with its prediction from the error, held out, mean over neurons.
    """
    if signals.error is None:
        return Answer(unasked="the task’s error is not known")
    residual, error = signals.residual, _basis(signals.error)
    explained = np.square(flipped_sums(sums_within(residual, error, signals.stretch))).sum(
        axis=(1, 2)
    )
    p = float(exceeded(explained[0], explained[1:]))
    held_out = np.array([_correlations(*pair) for pair in _folds(residual, error)])
    return Answer(*interval(held_out.mean(axis=1)), p, held_out.mean(axis=0))


def signed(signals: Signals) -> Answer:
    """Ask whether the residual has the sign by which the neuron, in its causal role, would reduce
    the error.

    The error weighted by a neuron's role is what back-propagation would send to it. The effect is
    the correlation of the residual with that of its own neuron, less the mean correlation with
    those of the others. A yes must reject two null hypotheses (an intersection-union test): that
    residuals do not depend on the error, by random signs, and that they do not depend on the role,
    by exchange of roles. Exchange alone is not exact, since somas drive the outcome by their roles
    and imaging noise leaves a little of them in the error and in the residuals.
    """
    residual, error, role = signals.residual, signals.error, signals.role
    if error is None or role is None:
        return Answer(
            unasked=(
                f"the {'task’s error' if error is None else 'neurons’ causal role'} is not known"
            )
        )
    kinds = Counter(map(bytes, np.ascontiguousarray(role)))
    orders = math.factorial(min(signals.neurons, 20)) / math.prod(
        math.factorial(min(n, 20)) for n in kinds.values()
    )
    if orders * LEVEL < 1:
        return Answer(
            unasked=(
                f"roles of {signals.neurons} neurons can be exchanged in {orders:.0f} ways, and it"
                f" takes at least {1 / LEVEL:.0f} to tell them from chance; record more neurons"
            )
        )
    sent = error @ role.T
    folds = np.array_split(np.arange(len(sent)), FOLDS)
    each = np.array(
        [
            own_against_others(_cross_correlation(residual[fold], sent[fold])).mean()
            for fold in folds
        ]
    )
    weights = role.T / np.maximum(
        np.linalg.norm(sent, axis=0), np.finfo(float).tiny
    )  # a role may be 0
    own = own_against_others(
        flipped_sums(sums_within(residual, error, signals.stretch)) @ weights
    ).mean(axis=1)
    p = max(exchanged(_cross_correlation(residual, sent)), float(exceeded(own[0], own[1:])))
    return Answer(*interval(each), p, own_against_others(residual.T @ error @ weights))


def predictive(signals: Signals) -> Answer:
    """Ask whether the residual predicts how the activity of the same neuron changes.

    The recording is cut into blocks. In each, the mean residual in each condition stands beside the
    change of somatic activity in that condition from the block before to the block after, so that
    no frame is used twice. The effect is their correlation, over conditions and blocks, less the
    mean correlation with the changes of other neurons.
    """
    if signals.neurons < 4:
        return Answer(unasked=f"at least 4 neurons are needed (got {signals.neurons})")
    taught, change, block = _changes(signals)
    if len(taught) < FEWEST_POINTS:
        return Answer(
            unasked=(
                f"conditions must return in three of {BLOCKS} successive blocks of the recording,"
                f" {FEWEST_POINTS} times (got {len(taught)}); conditions are too many or the"
                " recording is too short"
            )
        )
    association = _cross_correlation(taught, change)
    own = own_against_others(association)
    without = [
        own_against_others(_cross_correlation(taught[block != one], change[block != one])).mean()
        for one in np.unique(block)
        if np.sum(block != one) >= FEWEST_POINTS
    ]
    return Answer(
        *jackknife_interval(float(own.mean()), np.array(without)), exchanged(association), own
    )


QUESTIONS: dict[str, Callable[[Signals], Answer]] = {
    "specific": specific,
    "informative": informative,
    "signed": signed,
    "predictive": predictive,
}


def _basis(signals: NDArray) -> NDArray:
    """Return orthonormal columns that span those of ``signals``."""
    left, strength, _ = np.linalg.svd(signals, full_matrices=False)
    return left[:, strength > NEGLIGIBLE * strength[0]]


def _folds(signals: NDArray, others: NDArray):
    """Yield, for each part of the recording, signals and others in it and their products outside
    it.
    """
    for fold in np.array_split(np.arange(len(signals)), FOLDS):
        s, o = signals[fold], others[fold]
        yield (
            s,
            o,
            signals.T @ signals - s.T @ s,
            signals.T @ others - s.T @ o,
            others.T @ others - o.T @ o,
        )


def _correlations(
    signals: NDArray, others: NDArray, _, products: NDArray, squares: NDArray
) -> NDArray:
    """Return the correlation of each signal with its prediction from the others, (N,), on held-out
    frames.
    """
    predicted = others @ (np.linalg.pinv(squares, hermitian=True) @ products.T)
    return np.diagonal(_cross_correlation(signals, predicted))


def _second_correlation(
    signals: NDArray, others: NDArray, own: NDArray, products: NDArray, squares: NDArray
) -> float:
    """Return the correlation of the second canonical pair on held-out frames."""
    half, other_half = map(_whitening, (own, squares))
    left, _, right = np.linalg.svd(half @ products @ other_half)
    pair = signals @ half @ left[:, 1], others @ other_half @ right[1]
    return float(_cross_correlation(*(one[:, None] for one in pair))[0, 0])


def _whitening(squares: NDArray) -> NDArray:
    """Return the inverse square root of a matrix of products; empty directions are left out."""
    values, vectors = np.linalg.eigh(squares)
    there = values > NEGLIGIBLE * values[-1]
    return (vectors[:, there] / np.sqrt(values[there])) @ vectors[:, there].T


def _cross_correlation(signals: NDArray, others: NDArray) -> NDArray:
    """Return correlations of columns (n, N) with others (n, J), (N, J); 0 where one never
    changes.
    """
    return _standard(signals).T @ _standard(others)


def _standard(signals: NDArray) -> NDArray:
    """Return columns of mean 0 and length 1; those that never change are 0."""
    centred = signals - signals.mean(axis=0)
    return centred / np.maximum(np.linalg.norm(centred, axis=0), np.finfo(float).tiny)


def _changes(signals: Signals) -> tuple[NDArray, NDArray, NDArray]:
    """Return mean residuals and changes of activity, (points, N) each, and the block of each point,
    (points,).
    """
    T = len(signals.soma)
    condition = np.zeros(T, dtype=np.int64) if signals.condition is None else signals.condition
    shown = np.asarray(condition) >= 0
    kind = np.unique(np.asarray(condition)[shown], return_inverse=True)[1]
    kinds = int(kind.max()) + 1 if len(kind) else 0
    place = (np.arange(T) * BLOCKS // T)[shown] * kinds + kind
    count = np.bincount(place, minlength=BLOCKS * kinds).reshape(BLOCKS, kinds)

    def means(values: NDArray) -> NDArray:
        sums = [
            np.bincount(place, weights=column, minlength=BLOCKS * kinds)
            for column in values[shown].T
        ]
        return np.array(sums).T.reshape(BLOCKS, kinds, -1) / np.maximum(count, 1)[..., None]

    there = (count[:-2] > 0) & (count[1:-1] > 0) & (count[2:] > 0)
    active = means(signals.soma)
    block = np.broadcast_to(np.arange(BLOCKS - 2)[:, None], there.shape)
    return means(signals.residual)[1:-1][there], (active[2:] - active[:-2])[there], block[there]
