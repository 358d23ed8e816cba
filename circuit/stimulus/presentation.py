"""The order of presentation: samples, and spontaneous replay between them.

Everything random is drawn here, in NumPy, from the seed and the place in the stream alone, so that
a seed means the same on every engine and a run can be taken up at any sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from biorrr.errors import InputError
from biorrr.models.validation import whole_number

# Which stream of random numbers: the seed alone would make weights, order and replay copies of one
# another.
WEIGHTS, _ORDER, _REPLAY = range(3)
_BLOCK = (
    2**16
)  # entries of permutations drawn together: to seed a generator takes as long as to draw 2,000


def as_seed(name: str, seed) -> int:
    """Return a whole number for ``seed``: itself, or one drawn by a NumPy generator; None draws a
    new one each time.
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return int(np.random.default_rng(seed).integers(2**32))
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(2**32, dtype=np.uint64))
    return whole_number(name, seed, minimum=0)


def check_seeds(seeds) -> list[int]:
    """Return the seeds of several runs, each once."""
    given = list(seeds) if isinstance(seeds, Iterable) else []
    checked = [as_seed("seeds", seed) for seed in given]
    if not checked or len(set(checked)) < len(checked):
        remedy = f"; range({seeds}) gives {seeds}" if isinstance(seeds, int) and seeds > 0 else ""
        raise InputError(
            f"seeds: must be different whole numbers, at least one (got {seeds!r}){remedy}"
        )
    return checked


def generator(seed: int, stream: int, *place: int) -> np.random.Generator:
    """Return the generator of one stream at one place of it."""
    return np.random.default_rng([seed, stream, *place])


def draw_permutations(rng: np.random.Generator, count: int, length: int) -> np.ndarray:
    """Return ``count`` random permutations of ``length`` entries, one after another."""
    return rng.permuted(np.tile(np.arange(length), (count, 1)), axis=1).reshape(-1)


@dataclass(frozen=True)
class Presentation:
    """The endless stream of ticks a seed stands for; sample t is followed by its replay ticks.

    Parameters
    ----------
    n_samples, m
        Shape of the data of the port that is replayed.
    order
        "shuffle" (every epoch anew), "sequential", or an index array that is gone through again and
        again.
    replay
        Replays after each sample, B.
    seed
        Seed of all of it.
    draw
        What draws permutations, as :func:`draw_permutations` does.
    """

    n_samples: int
    m: int
    order: str | np.ndarray
    replay: int
    seed: int
    draw: Callable[..., np.ndarray] = field(default=draw_permutations, repr=False, compare=False)
    _permutations: dict = field(default_factory=dict, repr=False, compare=False)

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows of the data presented at samples ``start`` to ``stop``, shape (stop -
        start,).
        """
        samples = np.arange(start, stop)
        if isinstance(self.order, np.ndarray):
            return self.order[samples % len(self.order)]
        if self.order == "sequential":
            return samples % self.n_samples
        return self._shuffle(start, stop, self.n_samples, _ORDER)

    def replayed(self, start: int, stop: int) -> np.ndarray:
        """Return the inputs that are replayed after samples ``start`` to ``stop``, shape (stop -
        start, replay).

        Each comes once before any comes a second time: a new random permutation of all m when one
        is used up.
        """
        inputs = self._shuffle(start * self.replay, stop * self.replay, self.m, _REPLAY)
        return inputs.reshape(stop - start, self.replay)

    def sequence(self, start: int, stop: int) -> np.ndarray:
        """Return a row of the data for each sample, then -1 - i for each replay of an input i
        alone.

        Shape (stop - start, 1 + replay).
        """
        return np.column_stack([self.rows(start, stop), -1 - self.replayed(start, stop)])

    def _shuffle(self, start: int, stop: int, length: int, stream: int) -> np.ndarray:
        """Return entries ``start`` to ``stop`` of one random permutation of ``length`` after
        another.
        """
        out = np.empty(stop - start, dtype=np.int64)
        block_length = max(_BLOCK // length, 1) * length
        at = start
        while at < stop:
            block, offset = divmod(at, block_length)
            last = min(offset + stop - at, block_length)
            drawn = self._permutations_of(length, stream, block, last, block_length)
            out[at - start : at - start + last - offset] = drawn[offset:last]
            at += last - offset
        return out

    def _permutations_of(
        self, length: int, stream: int, block: int, last: int, block_length: int
    ) -> np.ndarray:
        """Return block number ``block`` of permutations, one after another, up to ``last`` or
        further.
        """
        # The last one of each stream is kept: a segment usually ends inside it. Short runs need
        # the beginning of a block alone, which is the same however many permutations follow.
        # Data that take the place of others may have another length.
        before, kept = self._permutations.get(stream, (None, ()))
        if before != (length, block) or len(kept) < last:
            few, whole = -(-last // length), block_length // length
            count = few if before != (length, block) and 10 * few < whole else whole
            kept = self.draw(generator(self.seed, stream, block), count, length)
            self._permutations[stream] = (length, block), kept
        return kept
