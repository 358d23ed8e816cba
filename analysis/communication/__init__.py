"""Prediction of one population of neurons from another: held-out prediction, its controls, shared
dimensions.

Arrays in, arrays out. Everything follows from second moments that are summed once
(:class:`FoldMoments`).
"""

from biorrr.analysis.communication.areas import TwoAreas
from biorrr.analysis.communication.controls import (
    equal_signals,
    fewer_dimensions,
    lagged,
    matched_units,
    removed_dimensions,
    shared_dimensionality,
    shuffled_trials,
)
from biorrr.analysis.communication.moments import FoldMoments, predict_held_out, trial_folds
from biorrr.analysis.regression.rank import Prediction

__all__ = [
    "FoldMoments",
    "Prediction",
    "TwoAreas",
    "equal_signals",
    "fewer_dimensions",
    "lagged",
    "matched_units",
    "predict_held_out",
    "removed_dimensions",
    "shared_dimensionality",
    "shuffled_trials",
    "trial_folds",
]
