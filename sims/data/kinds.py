"""The kinds of data: named sets, arrays, two areas of a recording, somas with dendrites, distal plasticity."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from biorrr.sims.data.values import FileData, Samples, kind_in
from biorrr.sims.lab.settings import option

if TYPE_CHECKING:
    from biorrr.sims.data.dataset import Dataset
    from biorrr.sims.data.files import Source
    from biorrr.sims.data.stores import Store
    from biorrr.sims.recordings.measured import Measured


# -- named data sets ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NamedData(Samples):
    """A data set of our own list; ``kind`` is its name."""

    module: ClassVar[str]  # of biorrr.sims.data, which reads it

    @classmethod
    def origin(cls) -> Source:
        """Return where the data set comes from."""
        from biorrr.sims.data.sources import SOURCES

        return SOURCES[cls.kind]

    def _read(self) -> Dataset:
        return importlib.import_module(f"biorrr.sims.data.{self.module}").READERS[self.kind](self)

    def plain(self) -> str | dict[str, Any]:
        """Return the name alone where all options have their defaults, and else a table with the name."""
        if self == type(self)():
            return self.kind
        table = super().plain()
        assert isinstance(table, dict)
        return {"name": table.pop("kind")} | table

    def __str__(self) -> str:
        usual = type(self)()
        names = [one.name for one in fields(self) if getattr(self, one.name) != getattr(usual, one.name)]
        told = ", ".join(f"{name} {getattr(self, name)}" for name in names)
        return f"{self.kind} ({told})" if told else self.kind


@dataclass(frozen=True, kw_only=True)
class Digits(NamedData):
    """Handwritten digits that ship with scikit-learn."""

    kind, module = "digits", "published"


@dataclass(frozen=True, kw_only=True)
class Synthetic(NamedData):
    """Two Gaussian views of the same latent variables; see :mod:`biorrr.sims.data.generated`."""

    kind, module, made_on_the_spot = "synthetic", "generated", True
    samples: int = option(2000, "number of samples", at_least=1)
    m: int = option(30, "inputs in X", at_least=1)
    n: int = option(20, "targets in Y", at_least=1)
    latents: int = option(3, "shared latent variables", at_least=1)
    signal: float = option(2.0, "standard deviation that the strongest latent causes in each view", at_least=0)
    noise: float = option(1.0, "standard deviation of the noise on every input and target", at_least=0)
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass(frozen=True, kw_only=True)
class V1V2(NamedData):
    """Spike counts of neurons in V1 and V2 (Semedo et al. 2019)."""

    kind, module = "v1v2", "published"
    target: str = option("V2", "area that is predicted", choices=("V1", "V2"))


@dataclass(frozen=True, kw_only=True)
class Planted(NamedData):
    """Poisson spikes of two areas with a planted communication subspace; see :mod:`biorrr.sims.data.generated`."""

    kind, module, made_on_the_spot = "planted", "generated", True
    trials: int = option(400, "number of trials", at_least=2)
    bins: int = option(10, "bins of 100 ms in a trial", at_least=2)
    source_units: int = option(80, "units in the source area", at_least=2)
    target_units: int = option(30, "units in the target area", at_least=2)
    rank: int = option(3, "dimensions that the areas share", at_least=0)
    gain: float = option(0.6, "standard deviation of the log rates that latent variables cause", at_least=0)
    seed: int = option(0, "seed of the generator", at_least=0)


@dataclass(frozen=True, kw_only=True)
class MediaMill(NamedData):
    """Features of video frames and the concepts seen in them."""

    kind, module = "mediamill", "published"
    swap: bool = option(False, "predict features from concepts, of mediamill")


@dataclass(frozen=True, kw_only=True)
class Pictures(NamedData):
    """Base of the sets of pictures with labels."""

    split: str = option(
        "auto", "pictures to take, of mnist and its like: train where they are there", choices=("auto", "train", "test")
    )


@dataclass(frozen=True, kw_only=True)
class MNIST(Pictures):
    """Handwritten digits of 28 x 28 pixels."""

    kind, module = "mnist", "pictures"


@dataclass(frozen=True, kw_only=True)
class FashionMNIST(Pictures):
    """Pictures of clothes, 28 x 28 pixels."""

    kind, module = "fashion-mnist", "pictures"


@dataclass(frozen=True, kw_only=True)
class CIFAR10(Pictures):
    """Colour pictures of ten things, 32 x 32 pixels."""

    kind, module = "cifar10", "pictures"


@dataclass(frozen=True, kw_only=True)
class CIFAR100(Pictures):
    """Colour pictures of a hundred things, 32 x 32 pixels."""

    kind, module = "cifar100", "pictures"


CATALOGUE: dict[str, type[NamedData]] = {
    one.kind: one for one in (Digits, Synthetic, V1V2, Planted, MediaMill, MNIST, FashionMNIST, CIFAR10, CIFAR100)
}


# -- files of the user's -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SampleFile(FileData, Samples):
    """A file of samples of whichever kind it holds: its contents decide when it is loaded."""

    kind = "file"

    def _read(self) -> Dataset:
        from biorrr.sims.data.stores import open_store

        with open_store(Path(self.file)) as store:
            kind = kind_in(store, Samples)
        return kind(file=self.file)._read()  # type: ignore[call-arg]

    def plain(self) -> dict[str, Any]:
        """Return a table with the path alone."""
        return {"file": self.file}


@dataclass(frozen=True, kw_only=True)
class Arrays(FileData, Samples):
    """X and Y in one file (.npz, .mat, .nc, HDF5), in a folder of .csv or .npy files, or each in a file of its own."""

    kind = "arrays"
    holds, needs = "X and Y", ("X", "Y")
    y: str | None = option(None, "file with Y, where --data holds X alone (.csv, .npy)", metavar="FILE", kw_only=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """One file with both, or two."""
        return tuple(Path(one) for one in (self.file, self.y) if one is not None)

    @classmethod
    def fits(cls, store: Store) -> bool:
        """Return True if X and Y are there, or a single array."""
        return not store.is_nwb and (store.is_single or super().fits(store))

    def _read(self) -> Dataset:
        from biorrr.sims.data.stores import read_arrays

        return read_arrays(self)

    def __str__(self) -> str:
        return self.file if self.y is None else f"{self.file} and {self.y}"


@dataclass(frozen=True, kw_only=True)
class Pair(FileData, Samples):
    """Two areas of a recording, bin by bin and trial by trial: X of the source, Y of the target."""

    kind = "areas"
    holds = "a recording of areas (NWB, or activity and areas)"
    needs = ("activity", "areas")
    source: str | None = option(None, "area that predicts, of a recording")
    target: str | None = option(None, "area that is predicted, of a recording or of v1v2")
    align: str = option("start", "event that the window is counted from")
    window: tuple[float, float] | None = option(
        None,
        "seconds from the event to begin and end, by default up to the end of the shortest trial",
        metavar="BEGIN END",
    )
    bin: float = option(0.1, "seconds in a time bin", at_least=1e-4)
    lag: float = option(0.0, "seconds by which the target comes later than the source")
    condition: str | None = option(None, "column of the trials that says which are alike; several joined by +")
    minimum_rate: float = option(0.5, "spikes per second below which a unit is left out", at_least=0)
    quality: str = option("good", "units to take, by spike sorting", choices=("good", "all"))
    scale: str = option("none", "take the square root of counts", choices=("none", "sqrt"))
    area: str | None = option(None, "column that says in which area a unit is, where it is not found")
    trials: str | None = option(None, "table of trials or presentations, where there are several")
    series: str | None = option(None, "time series to take in place of spikes")

    def _read(self) -> Dataset:
        from biorrr.sims.recordings.opening import open_recording

        return open_recording(self.file, area=self.area, trials=self.trials, series=self.series).take(self)

    def __str__(self) -> str:
        return f"{self.file}, {self.source} to {self.target}" if self.source and self.target else self.file


@dataclass(frozen=True, kw_only=True)
class Dendrites(FileData):
    """Somas and dendrites of the same neurons, imaged together."""

    kind = "dendrites"
    holds = "soma, dendrite and rate (or NWB with series of both)"
    needs = ("soma", "dendrite")
    soma: str | None = option(None, "series of the somas, of an NWB file")
    dendrite: str | None = option(None, "series of the dendrites, of an NWB file")
    error: str | None = option(None, "time series of the task's error, of an NWB file")
    role: str | None = option(None, "column of the somas' ROIs with their causal role, of an NWB file")
    condition: str | None = option(None, "column of the trials that says which are alike, of an NWB file")

    def _read(self) -> Measured:
        from biorrr.sims.recordings.dendrites import read_dendrites

        return read_dendrites(self)


@dataclass(frozen=True, kw_only=True)
class Plasticity(FileData):
    """A record of distal plasticity: activity y, z and a, and the weights Vy whenever they were observed."""

    kind = "plasticity"
    holds = "y, z, a and Vy"
    needs = ("y", "z", "a")
    calcium: float | None = option(
        None, "time constant of calcium in samples, if z and a are calcium", at_least=0.1, at_most=1e4
    )

    def _read(self) -> Measured:
        from biorrr.sims.recordings.plasticity import read_plasticity

        return read_plasticity(self)
