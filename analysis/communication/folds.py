"""Folds of whole trials."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError


def trial_folds(
    trials: ArrayLike, folds: int, *, conditions: ArrayLike | None = None, random_state: int | None = None
) -> NDArray:
    """Return the number of the fold in which each sample is held out, (n_samples,); samples of one trial share theirs.

    Parameters
    ----------
    trials : (n_samples,)
        Which trial a sample belongs to.
    folds
        How many.
    conditions : (n_samples,)
        Condition of each sample's trial. Each condition is then dealt out over the folds, so that a condition with at
        least two trials has one to learn its mean from, whichever fold is held out. Without, trials are split as
        scikit-learn's shuffled ``GroupKFold`` does.
    random_state
        Seed of the shuffle.

    Examples
    --------
    >>> trial_folds([0, 0, 1, 1, 2, 2, 3, 3], 2, conditions=[5, 5, 5, 5, 7, 7, 7, 7], random_state=0)
    array([0, 0, 1, 1, 0, 0, 1, 1])
    """
    trials = np.asarray(trials)
    names, place = np.unique(trials, return_inverse=True)
    if not 2 <= folds <= len(names):
        raise InputError(f"folds: must lie between 2 and the number of trials, {len(names)} (got {folds})")
    if conditions is None:
        from sklearn.model_selection import GroupKFold

        held_out = np.empty(len(trials), dtype=int)
        splitter = GroupKFold(folds, shuffle=True, random_state=random_state)
        for fold, (_, test) in enumerate(splitter.split(trials, groups=trials)):
            held_out[test] = fold
        return held_out
    rng = np.random.default_rng(random_state)
    condition = np.empty(len(names), dtype=int)
    condition[place] = np.unique(np.asarray(conditions), return_inverse=True)[1]
    # Shuffled, then in the order of their conditions, trials are dealt out like cards: folds are even in both.
    shuffled = rng.permutation(len(names))
    dealt = shuffled[np.argsort(condition[shuffled], kind="stable")]
    fold_of_trial = np.empty(len(names), dtype=int)
    fold_of_trial[dealt] = np.arange(len(names)) % folds
    return fold_of_trial[place]
