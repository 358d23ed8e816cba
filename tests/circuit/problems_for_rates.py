"""Problems on which learning rates are judged.

``python tests/circuit/problems_for_rates.py 600`` prints the table of docs/rates.md; names after
the seed choose rows, ``--samples 10000`` shortens the runs, ``--ridge 0`` leaves out the ridge,
``--rates suggested`` takes those of ``Rates.suggested`` in place of "auto", and ``--departure
HomeostaticScaling`` adds that to the circuits. Every seed (here 600, 601 and 602) draws new data,
new initial weights and a new order of samples.
"""

from __future__ import annotations

import argparse
import functools
import sys
import warnings

import numpy as np

from biorrr import models
from biorrr.analysis import ExactSolution
from biorrr.circuit import Diverged, Microcircuit

SAMPLES, ROWS = 100_000, 20_000


def shared(rng, count, m, n, noise=0.5, noise_y=None, latents=None):
    """Return X (rows, m) and Y (rows, n) that have ``count`` latents in common, Gaussian ones
    unless given.
    """
    latents = rng.standard_normal((ROWS, count)) if latents is None else latents
    to_x, to_y = (rng.standard_normal((count, size)) / np.sqrt(count) for size in (m, n))
    X = latents @ to_x + noise * rng.standard_normal((ROWS, m))
    return X, latents @ to_y + (noise if noise_y is None else noise_y) * rng.standard_normal(
        (ROWS, n)
    )


def white(rng):
    """Return white X of 300 dimensions, of which three predict Y."""
    X = rng.standard_normal((ROWS, 300))
    weights = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 40)) / np.sqrt(300)
    return X, X @ weights + 3 * rng.standard_normal((ROWS, 40))


def noisy_tails(rng):
    """Return data with t-distributed noise (three degrees of freedom)."""
    X, Y = shared(rng, 4, 30, 12, noise=0)
    return X + 0.5 * rng.standard_t(3, X.shape), Y + 0.5 * rng.standard_t(3, Y.shape)


def bursts(rng, share, size, background):
    """Return data of ``size`` in a ``share`` of the samples, and ``background`` noise in all."""
    on = size * (rng.random((ROWS, 1)) < share)
    X, Y = shared(rng, 10, 40, 15)
    return tuple(on * data + background * rng.standard_normal(data.shape) for data in (X, Y))


def sparse(rng):
    """Return data whose ten latents are each active in one sample of fifty, with half of the inputs
    missing.
    """
    active = rng.random((ROWS, 10)) < 0.02
    X, Y = shared(rng, 10, 50, 20, noise=0.1, latents=5 * active * rng.standard_normal((ROWS, 10)))
    return X * (rng.random(X.shape) < 0.5), Y


def counts(rng):
    """Return counts whose log rates have ten latents in common."""
    latents = rng.standard_normal((ROWS, 10))
    rates = (
        np.exp(np.clip(latents @ (0.4 * rng.standard_normal((10, size))) - 1, None, 4))
        for size in (60, 25)
    )
    return tuple(rng.poisson(rate).astype(float) for rate in rates)


def scaled(data, scales):
    """Return X and Y with the columns of X times ``scales``."""
    return data[0] * scales, data[1]


def steep(rng):
    """Return X whose spectrum falls as 1/i^2, in random axes, and Y that it predicts."""
    axes = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    X = (rng.standard_normal((ROWS, 50)) / np.arange(1, 51)) @ axes
    latents = X @ rng.standard_normal((50, 12))
    weights = rng.standard_normal((12, 25)) / np.sqrt(12)
    return X, latents / latents.std(axis=0) @ weights + 0.5 * rng.standard_normal((ROWS, 25))


def patches(rng):
    """Return the left and the right halves of grey patches of CIFAR-10, 8 by 8 pixels."""
    from biorrr.sims.data import load

    images = load("cifar10").X.reshape(-1, 3, 32, 32).mean(axis=1)
    places = (rng.integers(size, size=ROWS) for size in (len(images), 25, 25))
    found = np.stack([images[i, r : r + 8, c : c + 8] for i, r, c in zip(*places, strict=True)])
    return found[:, :, :4].reshape(ROWS, 32), found[:, :, 4:].reshape(ROWS, 32)


def halves(rng):
    """Return the upper and the lower halves of MNIST's digits, at half resolution."""
    from biorrr.sims.data import load

    images = load("mnist").X.reshape(-1, 28, 28)[:, ::2, ::2]
    return images[:, :7].reshape(-1, 98), images[:, 7:].reshape(-1, 98)


