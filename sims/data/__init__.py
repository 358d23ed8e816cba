"""Data to learn from: named sets, fetched from their homes, and the user's own files.

Data are values: ``Synthetic(m=40)``, ``Arrays("mine.npz")`` or ``Pair("session.nwb", source="V1",
target="V2")`` say what to load, and their ``load()`` loads it.
"""

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.generated import SMALL_DATA, Planted, Synthetic
from biorrr.sims.data.pictures import CIFAR10, CIFAR100, MNIST, FashionMNIST
from biorrr.sims.data.published import V1V2, Digits, MediaMill, NamedData
from biorrr.sims.data.values import Arrays, Data, DataError, Pair, load

__all__ = [
    "CATALOGUE",
    "SMALL_DATA",
    "Arrays",
    "Data",
    "DataError",
    "Dataset",
    "Pair",
    "Planted",
    "Synthetic",
    "load",
]

CATALOGUE: dict[str, type[NamedData]] = {
    one.set_name: one
    for one in (Digits, Synthetic, V1V2, Planted, MediaMill, MNIST, FashionMNIST, CIFAR10, CIFAR100)
}
