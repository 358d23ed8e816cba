"""Measures of a theory that has learned: its scores, what its dendrites carry, and what lesions do
to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from biorrr.sims.experiments.theories.contests import (
    RIDGE,
    Contest,
    best_rates,
    excess_of,
    learn,
    predicted,
    run_theory,
)
from biorrr.sims.lab import Job, Lab
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, theories, xr

PROBED = 1000  # samples that probes show, with learning off
SILENCED = 3000  # samples for which learning goes on without inhibition
AXES = {
    "stage": ["before", "during", "after"],
    "by": ["y", "x", "y - y~"],
    "manipulation": ["silenced", "cut", "inverted"],
}
# Measures of a theory on one data set from one seed, with their axes.
MEASURES: dict[str, tuple[str, ...]] = {
    "excess": (),
    "law": (),
    "participation": (),
    "whitening": (),
    "silenced_excess": (),
    "soma_by_y": (),
    "carries": ("stage", "by"),
    "shown": ("manipulation", "by"),
    "change": ("manipulation",),
}


def compete(lab: Lab, every: list[theories.Theory], data: data_sets.Dataset) -> xr.Dataset:
    """Let each theory learn the data at its best rate, and return all measures by theory and
    seed.
    """
    settings = lab.settings
    best = best_rates(lab, every, data)
    contests = [
        Contest(one, best[one], settings.samples, seed)
        for one in every
        for seed in settings.every_seed
    ]
    found = [*lab.map(measure, contests, data).values()]
    shape = len(every), len(settings.every_seed)
    measured = {
        name: (
            ("theory", "seed", *axes),
            np.array([one[name] for one in found]).reshape(
                shape + tuple(len(AXES[axis]) for axis in axes)
            ),
        )
        for name, axes in MEASURES.items()
    }
    return xr.Dataset(
        measured | {"rate": ("theory", [*best.values()])},
        {"theory": [one.name for one in every], "seed": list(settings.every_seed), **AXES},
    )


def measure(job: Job, contest: Contest, data: data_sets.Dataset) -> dict[str, Any]:
    """Return all measures of a theory after learning; NaN where it diverged."""
    from biorrr.analysis.laws import full_regression

    theory, run = learn(job, contest, data)
    scores: dict[str, Any] = {
        name: np.full([3] * len(axes), np.nan) for name, axes in MEASURES.items()
    }
    scores |= {"excess": excess_of(theory, run, data), "law": predicted(contest, data)}
    if run is None:
        return scores
    exact, filters = (
        analysis.Yardstick(data.X, data.Y, theory.s, RIDGE),
        run.weights[theory.filters],
    )
    rows = np.random.default_rng(contest.seed).permutation(len(data.X))[:PROBED]
    regression = full_regression(data.X, data.Y, RIDGE)
    probe = Probe(
        replace(theory, ridge=0.0), data.X[rows], data.Y[rows], regression, job.settings.engine
    )
    stages = [{name: run.data[name].values[place] for name in run.weights} for place in (0, 1, -1)]
    shown, change = probe.lesioned(stages[-1])
    return scores | {
        "participation": analysis.participation_ratio(exact.gram(filters)),
        "whitening": float(exact.whitening_error(filters)),
        "silenced_excess": _relearn(
            theory, run, data, job.settings.engine, contest.samples, contest.seed
        ),
        "soma_by_y": probe.soma_by_y(stages[-1]),
        "carries": np.array([probe.explained(probe.show(weights)[1]) for weights in stages]),
        "shown": shown,
        "change": change,
    }


def _silencing(theory: theories.Theory) -> tuple[theories.Theory, list[Any]] | None:
    """Return the theory, and the events, by which inhibition of its dendrites falls silent; None if
    it has none.
    """
    if isinstance(theory, theories.BurstDependent) and theory.cancelling:
        return replace(theory, cancelling=False), []
    return (
        (theory, [models.Silence(0)])
        if isinstance(theory, theories.Sacramento | theories.BioRRR)
        else None
    )


def _relearn(
    theory: theories.Theory,
    run: circuits.Run,
    data: data_sets.Dataset,
    engine: str,
    samples: int,
    seed: int,
) -> float:
    """Return the excess after learning has gone on without inhibition, at the rate it had in the
    middle.
    """
    found = _silencing(theory)
    if found is None:
        return np.nan
    lesioned = replace(found[0], rate=models.Rate(theory.rate(samples // 2)))
    order = np.random.default_rng([seed, 1]).integers(len(data.X), size=SILENCED)
    after = run_theory(
        lesioned, data.X, data.Y, engine, seed, order=order, weights=run.weights, events=found[1]
    )
    return excess_of(theory, after, data)


@dataclass(frozen=True, eq=False)
class Probe:
    """Samples that are shown to a theory without noise and without learning.

    Parameters
    ----------
    theory
        Without noise of its fibres.
    X, Y : (n_samples, m), (n_samples, n)
    regression : (m, n)
        The full regression of y on x, whose prediction is y~.
    engine
        Engine of the simulation.
    """

    theory: theories.Theory
    X: np.ndarray
    Y: np.ndarray
    regression: np.ndarray
    engine: str

    def show(
        self,
        weights: dict[str, np.ndarray],
        cut: bool = False,
        silent: tuple[theories.Theory, list[Any]] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return outputs and apical signals, (n_samples, k) each."""
        theory, events = silent or (self.theory, [])
        run = run_theory(
            theory,
            self.X,
            0 * self.Y if cut else self.Y,
            self.engine,
            order="sequential",
            weights=weights,
            plastic=False,
            record=("z", theory.apical),
            every=1,
            events=events,
        )
        assert run is not None, "weights that do not change cannot run away"
        return run.data["z"].values, run.data[theory.apical].values

    def explained(self, signals: np.ndarray) -> list[float]:
        """Return R² of ``signals`` (n_samples, k) on y, on x and on y - y~."""
        from biorrr.analysis.laws import explained

        return [
            explained(signals, by) for by in (self.Y, self.X, self.Y - self.X @ self.regression)
        ]

    def soma_by_y(self, weights: dict[str, np.ndarray]) -> float:
        """Return the share of somatic variance that y explains beyond x."""
        from biorrr.analysis.laws import explained

        z, _ = self.show(weights)
        return explained(z, np.hstack([self.X, self.Y])) - explained(z, self.X)

    def lesioned(self, weights: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return R² of apical signals after each manipulation, (manipulations, 3), and their
        relative change.

        Inhibition is silenced, instruction is cut, or the readout is inverted on which the outcome
        of the task depends; theories without such a readout never hear of it. NaN where a theory
        has nothing to silence.
        """
        intact, silent = self.show(weights)[1], _silencing(self.theory)
        inverted = ["U", "B"] if self.theory.name == "backprop" else ["U"]
        seen = {
            "silenced": None if silent is None else self.show(weights, silent=silent)[1],
            "cut": self.show(weights, cut=True)[1],
            "inverted": self.show(
                weights | {name: -weights[name] for name in inverted if "U" in weights}
            )[1],
        }
        shown, change = np.full((3, 3), np.nan), np.full(3, np.nan)
        for place, lesion in enumerate(AXES["manipulation"]):
            if (apical := seen[lesion]) is not None:
                shown[place] = self.explained(apical)
                change[place] = np.sqrt(np.square(apical - intact).sum() / np.square(intact).sum())
        return shown, change
