"""Data in files of the user's: X and Y, or two areas of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.data.values import FileData
from biorrr.sims.lab.settings import option

if TYPE_CHECKING:
    from biorrr.sims.data.dataset import Dataset


Y_HELP = "file with Y, where --data holds X alone (.csv, .npy); or variable with Y in a .mat file"


@dataclass(frozen=True, kw_only=True)
class Pair(FileData):
    """Two areas of a recording, bin by bin and trial by trial: X of the source, Y of the target."""

    source: str | None = option(None, "source area of a recording, which predicts the target")
    target: str | None = option(None, "target area of a recording or of v1v2, which is predicted")
    align: str = option("start", "event at which time in the window is zero")
    window: tuple[float, float] | None = option(
        None,
        "begin and end of the window in seconds; by default from the event to the end of the"
        " shortest trial",
        metavar="BEGIN END",
    )
    bin: float = option(0.1, "width of a time bin in seconds", at_least=1e-4)
    lag: float = option(0.0, "seconds by which the target's window follows the source's")
    condition: str | None = option(
        None, "column of the trials that holds the condition; several joined by +"
    )
    minimum_rate: float = option(0.5, "leave out units with fewer spikes per second", at_least=0)
    quality: str = option(
        "good", "units to use, by the label of spike sorting", choices=("good", "all")
    )
    scale: str = option("none", "transform of spike counts", choices=("none", "sqrt"))
    area: str | None = option(None, "column that holds the area of a unit, if it is not found")
    trials: str | None = option(None, "table of trials or presentations, if there are several")
    series: str | None = option(None, "time series to use in place of spikes")

    @classmethod
    def is_meant(cls, fields: Mapping[str, Any]) -> bool:
        """Return True for an NWB file, and for one with arrays of which an area is named."""
        ending = Path(fields["file"]).suffix.lower()
        named = {"source", "target"} & fields.keys()
        return ending == ".nwb" or (bool(named) and ending != ".mat")

    def _read(self) -> Dataset:
        from biorrr.sims.recordings.opening import open_recording

        chosen = {"area": self.area, "trials": self.trials, "series": self.series}
        with closing(open_recording(self.file, **chosen)) as recording:
            return recording.take(self)

    def __str__(self) -> str:
        return (
            f"{self.file}, {self.source} to {self.target}"
            if self.source and self.target
            else self.file
        )


@dataclass(frozen=True, kw_only=True)
class Matlab(FileData):
    """X and Y in one file of MATLAB (.mat), of any version."""

    x: str = option("X", "variable with X in a .mat file", metavar="NAME")
    y: str = option("Y", Y_HELP, metavar="FILE|NAME")

    @classmethod
    def is_meant(cls, fields: Mapping[str, Any]) -> bool:
        """Return True for a file whose name ends in .mat."""
        return Path(fields["file"]).suffix.lower() == ".mat"

    def _read(self) -> Dataset:
        from biorrr.sims.data.dataset import Dataset
        from biorrr.sims.data.matlab import read_mat

        held = read_mat(Path(self.file), (self.x, self.y))
        return Dataset(str(self), held[self.x], held[self.y])


@dataclass(frozen=True, kw_only=True)
class Arrays(FileData):
    """X and Y in one .npz file, or each in a .npy or .csv file of its own."""

    y: str | None = option(None, Y_HELP, metavar="FILE|NAME", kw_only=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """One file with both, or two."""
        return tuple(Path(one) for one in (self.file, self.y) if one is not None)

    @classmethod
    def is_meant(cls, fields: Mapping[str, Any]) -> bool:
        """Return True: what is no recording holds X and Y."""
        return True

    def _read(self) -> Dataset:
        from biorrr.sims.data.array_files import read_samples

        return read_samples(self)

    def __str__(self) -> str:
        return self.file if self.y is None else f"{self.file} and {self.y}"
