"""How often the 95 % interval of s contains s, over 500 simulated experiments in each of many
conditions.

The table of docs/distal.md is what this prints with ``pytest -s -m slow
tests/analysis/test_coverage.py``.
"""

import numpy as np
import pytest

from biorrr.analysis import infer_s
from biorrr.analysis.distal.noise import QUANTITIES
from biorrr.analysis.distal.observation import DistalRecordings, between_observations
from biorrr.analysis.distal.power import observed, simulate_circuits

EXPERIMENTS = 500
USUAL = {"k": 2, "n": 6, "samples": 200, "noise": 0.1}
CONDITIONS = {
    "two neurons, noise 5 %": {"noise": 0.05},
    "two neurons, noise 10 %": {},
    "two neurons, noise 20 %": {"noise": 0.2},
    "two neurons, noise 30 %, 1000 changes": {"noise": 0.3, "samples": 1000},
    "one neuron, noise 10 %": {"k": 1},
    "one neuron, noise 20 %": {"k": 1, "noise": 0.2},
    "one neuron, 20 synapses, noise 20 %": {"k": 1, "n": 20, "noise": 0.2},
    "one neuron, decaying rate (N = 100)": {"k": 1, "N": 100.0},
    "one neuron, two synapses": {"k": 1, "n": 2},
    "one neuron, one synapse": {"k": 1, "n": 1},
    "half of 12 synapses": {"n": 12, "observed": 6},
    "weights at every 10th sample, 50 changes": {"samples": 50, "every": 10},
    "10 changes": {"samples": 10},
    "5 changes": {"samples": 5},
    **{f"noise 20 % in {name} alone": {"noise": {name: 0.2}} for name in QUANTITIES},
    **{
        f"noise 20 % in {name} alone, one neuron": {"noise": {name: 0.2}, "k": 1}
        for name in QUANTITIES
    },
    "noise 20 % in z alone, and known": {"noise": {"z": 0.2}, "known": True},
    "noise 20 % in all, and known": {"noise": 0.2, "known": True},
}


def experiments(s, k, n, samples, noise, every=1, observed_synapses=None, N=np.inf, known=False):
    """Intervals (EXPERIMENTS, 2) of simulated experiments."""
    rng, when, seen = (
        np.random.default_rng(1),
        every * np.arange(samples + 1),
        slice(observed_synapses),
    )
    fractions = noise if isinstance(noise, dict) else dict.fromkeys(QUANTITIES, noise)
    ends = []
    for y, z, a, Vy in zip(
        *simulate_circuits(s, n, k, samples * every, EXPERIMENTS, seed=0, N=N), strict=True
    ):
        clean = between_observations(y[:, seen], z, a, Vy[when][:, seen], when)
        noisy = DistalRecordings(
            *(
                observed(one, fractions.get(name, 0.0), rng)
                for name, one in zip(QUANTITIES, clean, strict=True)
            )
        )
        # Known as a fraction of what is recorded, noise included.
        recorded = {
            name: fraction / np.sqrt(1 + fraction**2) for name, fraction in fractions.items()
        }
        found = infer_s(*noisy, noise=recorded if known else None)
        ends.append((found.low, found.high))
    return np.array(ends)


TOO_LOW = pytest.mark.xfail(
    reason="one neuron's rate takes up the noise in a: 76 % at s = 0.5", strict=True
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(name, marks=TOO_LOW if name == "noise 20 % in a alone, one neuron" else ())
        for name in CONDITIONS
    ],
)
def test_coverage(condition):
    asked = USUAL | CONDITIONS[condition]
    asked["observed_synapses"] = asked.pop("observed", None)
    row = [condition]
    covers = []
    for s in (0.0, 0.5, 1.0):
        low, high = experiments(s, **asked).T
        covers.append(np.mean((low <= s) & (s <= high)))
        tells = np.mean((low > 0) | (high < 1))
        misled = np.mean({0.0: low > 0, 1.0: high < 1}.get(s, (low > 1) | (high < 0)))
        width = np.median(high - low)
        row.append(
            f"{covers[-1]:.1%}, {tells:.0%}, {misled:.1%},"
            f" {'infinite' if np.isinf(width) else f'{width:.2g}'}"
        )
    print("| " + " | ".join(row) + " |")
    assert min(covers) >= 0.92  # three standard deviations of a binomial of 500 below 0.95
