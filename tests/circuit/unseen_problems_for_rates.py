"""Problems that played no part in the choice of the policy of rates "auto".

They were written down, with their bounds, before the policy was run on any of them; it was not
changed afterwards. ``python tests/circuit/unseen_problems_for_rates.py 4200`` prints the second
table of docs/rates.md: k = 1, 3 and 5, s = 0 and 1, seeds 4200, 4201 and 4202.
"""

from __future__ import annotations

import numpy as np
import problems_for_rates as rates

ROWS = rates.ROWS


def images(name, side, channels=1):
    """Return the images of a data set, (n, channels, side, side)."""
    from biorrr.sims.data import load

    return load(name).X.reshape(-1, channels, side, side)


def patches(rng, name, size):
    """Return grey patches of CIFAR, (ROWS, size, size)."""
    grey = images(name, 32, 3).mean(axis=1)
    places = (rng.integers(count, size=ROWS) for count in (len(grey), 33 - size, 33 - size))
    return np.stack([grey[i, r : r + size, c : c + size] for i, r, c in zip(*places, strict=True)])


def left_and_right(rng):
    """Return the left and the right halves of CIFAR-10 patches, 10 by 10 pixels."""
    found = patches(rng, "cifar10", 10)
    return found[:, :, :5].reshape(ROWS, -1), found[:, :, 5:].reshape(ROWS, -1)


def rim_and_centre(rng):
    """Return the rim and the centre, 3 by 3 pixels, of CIFAR-100 patches of 7 by 7."""
    found = patches(rng, "cifar100", 7)
    centre = np.zeros((7, 7), bool)
    centre[2:5, 2:5] = True
    return found[:, ~centre], found[:, centre]


def interleaved_rows(rng):
    """Return every fourth row of pictures of clothes, and the rows halfway between them."""
    found = images("fashion-mnist", 28)[:, 0, :, ::2]
    return found[:, ::4].reshape(len(found), -1), found[:, 2::4].reshape(len(found), -1)


def halves_of_digits(rng):
    """Return the upper and the lower halves of scikit-learn's digits."""
    from sklearn.datasets import load_digits

    found = load_digits().images
    return found[:, :4].reshape(-1, 32), found[:, 4:].reshape(-1, 32)


def tumours(rng):
    """Return means and worst values of ten features of cell nuclei, of unit variance."""
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer().data
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return table[:, :10], table[:, 20:]


def ring(rng):
    """Return counts of two populations with bell-shaped tuning to one angle."""
    angle = rng.uniform(0, 2 * np.pi, (ROWS, 1))
    counts = (
        rng.poisson(8 * np.exp(4 * (np.cos(angle - np.linspace(0, 2 * np.pi, size)) - 1)))
        for size in (41, 25)
    )
    return tuple(each.astype(float) for each in counts)


def chaos(rng):
    """Return ten past values of the three variables of Lorenz's equations, and two future ones."""
    state, path = rng.standard_normal(3), []
    for _ in range(5 * (ROWS + 20)):
        x, y, z = state
        state = state + 0.01 * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
        path.append(state)
    path = np.array(path[::5]) + 0.5 * rng.standard_normal((ROWS + 20, 3))
    lags = [path[i : i + ROWS] for i in range(14)]
    return np.hstack(lags[:10]), np.hstack([lags[11], lags[13]])


def coloured_noise(rng):
    """Return 24 past and 8 future samples of 1/f noise with an added rhythm."""
    length = 40 * ROWS
    spectrum = (
        np.fft.rfft(rng.standard_normal(length))
        / np.maximum(np.arange(length // 2 + 1), 1e3) ** 0.5
    )
    noise = np.fft.irfft(spectrum)
    wave = noise / noise.std() + np.sin(np.arange(length) / 3) + 0.2 * rng.standard_normal(length)
    windows = wave.reshape(ROWS, 40)
    return windows[:, :24], windows[:, 24:32]


def categories(rng):
    """Return which of 40 categories, of Zipf's frequencies, a sample has, and noisy features."""
    share = 1 / np.arange(1, 41)
    label = rng.choice(40, ROWS, p=share / share.sum())
    return np.eye(40)[label], rng.standard_normal((40, 12))[label] + rng.standard_normal((ROWS, 12))


def genotypes(rng):
    """Return alleles, 0 to 2, of 80 neighbouring places, and ten traits."""
    latents = rng.standard_normal((2, ROWS, 80))
    for i in range(1, 80):
        latents[:, :, i] = 0.8 * latents[:, :, i - 1] + 0.6 * latents[:, :, i]
    alleles = (latents > rng.uniform(-0.5, 1, 80)).sum(axis=0).astype(float)
    effects = rng.standard_normal((80, 10)) * (rng.random((80, 10)) < 0.2)
    return alleles, alleles @ effects + 2 * rng.standard_normal((ROWS, 10))


def positive(rng):
    """Return mixtures of seven exponential sources, with noise of a size of its own per channel."""
    sources = rng.exponential(size=(ROWS, 7))
    return tuple(
        sources @ rng.exponential(size=(7, size))
        + rng.uniform(0.2, 2, size) * rng.standard_normal((ROWS, size))
        for size in (35, 18)
    )


def saturated(rng):
    """Return two populations that saturate, driven by nine latents of falling size."""
    latents = rng.uniform(-1.7, 1.7, (ROWS, 9)) / np.sqrt(np.arange(1, 10))
    return tuple(
        np.tanh(latents @ rng.standard_normal((9, size)) + 0.4 * rng.standard_normal((ROWS, size)))
        for size in (45, 30)
    )


def private_factors(rng):
    """Return data with six shared and ten private factors on each side, the latter stronger."""
    shared = rng.standard_normal((ROWS, 6))
    return tuple(
        shared @ rng.standard_normal((6, size)) * 0.5
        + rng.standard_normal((ROWS, 10)) @ rng.standard_normal((10, size)) * 0.7
        + 0.5 * rng.standard_normal((ROWS, size))
        for size in (50, 30)
    )


def few_samples(rng):
    """Return 300 samples with more inputs than half of their number."""
    latents = rng.standard_normal((300, 6))
    return tuple(
        latents @ rng.standard_normal((6, size)) / 2 + rng.standard_normal((300, size))
        for size in (160, 24)
    )


UNSEEN = {
    "CIFAR patches, left to right": left_and_right,
    "CIFAR patches, rim to centre": rim_and_centre,
    "clothes, row to row": interleaved_rows,
    "digits, upper to lower half": halves_of_digits,
    "tumours, means to worst values": tumours,
    "tuning to an angle": ring,
    "Lorenz, past to future": chaos,
    "1/f noise, past to future": coloured_noise,
    "categories": categories,
    "genotypes": genotypes,
    "exponential sources": positive,
    "saturated populations": saturated,
    "private factors": private_factors,
    "300 samples, 160 to 24": few_samples,
}

if __name__ == "__main__":
    rates.main({name: ((1, 3, 5), draw) for name, draw in UNSEEN.items()}, __doc__)
