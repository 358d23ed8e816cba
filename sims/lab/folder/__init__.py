"""The run folder: its files, its inventory, its checkpoints, and how a run is written to it whole
or not at all.
"""

from biorrr.sims.lab.files import FolderError
from biorrr.sims.lab.folder.contents import CONFIG, INTERRUPTED, SUMMARY, UNFINISHED
from biorrr.sims.lab.folder.run_folder import (
    InterruptedRunError,
    ResumedFolder,
    RunFolder,
    is_in_use,
    plain_value,
)

__all__ = [
    "CONFIG",
    "INTERRUPTED",
    "SUMMARY",
    "UNFINISHED",
    "FolderError",
    "InterruptedRunError",
    "ResumedFolder",
    "RunFolder",
    "is_in_use",
    "plain_value",
]
