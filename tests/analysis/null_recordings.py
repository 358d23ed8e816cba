"""Recordings of somas and dendrites in which nothing relates a dendrite's own signal to the error,
role or learning.

Eight neurons and four components of the error, 500 trials of about half a second at 10 Hz. Somas
take part in the task: the error is a target less what the somas drive, so that it is correlated
with them. What a dendrite adds to its soma is drawn independently of all that. Each kind of null
makes these signals hard to tell from related ones.
"""

import numpy as np
from scipy.signal import lfilter

from biorrr.analysis.instructive import DendriticRecording

RATE, DECAY, TRIALS, FRAMES = 10.0, 0.5, 500, 5
N, J = 8, 4


def draw(kind, seed, own="unrelated", noise=0.5):
    """Return one null recording.

    Parameters
    ----------
    kind
        One of :data:`KINDS`.
    own
        Signal of the dendrites beyond their somas: "unrelated" to everything, one for each neuron,
        or "broadcast", the first component of the target for all neurons. The second is the null of
        specificity alone.
    """
    rng = np.random.default_rng([KINDS.index(kind), own == "broadcast", seed])
    lengths = (
        rng.integers(2, 16, TRIALS * 5 // 8)
        if kind == "variable trials"
        else np.full(TRIALS, FRAMES)
    )
    trial = np.repeat(np.arange(len(lengths)), lengths)
    T, trials = len(trial), len(lengths)
    kinds, chances = 12, None
    if kind == "unequal conditions":
        kinds, chances = 6, np.array([0.6, 0.2, 0.1, 0.05, 0.03, 0.02])
    condition = rng.choice(kinds, size=trials, p=chances)[trial]

    def signals(columns):
        """Return independent signals (T, columns) of variance about one, of this kind of null."""
        if kind.startswith("slow"):
            return autocorrelated(T, columns, RATE * float(kind.split()[1]), rng)
        if kind == "heavy tails":
            return rng.standard_t(2, (trials, columns))[trial]
        white = rng.standard_normal((trials, columns))[trial]
        if kind == "drift":
            return white + random_walk(T, columns, rng)
        if kind == "unequal conditions":
            return white * rng.uniform(0.2, 3, (kinds, columns))[condition]
        if kind == "tuned conditions":
            return white + rng.standard_normal((kinds, columns))[condition]
        return white

    tuning = rng.standard_normal((kinds, N)) + 2 * random_walk(trials, kinds * N, rng).reshape(
        trials, kinds, N
    )
    soma = signals(N) + tuning[trial, condition]
    role = rng.standard_normal((N, J))
    target, beyond = signals(J), signals(N)
    if kind == "bleaching and learning":
        course = np.linspace(0, 1, T)[:, None]
        soma = soma * rng.uniform(0.5, 2, N) ** course + 2 * course
        target, beyond = (
            (target + 2) * np.exp(-2 * course),
            beyond * np.exp(-course * rng.uniform(0.5, 2, N)),
        )
    outcome = np.maximum(soma, 0) if kind == "nonlinear dendrite" else soma
    error = target - 0.5 * outcome @ role / np.sqrt(N)
    if own == "broadcast":
        beyond = target[:, :1]
    copied = standard(soma)
    if kind == "nonlinear dendrite":
        copied = standard(np.exp(0.7 * copied))
    decays = (DECAY, 3 * DECAY if kind == "different kinetics" else DECAY)
    calcium = [
        standard(trace(one, decay))
        for one, decay in zip((soma, copied + standard(beyond)), decays, strict=True)
    ]
    if kind == "bleaching and learning":
        calcium = [one * np.exp(-course) + 3 * np.exp(-2 * course) for one in calcium]
    calcium = [one + noise * rng.standard_normal(one.shape) for one in calcium]
    return DendriticRecording(
        *calcium, RATE, error, role, condition, 1 if kind == "variable trials" else FRAMES
    )


KINDS = (
    "independent trials",
    "slow 2 s",
    "slow 6 s",
    "slow 20 s",
    "drift",
    "bleaching and learning",
    "heavy tails",
    "unequal conditions",
    "tuned conditions",
    "variable trials",
    "different kinetics",
    "nonlinear dendrite",
)


def autocorrelated(T, columns, frames, rng):
    """Return signals (T, columns) of unit variance whose autocorrelation decays within some
    frames."""
    kept = np.exp(-1 / frames)
    steps = np.sqrt(1 - kept**2) * rng.standard_normal((T, columns))
    return lfilter([1], [1, -kept], steps, axis=0, zi=kept * rng.standard_normal((1, columns)))[0]


def random_walk(T, columns, rng):
    """Return random walks (T, columns) that reach unit variance."""
    return np.cumsum(rng.standard_normal((T, columns)), axis=0) / np.sqrt(T)


def trace(activity, decay):
    """Return the fluorescence of an indicator that decays within some seconds."""
    kept = np.exp(-1 / (decay * RATE))
    return lfilter([1], [1, -kept], activity, axis=0)


def standard(signals):
    """Return signals of mean 0 and variance 1."""
    return (signals - signals.mean(axis=0)) / signals.std(axis=0)