PROBLEMS = {
    "white, 300 to 40": ((1, 5), white),
    "t-tailed latents, 30 to 12": (
        (1, 5),
        lambda r: shared(r, 4, 30, 12, latents=r.standard_t(3, (ROWS, 4))),
    ),
    "t-tailed noise, 30 to 12": ((1, 5), noisy_tails),
    "Gaussian, 10 to 8": ((1, 5), lambda r: shared(r, 4, 10, 8)),
    "Gaussian, 60 to 30": ((1, 5, 8), lambda r: shared(r, 10, 60, 30, noise=1)),
    "uneven scales, 40 to 20": (
        (1, 5),
        lambda r: scaled(shared(r, 8, 40, 20), np.exp(r.standard_normal(40))),
    ),
    "binary, 50 to 20": (
        (1, 5, 8),
        lambda r: tuple((d > 0.5).astype(float) for d in shared(r, 10, 50, 20)),
    ),
    "sparse, 50 to 20": ((1, 3, 8), sparse),
    "rare bursts, 40 to 15": ((1, 3, 8), lambda r: bursts(r, 0.03, 5, 0.1)),
    "bursts over noise, 40 to 15": ((1, 3, 8), lambda r: bursts(r, 0.05, 3, 0.3)),
    "spike counts, 60 to 25": ((1, 3, 8), counts),
    "Laplace, 25 to 15": (
        (1, 3, 8),
        lambda r: shared(r, 8, 25, 15, latents=r.laplace(size=(ROWS, 8))),
    ),
    "low rank, 80 to 40": (
        (1, 3, 8),
        lambda r: shared(
            r, 12, 80, 40, 0.05, 0.5, r.standard_normal((ROWS, 12)) / np.sqrt(np.arange(1, 13))
        ),
    ),
    "ill-conditioned, 40 to 15": (
        (1, 3, 8),
        lambda r: scaled(shared(r, 10, 40, 15), np.logspace(0, -2, 40)),
    ),
    "150 samples, 60 to 20": (
        (1, 3, 8),
        lambda r: tuple(data[:150] for data in shared(r, 10, 60, 20)),
    ),
    "m < n, 9 to 70": ((1, 3, 8), lambda r: shared(r, 9, 9, 70)),
    "steep spectrum, 50 to 25": ((1, 3, 5), steep),
    "image patches, 32 to 32": ((1, 3, 5), patches),
    "halves of MNIST, 98 to 98": ((1, 3, 5), halves),
    "digits": ((1, 5, 8), None),
    "v1v2": ((1, 5, 8), None),
    "mediamill": ((1, 5, 8), None),
    "mediamill swapped": ((1, 5, 8), None),
    "mnist": ((1, 5), None),
    "fashion-mnist": ((1, 5), None),
    "cifar10": ((1, 5), None),
    "cifar100": ((1, 5), None),
}


@functools.lru_cache(1)
def drawn(name, draw, seed):
    """Return centred X and Y of a problem; of a data set the same for every seed."""
    if draw is None:
        from biorrr.sims.data import load

        data = load(name.split()[0])
        X, Y = (data.Y, data.X) if name.endswith("swapped") else (data.X, data.Y)
    else:
        X, Y = draw(np.random.default_rng([seed, *map(ord, name)]))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def reached(X, Y, k, s, seed, samples=SAMPLES, rates="auto", departures=(), ridge=0.1):
    """Return excess, whitening error and largest power of the output relative to that of the exact
    solution; the ridge is relative to the mean square of X.
    """
    ridge *= float(np.square(X).mean())
    exact, rng = ExactSolution(X, Y, s, ridge), np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(len(X)) for _ in range(-(-samples // len(X)))])[
        :samples
    ]
    if rates == "suggested":
        rates = models.Rates.suggested(X, Y, k, s, ridge)
    circuit = Microcircuit(
        k, s=s, rates=rates, ridge=ridge, engine="cpp", seed=seed, departures=departures
    )
    try:
        run = circuit.run(
            X, Y, order=order, record=(), snapshots=("linear", samples // 100), progress=False
        )
    except Diverged:
        return np.inf, np.inf, np.inf
    Cxx = X.T @ X / len(X)
    power = [np.sum(Vx * (Cxx @ Vx)) for Vx in (*run.data["Vx"].values, exact.Vx(k))]
    return exact.excess(run.Vx), exact.whitening_error(run.Vx), max(power[:-1]) / power[-1]


def main(problems, description):
    """Print a row for each of the ``problems``: how many runs miss, by which bound, and the worst
    of all runs.

    Runs that miss are listed on the standard error.
    """
    arguments = parse(problems, description)
    warnings.filterwarnings("ignore", message=".*(columns are constant|outputs are silent)")
    departures = [getattr(models, name)() for name in arguments.departure]
    for name in arguments.names or problems:
        ks, draw = problems[name]
        seeds = range(arguments.seed, arguments.seed + 3)
        chosen = [(k, s, seed) for seed in seeds for k in ks for s in (0, 1)]
        how = arguments.samples, arguments.rates, departures, arguments.ridge
        found = np.array([reached(*drawn(name, draw, run[-1]), *run, *how) for run in chosen])
        above = found > (0.02, 0.02, 5)
        for (k, s, seed), values, missed in zip(chosen, found, above.any(axis=1), strict=True):
            if missed:
                print(name, f"k={k} s={s} seed={seed}:", *values, file=sys.stderr, flush=True)
        bounds = ", ".join(map(str, above.sum(axis=0)))
        excess, whitening, power = found.max(axis=0)
        print(
            f"| {name} | {', '.join(map(str, ks))} | {above.any(axis=1).sum()} of {len(found)} |"
            f" {bounds} | {100 * excess:.2f} %, {whitening:.3f}, {power:.1f} |",
            flush=True,
        )


def parse(problems, description):
    """Return what was asked on the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("seed", type=int)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(problems)}")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--rates", default="auto", choices=("auto", "suggested"))
    parser.add_argument("--departure", action="append", default=[])
    parser.add_argument("--ridge", type=float, default=0.1, help="over trace(Cxx)/m")
    return parser.parse_intermixed_args()


if __name__ == "__main__":
    main(PROBLEMS, __doc__)
