"""The frame of every experiment: a lab, settings, run folder, workers, quantities and claims.

All that an experiment needs of it is imported from here.
"""

from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.findings import PERCENT, Figure, Findings, Quantity
from biorrr.sims.lab.items import Task, compiled_if_possible, completed
from biorrr.sims.lab.lab import Experiment, Lab, experiment
from biorrr.sims.lab.settings import (
    BasicSettings,
    ExperimentSettings,
    SettingsError,
    data_option,
    option,
    seeds_option,
)

__all__ = [
    "PERCENT",
    "BasicSettings",
    "Claim",
    "Experiment",
    "ExperimentSettings",
    "Figure",
    "Findings",
    "Lab",
    "Quantity",
    "SettingsError",
    "Task",
    "compiled_if_possible",
    "completed",
    "data_option",
    "experiment",
    "option",
    "seeds_option",
]
