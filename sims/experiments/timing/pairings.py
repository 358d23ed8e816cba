"""Pairings of an input with a plateau, seconds apart (protocol of Bittner et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.timing.single_cell import PLATEAU, RULES, TICK, learn_weights
from biorrr.sims.lab import PERCENT, Quantity, Task
from biorrr.sims.lazy import analysis, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

# Ten pulses at 20 Hz and a plateau of 300 ms, paired five times.
PULSES, PULSE_INTERVAL, REPEATS = 10, 0.05, 5
LONGEST_LAG, LAG_STEP, PAUSE = (
    4.0,
    0.25,
    20.0,
)  # seconds; from one pairing to the next every trace has faded
TIME_CONSTANT_ERROR = 0.05  # relative; a bound, fixed beforehand


def lags() -> np.ndarray:
    """Return the seconds from the first pulse to the onset of the plateau, (L,)."""
    return np.arange(-LONGEST_LAG, LONGEST_LAG + 0.5 * LAG_STEP, LAG_STEP)


def pulse_times() -> np.ndarray:
    """Return the seconds from the first pulse to each of them, (PULSES,)."""
    return PULSE_INTERVAL * np.arange(PULSES)


def protocol() -> tuple[np.ndarray, np.ndarray]:
    """Return one pairing: pulses of unit area, a fibre for each lag, (ticks, L); and the plateau,
    (ticks, 1).
    """
    ticks, onset = round(PAUSE / TICK), round(0.4 * PAUSE / TICK)
    X, Y = np.zeros((ticks, len(lags()))), np.zeros((ticks, 1))
    Y[onset : onset + round(PLATEAU / TICK)] = 1.0
    for fibre, lag in enumerate(lags()):
        X[onset + np.round((pulse_times() - lag) / TICK).astype(int), fibre] = 1 / TICK
    return X, Y


def pair(task: Task, rule: str) -> dict[str, Any]:
    """Return the change of the weight at every lag, (L,), after repeated pairings with one rule."""
    X, Y = protocol()
    # With this rate the change is the area under the product of the traces, in one pairing.
    return {"change": learn_weights(task, rule, X, Y, TICK / REPEATS, epochs=REPEATS)}


def pairing_results(settings: TimingSettings, found: Mapping[str, Mapping[str, Any]]) -> xr.Dataset:
    """Return the change of the weight, (rule, lag), and what the theory of the traces predicts,
    (lag,).
    """
    taus = {"tau_x": settings.tau_x, "tau_plateau": settings.tau_plateau}
    predicted = analysis.pairing_curve(lags(), pulse_times(), PLATEAU, *taus.values())
    between_middles = (
        lags() + 0.5 * PLATEAU - 0.5 * pulse_times()[-1]
    )  # of the pulses and of the plateau
    return xr.Dataset(
        {
            "change": (("rule", "lag"), [found[rule]["change"] for rule in RULES]),
            "predicted_change": ("lag", predicted, taus),
        },
        {"rule": [*RULES], "lag": lags(), "between_middles": ("lag", between_middles)},
    )


def pairing_quantities(settings: TimingSettings, results: xr.Dataset) -> list[Quantity]:
    """Return the time constants that a fit recovers from the curve."""
    fitted_x, fitted_plateau = analysis.fit_time_constants(
        lags(), results["change"].sel(rule="traces").values, pulse_times()[-1] + TICK, PLATEAU
    )
    wrong = max(abs(fitted_x / settings.tau_x - 1), abs(fitted_plateau / settings.tau_plateau - 1))
    given, fitted = "time constants, set", "recovered from the curve"
    return [
        Quantity("tau_x", settings.tau_x, "s", "input", row=given),
        Quantity("tau_plateau", settings.tau_plateau, "s", "plateau", row=given),
        Quantity("tau_x_fitted", fitted_x, "s", "input", row=fitted),
        Quantity("tau_plateau_fitted", fitted_plateau, "s", "plateau", row=fitted),
        Quantity(
            "time_constant_error",
            float(np.nan_to_num(wrong, nan=np.inf)),
            PERCENT,
            bound=(-math.inf, TIME_CONSTANT_ERROR),
        ),
    ]
