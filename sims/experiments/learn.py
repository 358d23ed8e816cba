"""Let the circuit learn data and compare it with the exact solution.

Data are centred. A second circuit learns four fifths of the samples and predicts the others, as the
exact solution does. Fills a run folder with the settings (config.toml), weights and traces
(run.nc), excess and ||R - Q'|| during learning (learning.nc), final numbers (summary.json) and
figures. With several seeds, run.nc is the first one's, run-<seed>.nc are the others', and the
numbers are means with their spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Dataset
from biorrr.sims.lab import (
    MILLIVOLT_EPOCHS,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    Task,
    TrainingSettings,
    cell_arguments,
    cell_option,
    default_ridge,
    experiment,
    learned,
    option,
    scored,
)
from biorrr.sims.lazy import analysis, circuits, np, xr


class LearnSettings(TrainingSettings):
    """Settings of ``biorrr learn``."""

    epochs: int | None = option(  # type: ignore[assignment]
        None,
        f"number of passes over the data; 60 by default, {MILLIVOLT_EPOCHS} with cells in"
        " millivolts",
        at_least=1,
    )
    cell: str = cell_option()
    ridge: float | None = option(
        None,
        "added to Cxx and Cyy on the diagonal; 0.1 * trace(Cxx)/m by default; cv takes the one that"
        " predicts held-out samples best",
        at_least=0,
        choices=("cv",),
    )


@experiment(
    shows="the circuit comes within a fraction of a percent of the exact optimum",
    takes="7 s",
    measure="excess",
    captions={
        "learning_curve": (
            "Objective of the circuit against the number of samples that it has seen, logarithmic"
            " from the first on, with the start at 0. The lower the"
            " objective, the more of the instructive input the outputs predict. The dashed line is"
            " the optimum, the lowest value that so many neurons can reach: a circuit that has"
            " learned lies on it. In the end it is {excess} above."
        ),
        "plateau": (
            "Four signals of each neuron in stretches of consecutive samples at the start of"
            " learning, halfway (where the circuit's prediction has come half the way to its final"
            " form) and at the end. The plateau (black) is what inhibition (green) leaves of the"
            " distal current (orange). At the start inhibition has nothing to do with the current;"
            " at the end it predicts it from the neuron's own output (blue), and what is left is"
            " the error of the prediction. Grey lines are the theory: behind the plateau the"
            " back-propagated error, behind the inhibition the best prediction of the current."
            " Learning has succeeded where black lies on grey: above each panel stands the r.m.s."
            " difference between plateau and theory in it, relative to the r.m.s. of theory. All"
            " stretches of a neuron share the two scales on the right, in the units of the signals;"
            " triangles mark values that are too large for them."
        ),
        "filters": (
            "Proximal weights of each neuron, above as learned, below as the exact solution has"
            " them. Any rotation of the filters predicts equally well, so the learned ones were"
            " turned to lie as near as possible to the exact ones. The two rows should look the"
            " same: r is the correlation of the filter with the exact one. The largest angle"
            " between their spans is {angle_max_deg}."
        ),
        "eigenvalues": (
            "Eigenvalues of QQ', by which interneurons inhibit (diamonds), beside those of the"
            " matrix M of the exact solution (bars), which say how much of the instructive input"
            " each filter can predict; minus the sum of the first k is the optimum. Each diamond"
            " should come to lie at the top of its bar. Q goes on to converge after the filters"
            " have found the right subspace, and as long as diamonds are off the outputs are not"
            " yet of unit variance, but the objective does not suffer."
        ),
        "excess": (
            "How far the objective lies above the optimum, in percent of the optimum, against the"
            " number of samples seen: the mean over all seeds, in a band of one standard deviation."
            " In the end it is {excess}."
        ),
    },
    small={"data": SMALL_DATA, "epochs": 2, "engine": "numpy"},
)
def learn(lab: Lab, settings: LearnSettings) -> Findings:
    """Let a circuit learn from each seed, and compare it with the exact solution."""
    data = lab.load(settings.data, settings.k)
    usual = MILLIVOLT_EPOCHS if settings.cell == "millivolts" else TrainingSettings.epochs
    settings = lab.fill_in(epochs=usual, ridge=default_ridge(data))
    ridge = ridge_for(settings, data.X, data.Y, data.trials)
    exact = analysis.ExactSolution(*data.stand_in, settings.s, ridge)

    shared = ridge, data.X, data.Y, ("plateau", "a", "inhibition", "z"), 100
    runs = lab.map(learn_from, {}, *shared, seeds=settings.every_seed, keep_unfinished=True)

    first = runs.values[0]
    predicted: Mapping[str, Any] = {}
    # A second circuit can learn most trials: not with slow cells, nor data larger than memory.
    second = settings.cell != "millivolts" and data.fits_in_memory
    enough = second and len(np.unique(data.trials)) >= 5
    if not lab.failure and "readout" in first.data and enough:
        predicted = lab.map(predict_held_out, {"seed": [settings.seed]}, data)
    held_out = {
        "held_out_r2": "circuit",
        "held_out_r2_exact": "exact solution",
        "held_out_ridge": "ridge",
    }
    excess = [exact.excess(run.data["Vx"].values) for run in runs.values]
    courses = xr.Dataset(
        {
            "excess": (("seed", "snapshot"), excess),
            "r_minus_qt": (("seed", "snapshot"), [run.r_minus_qt for run in runs.values]),
            "seen": ("snapshot", first.data["seen"].values),
        },
        coords={"seed": runs["seed"]},
    )
    scores = scored(runs.values, exact)
    summary: dict[str, str] = {}
    if len(runs) == 1 and data.fits_in_memory:
        summary = first.summary(data.X, data.Y, exact=exact).table()[1]
        printed = ("excess", "angle_max_deg")  # by the summary already
        scores = [replace(one, words="") if one.name in printed else one for one in scores]
    figures = draw(first, data, exact)
    if len(runs) > 1:
        draw_all = partial(analysis.plot_learning, courses["seen"], excess, label="circuit")
        figures.append(Figure("excess", draw_all))
    return Findings(
        title=(
            f"{data.name}: {len(data.X)} samples, {data.X.shape[1]} inputs, {data.Y.shape[1]}"
            " targets"
        )
        + (f", {settings.seeds} seeds" if len(runs) > 1 else "")
        + "; data are centred",
        quantities=[
            *learned(data, replace(settings, ridge=ridge), settings.seeds),
            *scores,
            *(
                Quantity(name, value, "", held_out[name], row="held-out R2")
                for name, value in predicted.items()
            ),
        ],
        data={
            "run" if seed == settings.seed else f"run-{seed}": runs.sel(seed=seed).item()
            for seed in settings.every_seed
        }
        | {"learning": courses},
        figures=figures,
        rows=summary,
    )


def ridge_for(settings: LearnSettings, X: np.ndarray, Y: np.ndarray, trials: np.ndarray) -> float:
    """Return the ridge of the settings, or with "cv" the one with which the exact solution predicts
    held-out samples of these data best; refuse data of one trial.
    """
    if settings.ridge != "cv":
        assert settings.ridge is not None
        return settings.ridge
    folds = min(5, len(np.unique(trials)))
    if folds < 2:
        raise SettingsError("ridge: cv needs two trials or more (the data have one); give a number")
    return analysis.choose_ridge(X, Y, settings.k, settings.s, folds=folds, groups=trials).best


def learn_from(
    task: Task,
    ridge: float,
    X: np.ndarray,
    Y: np.ndarray,
    record: Sequence[str],
    snapshots: int,
    seeds: Sequence[int],
) -> list[circuits.Run]:
    """Let a circuit learn ``X`` (n_samples, m) and ``Y`` (n_samples, n) from each of ``seeds``."""
    settings, cell = task.settings, cell_arguments(task.settings.cell)
    circuit = settings.make_circuit(k=settings.k, s=settings.s, ridge=ridge, seed=seeds[0], **cell)
    saved: Any = {"record": record, "snapshots": snapshots}
    return task.run(circuit, X, Y, seeds, epochs=settings.epochs, centre=True, **saved)


def predict_held_out(task: Task, data: Dataset, seed: int) -> dict[str, float]:
    """Return R2 on a random fifth of the trials of a circuit and of the exact solution that learned
    the others.

    R2 is pooled over targets, about their means in the samples that were learned. The circuit's
    prediction is that of its filters and readout, X Vx readout', whatever its cells are. A ridge
    that is chosen by cross-validation is chosen among the trials that were learned.
    """
    trials, trial_of = np.unique(data.trials, return_inverse=True)
    held_out = np.random.default_rng(seed).permutation(len(trials))[trial_of] < len(trials) // 5
    (X, Y), (X_new, Y_new) = ((data.X[rows], data.Y[rows]) for rows in (~held_out, held_out))
    settings = task.settings
    ridge = ridge_for(settings, X, Y, data.trials[~held_out])
    x_mean, y_mean = X.mean(axis=0), Y.mean(axis=0)
    exact = analysis.ExactSolution(X - x_mean, Y - y_mean, settings.s, ridge)
    filters: dict[str, Any] = {
        "held_out_r2_exact": (exact.Vx(settings.k), exact.readout(settings.k))
    }
    try:
        (run,) = learn_from(task, ridge, X, Y, (), 2, [seed])
        filters["held_out_r2"] = run.Vx, run.data["readout"].values
    except circuits.Diverged:
        filters["held_out_r2"] = tuple(np.nan * values for values in filters["held_out_r2_exact"])
    predicted = {name: (X_new - x_mean) @ Vx @ B.T + y_mean for name, (Vx, B) in filters.items()}
    scores = {
        name: analysis.r2(Y_new, predicted[name], y_mean)
        for name in ("held_out_r2", "held_out_r2_exact")
    }
    return scores | ({"held_out_ridge": ridge} if settings.ridge == "cv" else {})


def draw(run: circuits.Run, data: Dataset, exact: analysis.ExactSolution) -> list[Figure]:
    """Return learning curve, plateaus through learning, filters and eigenvalues, as the run draws
    them in a script.
    """
    figures = [Figure("learning_curve", partial(run.plot_learning, exact=exact))]
    if (
        "plateau" in run.data and run.data.sizes["sample"] > 0
    ):  # it may have ended before the first sample
        figures.append(Figure("plateau", partial(run.plot_plateau, data.X, data.Y, exact=exact)))
    if run.ended != "diverged":
        figures.append(
            Figure("filters", partial(run.plot_filters, pixels=data.pixels, exact=exact))
        )
        figures.append(Figure("eigenvalues", partial(run.plot_eigenvalues, exact=exact)))
    return figures
