"""``biorrr learn``: the circuit learns data and is compared with the exact solution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from biorrr.sims import experiment
from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.folder import RESULTS, RunFolder
from biorrr.sims.measured import Measured
from biorrr.sims.settings import Settings, SettingsError, config_text
from biorrr.sims.table import print_table
from biorrr.sims.training import TrainingSettings

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    from biorrr.analysis import Yardstick
    from biorrr.circuit import Run
    from biorrr.sims.data import Dataset

MEASURE = "excess"  # what a sweep draws
RECORDED = ("plateau", "a", "inhibition", "z")
RECORDED_SAMPLES = 2000  # of which traces are kept, evenly spread over the run
SHOWN_NEURONS = 6  # that fit a page

Fitted = TypeVar("Fitted", bound=Settings)  # settings with data, k, s and ridge


@dataclass(frozen=True, kw_only=True)
class LearnSettings(TrainingSettings):
    """What can be set of ``biorrr learn``."""


def learn(settings: LearnSettings, folder: RunFolder, data: Dataset | None = None) -> Measured:
    """Let the circuit learn data and compare it with the exact solution.

    Data are centred. Fills a run folder with the settings (config.toml), weights and traces (run.nc), final numbers
    (summary.json) and figures. With several seeds, run.nc is the first one's, run-<seed>.nc are the others', and
    the numbers are means with their spread.
    """
    from biorrr.circuit import Diverged
    from biorrr.sims.data import load

    data = data or load(settings.data)
    settings, yardstick = fit(settings, data)
    if settings.seeds > 1:
        from biorrr.sims.seeds import learn_seeds

        return learn_seeds(settings, folder, data, yardstick)
    origin = experiment.provenance("learn", data_sha256=data.checksum)
    failure = None
    with folder.opened(config_text(settings, origin)):
        try:
            kept = Checkpoints.of(folder, settings.checkpoint).run_options(f"seed-{settings.seed}")
            run = simulate(settings, data, **kept)
        except Diverged as error:
            run, failure = error.run, error

    # What "auto" turned out to be: the same engine repeats the run bit for bit.
    folder.write_config(config_text(replace(settings, engine=run.data.attrs["engine"]), origin))
    with folder.writing(RESULTS) as path:
        run.save(path)
    draw(run, yardstick, data, folder, settings.format)
    numbers = {"data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge} | summary(run, yardstick)
    folder.write_summary(numbers)
    print_table(
        f"{data.name}: {len(data.X)} samples, {data.X.shape[1]} inputs, {data.Y.shape[1]} targets; data are centred",
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
        raise experiment.StoppedError(
            f"interrupted; {run.samples} samples are in {folder.path}; `biorrr resume {folder.path}` goes on",
            exit_code=130,
        )
    return Measured(numbers, curves(run, yardstick))


def measure(settings: LearnSettings, data: Dataset) -> Measured:
    """What a run finds that leaves no folder behind: a point of a sweep."""
    settings, yardstick = fit(settings, data)
    run = simulate(settings, data, progress=False)
    if run.ended == "interrupted":
        raise KeyboardInterrupt
    return Measured({"ridge": settings.ridge} | summary(run, yardstick), curves(run, yardstick))


def fit(settings: Fitted, data: Dataset) -> tuple[Fitted, Yardstick]:
    """Check the settings against the data and work out the ridge from them; with the exact solution to compare with."""
    import numpy as np

    from biorrr.analysis import Yardstick
    from biorrr.sims.data import DataError

    m, n = data.X.shape[1], data.Y.shape[1]
    if settings.k > min(m, n):
        raise SettingsError(f"k: must not exceed min(m, n) = {min(m, n)} of {data.name} (got {settings.k}); reduce k")
    for view in ("X", "Y"):
        if not np.ptp(getattr(data, view), axis=0).any():
            raise DataError(f"{data.name}: {view} must change from sample to sample (got the same row throughout)")
    X, Y = data.stand_in
    if settings.ridge is None:
        settings = replace(settings, ridge=0.1 * float(np.square(X).mean()))
    return settings, Yardstick(X, Y, settings.s, settings.ridge)


def simulate(settings: LearnSettings, data: Dataset, **options: Any) -> Run:
    """Let the circuit learn; ``options`` are further ones of :meth:`biorrr.circuit.Microcircuit.run`."""
    from biorrr.circuit import Microcircuit

    circuit = Microcircuit(settings.k, settings.s, ridge=settings.ridge, engine=settings.engine, seed=settings.seed)
    return circuit.run(
        data.X,
        data.Y,
        epochs=settings.epochs,
        record=RECORDED,
        every=max(1, settings.epochs * len(data.X) // RECORDED_SAMPLES),
        centre=True,
        **options,
    )


def draw(run: Run, yardstick: Yardstick, data: Dataset, folder: RunFolder, format: str) -> None:
    """Draw the learning curve, plateaus early and late, and filters and eigenvalues of QQ' beside the exact ones.

    Filters are defined up to a rotation: the learned ones are turned to lie as near as they can to the exact ones.
    """
    import numpy as np

    from biorrr.analysis import align, plots

    scores = yardstick.objective(run.data["Vx"].values)
    optimum = yardstick.optimum(run.Vx.shape[1])
    folder.write_figure(
        "learning_curve", format, plots.plot_learning(run.data["seen"], scores, optimum, label="circuit")
    )
    if "plateau" in run.data:  # unless the run ended before the first sample
        shown = run.data.isel(pyramidal=slice(SHOWN_NEURONS))
        traces = (shown[name].values for name in ("plateau", "a", "inhibition", "z"))
        folder.write_figure("plateau", format, plots.plot_plateau(shown["sample"].values, *traces))
    if run.ended == "diverged":
        return
    k = run.Vx.shape[1]
    exact = yardstick.Vx(k)
    learned = align(run.Vx, exact, data.stand_in[0], yardstick.ridge)
    few = np.s_[:, :SHOWN_NEURONS]
    folder.write_figure("filters", format, plots.plot_filters(learned[few], exact[few], data.pixels))
    shown = plots.plot_eigenvalues(yardstick.eigenvalues[: k + 4], np.linalg.eigvalsh(run.Q @ run.Q.T)[::-1])
    folder.write_figure("eigenvalues", format, shown)


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


def curves(run: Run, yardstick: Yardstick) -> dict[str, tuple[Any, Any]]:
    """Excess and ||R - Q'|| at the samples seen."""
    seen = run.data["seen"].values
    return {"excess": (seen, yardstick.excess(run.data["Vx"].values)), "r_minus_qt": (seen, run.r_minus_qt)}


command = experiment.command(LearnSettings, learn)
