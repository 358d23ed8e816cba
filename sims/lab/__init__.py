"""The frame of every experiment: a lab, settings, run folder, checkpoints, processes, quantities and claims."""

from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.declaration import Experiment, experiment
from biorrr.sims.lab.findings import Figure, Findings
from biorrr.sims.lab.lab import Job, Lab
from biorrr.sims.lab.quantities import Quantity
from biorrr.sims.lab.settings import ExperimentSettings, SettingsError, option, seeds_option

__all__ = [
    "Claim", "Experiment", "ExperimentSettings", "Figure", "Findings", "Job", "Lab", "Quantity", "SettingsError",
    "experiment", "option", "seeds_option",
]  # fmt: skip
