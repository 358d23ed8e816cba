"""``biorrr learn``: the circuit learns data and is compared with the exact solution."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.folder import RESULTS, RunFolder
from biorrr.sims.settings import Settings, SettingsError, config_text, option
from biorrr.sims.table import print_table

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    from biorrr.analysis import Yardstick
    from biorrr.circuit import Run
    from matplotlib.figure import Figure

RECORDED = ("plateau", "a", "inhibition", "z")
RECORDED_SAMPLES = 2000  # of which traces are kept, evenly spread over the run
SHOWN_SAMPLES = 100  # recorded ones, at either end of the run, in the figure of plateaus
SHOWN_NEURONS = 6  # that fit a page


@dataclass(frozen=True, kw_only=True)
class LearnSettings(Settings):
    """What can be set of ``biorrr learn``."""

    data: str = option("digits", "a name that `biorrr data` lists, an .npz or .mat file with X and Y, or x.csv,y.csv")
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    epochs: int = option(60, "passes over the data", at_least=1)
    ridge: float | None = option(None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0)
    engine: str = option("auto", "what simulates the circuit", choices=("auto", "numpy", "cython", "cpp"))
    seed: int = option(0, "of the initial weights and the order of samples", at_least=0)
    format: str = option("png", "of the figures", choices=("png", "pdf", "svg"))


def learn(settings: LearnSettings, folder: RunFolder) -> None:
    """Let the circuit learn data and compare it with the exact solution.

    Data are centred. Fills a run folder with the settings (config.toml), weights and traces (run.nc), final numbers
    (summary.json) and two figures.
    """
    from biorrr.analysis import Yardstick
    from biorrr.circuit import Diverged, Microcircuit
    from biorrr.sims.data import load

    data = load(settings.data)
    m, n = data.X.shape[1], data.Y.shape[1]
    if settings.k > min(m, n):
        raise SettingsError(f"k: must not exceed min(m, n) = {min(m, n)} of {data.name} (got {settings.k}); reduce k")
    centred = data.centred()
    if settings.ridge is None:
        settings = replace(settings, ridge=0.1 * float(centred.X.var(axis=0).mean()))
    circuit = Microcircuit(settings.k, settings.s, ridge=settings.ridge, engine=settings.engine, seed=settings.seed)
    yardstick = Yardstick(centred.X, centred.Y, settings.s, settings.ridge)
    origin = experiment.provenance("learn", data_sha256=data.checksum)
    failure = None
    with folder.opened(config_text(settings, origin)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted after")  # said below, with where the samples are
        try:
            run = circuit.run(
                data.X,
                data.Y,
                epochs=settings.epochs,
                record=RECORDED,
                every=max(1, settings.epochs * len(data.X) // RECORDED_SAMPLES),
                centre=True,
            )
        except Diverged as error:
            run, failure = error.run, error

    # What "auto" turned out to be: the same engine repeats the run bit for bit.
    folder.write_config(config_text(replace(settings, engine=run.data.attrs["engine"]), origin))
    with folder.writing(RESULTS) as path:
        run.save(path)
    numbers = summary(run, yardstick)
    folder.write_summary({"data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge} | numbers)
    figures = {"learning_curve": draw_learning_curve(run, yardstick)}
    if "plateau" in run.data:  # unless it ended before the first sample
        figures["plateau"] = draw_plateaus(run)
    for name, figure in figures.items():
        with folder.writing(f"{name}.{settings.format}") as path:
            figure.savefig(path, dpi=200)
    print_table(
        f"{data.name}: {len(data.X)} samples, {m} inputs, {n} targets; data are centred",
        {
            "objective": numbers["objective"],
            "optimum": numbers["optimum"],
            "excess": f"{numbers['excess']:.2%}",
            "largest angle": f"{numbers['angle_max_deg']:.3g} degrees to the exact filters",
            "whitening error": numbers["whitening_error"],
            "||R - Q'||": numbers["r_minus_qt"],
            "samples": f"{numbers['samples']} on engine {numbers['engine']} in {numbers['seconds']:.1f} s",
            "written to": folder.path,
        },
    )
    if failure:
        raise experiment.StoppedError(f"{failure} ({run.samples} samples are in {folder.path})", exit_code=1)
    if run.ended == "interrupted":
        raise experiment.StoppedError(f"interrupted; {run.samples} samples are in {folder.path}", exit_code=130)


def summary(run: Run, yardstick: Yardstick) -> dict[str, Any]:
    """Final numbers of a run: how near it came to the exact solution, and what it took."""
    from biorrr.analysis import principal_angles

    k = run.Vx.shape[1]
    return {
        "objective": yardstick.objective(run.Vx),
        "optimum": yardstick.optimum(k),
        "excess": yardstick.excess(run.Vx),
        "angle_max_deg": principal_angles(run.Vx, yardstick.Vx(k))[0],
        "whitening_error": yardstick.whitening_error(run.Vx),
        "r_minus_qt": run.r_minus_qt[-1],
        "samples": run.samples,
        "ended": run.ended,
        "engine": run.data.attrs["engine"],
        "seconds": run.data.attrs["seconds"],
    }


def draw_learning_curve(run: Run, yardstick: Yardstick) -> Figure:
    """Objective at each snapshot, on the way to the optimum."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3), layout="constrained")
    ax = figure.add_subplot()
    ax.plot(run.data["seen"].clip(min=1), yardstick.objective(run.data["Vx"].values), label="circuit")
    ax.axhline(yardstick.optimum(run.Vx.shape[1]), color="black", linestyle="--", label="optimum")
    ax.set(xscale="log", xlabel="samples", ylabel="objective")
    ax.legend(frameon=False)
    return figure


def draw_plateaus(run: Run) -> Figure:
    """Plateau potentials of the first pyramidal neurons at the first and the last samples recorded."""
    from matplotlib.figure import Figure

    plateau = run.data["plateau"]
    neurons = range(min(SHOWN_NEURONS, plateau.sizes["pyramidal"]))
    figure = Figure(figsize=(7, 1 + 1.2 * len(neurons)), layout="constrained")
    axes = figure.subplots(len(neurons), 2, sharey=True, squeeze=False)
    for column, (when, shown) in enumerate(
        {"early": slice(None, SHOWN_SAMPLES), "late": slice(-SHOWN_SAMPLES, None)}.items()
    ):
        axes[0, column].set_title(f"{when} in learning")
        axes[-1, column].set_xlabel("sample")
        for neuron in neurons:
            trace = plateau.isel(sample=shown, pyramidal=neuron)
            axes[neuron, column].plot(trace["sample"], trace, linewidth=0.8)
            axes[neuron, column].axhline(0, color="0.7", linewidth=0.5, zorder=0)
    for neuron in neurons:
        axes[neuron, 0].set_ylabel(f"plateau of\nneuron {neuron + 1}")
    return figure


command = experiment.command(LearnSettings, learn)
