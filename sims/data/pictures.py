"""Sets of labelled pictures: MNIST and Fashion-MNIST in idx files, CIFAR in the authors' binary format."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.files import SourceFile
from biorrr.sims.data.kinds import Pictures
from biorrr.sims.data.sources import SOURCES

DIGITS = tuple("0123456789")
CLOTHES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
THINGS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CLASSES = {"mnist": DIGITS, "fashion-mnist": CLOTHES}
FORMATS = {"cifar10": (1, 10, THINGS), "cifar100": (2, 100, None)}  # label bytes, the last of which counts; classes
PIXELS = 3 * 32 * 32  # channel by channel


def chosen_files(value: Pictures, tests: int) -> tuple[tuple[SourceFile, ...], bool]:
    """Return the files to read, and True if they hold the training pictures; the first ``tests`` are the test files.

    Unless ``split`` decides, they are the training pictures where these are on this machine, else the test pictures.
    """
    files = SOURCES[value.kind].files
    training = value.split == "train" or (value.split == "auto" and all(file.found() for file in files[tests:]))
    return (files[tests:] if training else files[:tests]), training


def read_mnist(value: Pictures) -> Dataset:
    """Return pixels in [0, 1], (T, 784), and one-hot classes, (T, 10)."""
    classes = CLASSES[value.kind]
    images_path, labels_path = (file.fetch() for file in chosen_files(value, tests=2)[0])
    images, labels = read_idx(images_path), read_idx(labels_path)
    if images.shape[1:] != (28, 28) or labels.ndim != 1:
        raise DataError(f"{images_path}: must hold 28 x 28 pictures with a label each (got {images.shape})")
    if len(images) != len(labels):
        raise DataError(f"{labels_path}: must hold a label for each of {len(images)} pictures (got {len(labels)})")
    if labels.max() >= len(classes):
        raise DataError(f"{labels_path}: labels must lie below {len(classes)} (got {labels.max()}); it is damaged")
    return Dataset(
        value.kind,
        X=images.reshape(len(images), -1) / 255,
        Y=np.eye(len(classes))[labels],
        pixels=(28, 28),
        y_names=classes,
    )


def read_idx(path: Path) -> np.ndarray:
    """Read the uint8 array in a gzipped idx file: two zero bytes, type 8, number of dimensions, sizes, values."""
    try:
        with gzip.open(path) as file:
            magic = file.read(4)
            if len(magic) < 4 or magic[:3] != b"\0\0\x08" or not 1 <= magic[3] <= 3:
                raise DataError(f"{path}: not an idx file of bytes; it is damaged or something else")
            shape = tuple(int.from_bytes(file.read(4), "big") for _ in range(magic[3]))
            values = file.read(math.prod(shape) + 1)  # one more than there should be
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a readable gzip file, perhaps damaged or truncated ({error})") from error
    if len(values) != math.prod(shape) or 0 in shape:
        size = "more" if len(values) > math.prod(shape) else len(values)
        raise DataError(f"{path}: must hold {math.prod(shape)} bytes of shape {shape} (got {size}); it is truncated")
    return np.frombuffer(values, np.uint8).reshape(shape)


def read_cifar(value: Pictures) -> Dataset:
    """Return pixels in [0, 1], (T, 3072), and one-hot labels, (T, 10) or (T, 100); coarse labels are not used."""
    label_bytes, n, names = FORMATS[value.kind]
    files, training = chosen_files(value, tests=1)
    pictures = (50_000 if training else 10_000) // len(files)
    record = label_bytes + PIXELS  # label byte(s), the fine one last, then the pixels
    batches = []
    for file in files:
        path = file.fetch()
        if path.stat().st_size != pictures * record:
            raise DataError(
                f"{path}: must be {pictures} pictures of {record} bytes (got {path.stat().st_size} bytes); "
                "it is damaged or truncated"
            )
        batches.append(np.fromfile(path, np.uint8).reshape(pictures, record))
        if (label := batches[-1][:, label_bytes - 1].max()) >= n:
            raise DataError(f"{path}: labels must lie below {n} (got {label}); it is damaged")
    records = np.concatenate(batches)
    return Dataset(
        value.kind,
        X=records[:, label_bytes:] / 255,
        Y=np.eye(n)[records[:, label_bytes - 1]],
        pixels=(3, 32, 32),
        y_names=names,
    )


READERS = {"mnist": read_mnist, "fashion-mnist": read_mnist, "cifar10": read_cifar, "cifar100": read_cifar}
