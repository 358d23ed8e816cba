"""Sets of labelled pictures: MNIST and Fashion-MNIST in idx files, CIFAR in the authors' binary
format.
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import ClassVar

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.files import readable
from biorrr.sims.data.published import NamedData, Origin, SourceFile
from biorrr.sims.data.values import DataError
from biorrr.sims.lab.settings import option
from biorrr.sims.lazy import np


class Pictures(NamedData):
    """Base of the sets of labelled pictures: pixels in [0, 1], (T, pixels), and one-hot labels, (T,
    classes).
    """

    test_files: ClassVar[int] = 1  # of all files, which come first
    shape: ClassVar[tuple[int, ...]] = (3, 32, 32)
    classes: ClassVar[int] = 10

    split: str = option("test", "pictures to take", choices=("test", "train"))

    def load(self) -> Dataset:
        """Read the pictures."""
        test, train = self.origin.files[: self.test_files], self.origin.files[self.test_files :]
        paths = [file.fetch() for file in (test if self.split == "test" else train)]
        pixels, labels = self._pictures(paths)
        if labels.max() >= self.classes:
            raise DataError(
                f"{paths[-1]}: labels must lie below {self.classes} (got {labels.max()}); it is"
                " damaged"
            )
        Y = np.eye(self.classes)[labels]
        return Dataset(self.name, pixels / 255, Y, pixels=self.shape)

    def _pictures(self, paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
        """Return pixels (T, pixels) and labels (T,), both bytes."""
        raise NotImplementedError


class MNIST(Pictures):
    """Handwritten digits of 28 x 28 pixels."""

    set_name, test_files, shape = "mnist", 2, (28, 28)
    # The authors' own page, yann.lecun.com/exdb/mnist, no longer serves files; this mirror of the
    # Computer Vision Foundation holds the same ones, as the checksums published from the original
    # confirm.
    origin = Origin(
        summary=(
            "10,000 test (or split=train: 60,000) handwritten digits, 28 x 28 pixels -> one of 10"
            " digits"
        ),
        home=(
            "http://yann.lecun.com/exdb/mnist (served by"
            " storage.googleapis.com/cvdf-datasets/mnist)"
        ),
        licence="none stated by its authors; often given as CC BY-SA 3.0",
        citation=(
            "LeCun, Bottou, Bengio & Haffner 1998, Gradient-based learning applied to document"
            " recognition, Proc. IEEE 86:2278"
        ),
        files=SourceFile.each(
            "mnist",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
            {
                "t10k-images-idx3-ubyte.gz": (
                    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
                ),
                "t10k-labels-idx1-ubyte.gz": (
                    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
                ),
                "train-images-idx3-ubyte.gz": (
                    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
                ),
                "train-labels-idx1-ubyte.gz": (
                    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
                ),
            },
        ),
    )

    def _pictures(self, paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
        images, labels = map(read_idx, paths)
        if images.shape != (*labels.shape, *self.shape):
            raise DataError(
                f"{paths[0]}: must hold 28 x 28 pictures with a label each (got shapes"
                f" {images.shape} and {labels.shape})"
            )
        return images.reshape(len(images), -1), labels


class FashionMNIST(MNIST):
    """Pictures of clothes, 28 x 28 pixels."""

    set_name = "fashion-mnist"
    origin = Origin(
        summary=(
            "10,000 test (or split=train: 60,000) pictures of clothes, 28 x 28 pixels -> one of 10"
            " kinds"
        ),
        home="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
        citation=(
            "Xiao, Rasul & Vollgraf 2017, Fashion-MNIST: a novel image dataset for benchmarking"
            " machine learning algorithms, arXiv:1708.07747"
        ),
        files=SourceFile.each(
            "fashion-mnist",
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/b2617bb6d3ffa2e429640350f613e3291e10b141/"
            "data/fashion/",
            {
                "t10k-images-idx3-ubyte.gz": (
                    "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
                ),
                "t10k-labels-idx1-ubyte.gz": (
                    "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
                ),
                "train-images-idx3-ubyte.gz": (
                    "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
                ),
                "train-labels-idx1-ubyte.gz": (
                    "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
                ),
            },
        ),
    )


class CIFAR10(Pictures):
    """Colour pictures of ten things, 32 x 32 pixels."""

    set_name = "cifar10"
    label_bytes: ClassVar[int] = 1  # before the pixels of a picture; the last is the label
    origin = Origin(
        summary=(
            "10,000 test (or split=train: 50,000) colour pictures, 3 x 32 x 32 pixels -> one of 10"
            " things"
        ),
        home="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence="none stated",
        citation=(
            "Krizhevsky 2009, Learning multiple layers of features from tiny images, technical"
            " report, U. Toronto"
        ),
        files=SourceFile.of_archive(
            "cifar10",
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            (
                "cifar-10-batches-bin/test_batch.bin",
                *(f"cifar-10-batches-bin/data_batch_{i}.bin" for i in range(1, 6)),
            ),
        ),
    )

    def _pictures(self, paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
        pictures = (10_000 if self.split == "test" else 50_000) // len(paths)
        record = self.label_bytes + math.prod(self.shape)
        for path in paths:
            if path.stat().st_size != pictures * record:
                raise DataError(
                    f"{path}: must be {pictures} pictures of {record} bytes (got"
                    f" {path.stat().st_size} bytes); it is damaged or truncated"
                )
        records = np.concatenate([np.fromfile(path, np.uint8) for path in paths]).reshape(
            -1, record
        )
        return records[:, self.label_bytes :], records[:, self.label_bytes - 1]


class CIFAR100(CIFAR10):
    """Colour pictures of a hundred things, 32 x 32 pixels; coarse labels are not used."""

    set_name, label_bytes, classes = "cifar100", 2, 100
    origin = Origin(
        summary=(
            "10,000 test (or split=train: 50,000) colour pictures, 3 x 32 x 32 pixels -> one of 100"
            " things"
        ),
        home="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence="none stated",
        citation=(
            "Krizhevsky 2009, Learning multiple layers of features from tiny images, technical"
            " report, U. Toronto"
        ),
        files=SourceFile.of_archive(
            "cifar100",
            "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            ("cifar-100-binary/test.bin", "cifar-100-binary/train.bin"),
        ),
    )


def read_idx(path: Path) -> np.ndarray:
    """Read the uint8 array in a gzipped idx file: two zero bytes, type 8, number of dimensions,
    sizes, values.
    """
    with readable(path, "not an idx file of bytes"), gzip.open(path) as file:
        content = file.read()
        sizes = np.frombuffer(content, ">i4", count=content[3], offset=4)
        return np.frombuffer(content, np.uint8, offset=4 + sizes.nbytes).reshape(sizes)
