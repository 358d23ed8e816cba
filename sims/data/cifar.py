"""CIFAR-10 and CIFAR-100: 32 x 32 colour pictures in the authors' binary format, which needs no pickle."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import Pictures
from biorrr.sims.data.source import Source, SourceFile

PIXELS = 3 * 32 * 32  # channel by channel

CITATION = "Krizhevsky 2009, Learning multiple layers of features from tiny images, technical report, U. Toronto"
LICENCE = "none stated"


def _files(name: str, archive: str, sha256: str, members: tuple[str, ...]) -> tuple[SourceFile, ...]:
    url = f"https://www.cs.toronto.edu/~kriz/{archive}"
    return tuple(SourceFile(f"{name}/{member.split('/')[-1]}", url, sha256, member) for member in members)


CIFAR10 = Source(
    summary="10,000 test (or split=train: 50,000) colour pictures, 3 x 32 x 32 pixels -> one of 10 things",
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence=LICENCE,
    citation=CITATION,
    files=_files(
        "cifar10",
        "cifar-10-binary.tar.gz",
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        (
            "cifar-10-batches-bin/test_batch.bin",
            *(f"cifar-10-batches-bin/data_batch_{i}.bin" for i in range(1, 6)),
        ),
    ),
)
CIFAR100 = Source(
    summary="10,000 test (or split=train: 50,000) colour pictures, 3 x 32 x 32 pixels -> one of 100 things",
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence=LICENCE,
    citation=CITATION,
    files=_files(
        "cifar100",
        "cifar-100-binary.tar.gz",
        "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
        ("cifar-100-binary/test.bin", "cifar-100-binary/train.bin"),
    ),
)

THINGS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


SOURCES = {"cifar10": CIFAR10, "cifar100": CIFAR100}
FORMATS = {"cifar10": (1, 10, THINGS), "cifar100": (2, 100, None)}  # label bytes, the last of which counts; classes


def read(value: Pictures) -> Dataset:
    """Return pixels in [0, 1], (T, 3072), and one-hot labels, (T, 10) or (T, 100); coarse labels are not used.

    They are the training pictures where the user has them, else the test pictures, unless ``split`` says which.
    """
    source, split = SOURCES[value.kind], value.split
    label_bytes, n, names = FORMATS[value.kind]
    test, train = source.files[:1], source.files[1:]
    training = split == "train" or (split == "auto" and all(file.found() for file in train))
    files = train if training else test
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
        source=source.home,
        licence=source.licence,
        citation=source.citation,
    )
