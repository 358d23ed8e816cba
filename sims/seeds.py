"""``biorrr learn --seeds N``: the same circuit from several starts, in one folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.folder import RESULTS, RunFolder
from biorrr.sims.learn import RECORDED, RECORDED_SAMPLES, LearnSettings, curves, draw, summary
from biorrr.sims.measured import Measured
from biorrr.sims.settings import config_text
from biorrr.sims.table import print_table
from biorrr.sims.training import train

# NumPy takes long to import: it is imported where it is used, so that --help need not wait.
if TYPE_CHECKING:
    from biorrr.analysis import Yardstick
    from biorrr.sims.data import Dataset

SCORES = ("objective", "excess", "angle_max_deg", "whitening_error", "r_minus_qt")


def learn_seeds(settings: LearnSettings, folder: RunFolder, data: Dataset, yardstick: Yardstick) -> Measured:
    """Run every seed and write all runs, their mean numbers and their learning curves to ``folder``."""
    import numpy as np

    from biorrr.analysis import plots

    origin = experiment.provenance("learn", data_sha256=data.checksum)
    every = max(1, settings.epochs * len(data.X) // RECORDED_SAMPLES)
    with folder.opened(config_text(settings, origin)):
        runs = train(settings, data, Checkpoints.of(folder, settings.checkpoint), record=RECORDED, every=every)

    first = runs[settings.seed]
    folder.write_config(config_text(replace(settings, engine=first.data.attrs["engine"]), origin))
    for seed, run in runs.items():
        with folder.writing(RESULTS if seed == settings.seed else f"run-{seed}.nc") as path:
            run.save(path)
    draw(first, yardstick, data, folder, settings.format)
    excess = np.stack([yardstick.excess(run.data["Vx"].values) for run in runs.values()])
    folder.write_figure("excess", settings.format, plots.plot_learning(first.data["seen"], excess, label="circuit"))
    each = [summary(run, yardstick) for run in runs.values()]
    numbers: dict[str, Any] = {
        "data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge, "seeds": settings.seeds,
    }  # fmt: skip
    numbers |= each[0] | {"seconds": sum(one["seconds"] for one in each)}
    for score in SCORES:
        values = np.array([one[score] for one in each])
        numbers |= {score: values.mean(), f"{score}_std": values.std(), f"{score}_max": values.max()}
    folder.write_summary(numbers)

    def spread(score: str) -> str:
        return f"{numbers[score]:.4g} ± {numbers[f'{score}_std']:.2g}, at most {numbers[f'{score}_max']:.4g}"

    print_table(
        f"{data.name}: {len(data.X)} samples, {data.X.shape[1]} inputs, {data.Y.shape[1]} targets, "
        f"{settings.seeds} seeds; data are centred",
        {
            "objective": spread("objective"),
            "optimum": numbers["optimum"],
            "excess": spread("excess"),
            "largest angle": f"{spread('angle_max_deg')} degrees to the exact filters",
            "whitening error": spread("whitening_error"),
            "||R - Q'||": spread("r_minus_qt"),
            "samples": f"{numbers['samples']} each on engine {numbers['engine']} in {numbers['seconds']:.1f} s",
            "written to": folder.path,
        },
    )
    return Measured(numbers, curves(first, yardstick))
