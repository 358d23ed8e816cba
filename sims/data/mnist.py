"""MNIST and Fashion-MNIST: 28 x 28 grey pictures in gzipped idx files."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import Pictures
from biorrr.sims.data.source import Source, SourceFile


def _files(name: str, url: str, checksums: dict[str, str]) -> tuple[SourceFile, ...]:
    return tuple(SourceFile(f"{name}/{file}", url + file, sha256) for file, sha256 in checksums.items())


# The authors' own page, yann.lecun.com/exdb/mnist, no longer serves files; this mirror of the Computer Vision
# Foundation holds the same ones, as the checksums published from the original confirm.
MNIST = Source(
    summary="10,000 test (or split=train: 60,000) handwritten digits, 28 x 28 pixels -> one of 10 digits",
    home="http://yann.lecun.com/exdb/mnist (served by storage.googleapis.com/cvdf-datasets/mnist)",
    licence="none stated by its authors; often given as CC BY-SA 3.0",
    citation="LeCun, Bottou, Bengio & Haffner 1998, Gradient-based learning applied to document recognition, "
    "Proc. IEEE 86:2278",
    files=_files(
        "mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        {
            "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        },
    ),
)

FASHION = Source(
    summary="10,000 test (or split=train: 60,000) pictures of clothes, 28 x 28 pixels -> one of 10 kinds",
    home="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="Xiao, Rasul & Vollgraf 2017, Fashion-MNIST: a novel image dataset for benchmarking machine learning "
    "algorithms, arXiv:1708.07747",
    files=_files(
        "fashion-mnist",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/b2617bb6d3ffa2e429640350f613e3291e10b141/"
        "data/fashion/",
        {
            "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        },
    ),
)

DIGITS = tuple("0123456789")
CLOTHES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")


SOURCES = {"mnist": MNIST, "fashion-mnist": FASHION}
CLASSES = {"mnist": DIGITS, "fashion-mnist": CLOTHES}


def read(value: Pictures) -> Dataset:
    """Return pixels in [0, 1], (T, 784), and one-hot classes, (T, 10).

    They are the training pictures where the user has them, else the test pictures, unless ``split`` says which.
    """
    source, classes, split = SOURCES[value.kind], CLASSES[value.kind], value.split
    test, train = source.files[:2], source.files[2:]
    files = train if split == "train" or (split == "auto" and all(file.found() for file in train)) else test
    images_path, labels_path = (file.fetch() for file in files)
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
        source=source.home,
        licence=source.licence,
        citation=source.citation,
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
