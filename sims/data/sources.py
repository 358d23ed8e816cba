"""Origins of the named data sets: where they come from, under which terms, what to cite, and their files."""

from __future__ import annotations

from biorrr.sims.data.files import Source, SourceFile


def _idx_files(name: str, url: str, checksums: dict[str, str]) -> tuple[SourceFile, ...]:
    return tuple(SourceFile(f"{name}/{file}", url + file, sha256) for file, sha256 in checksums.items())


def _archived_files(name: str, archive: str, sha256: str, members: tuple[str, ...]) -> tuple[SourceFile, ...]:
    url = f"https://www.cs.toronto.edu/~kriz/{archive}"
    return tuple(SourceFile(f"{name}/{member.split('/')[-1]}", url, sha256, member) for member in members)


SOURCES = {
    "digits": Source(
        summary="1,797 handwritten digits, 8 x 8 pixels -> one of 10 digits",
        home="ships with scikit-learn (UCI, Optical Recognition of Handwritten Digits)",
        licence="CC BY 4.0",
        citation="Alpaydin & Kaynak 1998, Cascading classifiers, Kybernetika 34:369",
    ),
    "synthetic": Source(
        summary="Gaussian views that share latents; options samples, m, n, latents, signal, noise, seed",
        home="made on the spot",
        licence="none needed",
        citation="none needed",
    ),
    "v1v2": Source(
        summary="79 V1 neurons -> 31 V2 neurons (or target=V1: 31 other V1 neurons), 400 trials x 10 bins",
        home="https://github.com/joao-semedo/communication-subspace",
        licence="MIT",
        citation="Semedo, Zandvakili, Machens, Yu & Kohn 2019, Cortical areas interact through a communication "
        "subspace, Neuron 102:249",
        files=(
            SourceFile(
                "v1v2/sample_data.mat",
                "https://raw.githubusercontent.com/joao-semedo/communication-subspace/"
                "fd0e408ba2244d9369bda59f326480386c770e5c/mat_sample/sample_data.mat",
                "37cd032962360baf5f6f7b853fea5739e6bfd9038520ec6247d9932c51634ec1",
            ),
        ),
    ),
    "planted": Source(
        summary="Poisson spikes of two areas with a planted communication subspace; options trials, bins, "
        "source_units, target_units, rank, gain, seed",
        home="made on the spot",
        licence="none needed",
        citation="none needed",
    ),
    # Mulan's home offers the set as a .rar archive, which Python cannot open, and publishes no checksum of it:
    # the user unpacks it once.
    "mediamill": Source(
        summary="120 visual features of video frames -> 101 concepts (or swap=true: concepts -> features)",
        home="https://mulan.sourceforge.net/datasets-mlc.html",
        licence="none stated; for research",
        citation="Snoek, Worring, van Gemert, Geusebroek & Smeulders 2006, The challenge problem for automated "
        "detection of 101 semantic concepts in multimedia, ACM Multimedia, p. 421",
        files=(
            SourceFile(
                "mediamill/mediamill.arff",
                "https://sourceforge.net/projects/mulan/files/datasets/mediamill.rar (unpacked)",
            ),
        ),
    ),
    # The authors' own page, yann.lecun.com/exdb/mnist, no longer serves files; this mirror of the Computer Vision
    # Foundation holds the same ones, as the checksums published from the original confirm.
    "mnist": Source(
        summary="10,000 test (or split=train: 60,000) handwritten digits, 28 x 28 pixels -> one of 10 digits",
        home="http://yann.lecun.com/exdb/mnist (served by storage.googleapis.com/cvdf-datasets/mnist)",
        licence="none stated by its authors; often given as CC BY-SA 3.0",
        citation="LeCun, Bottou, Bengio & Haffner 1998, Gradient-based learning applied to document recognition, "
        "Proc. IEEE 86:2278",
        files=_idx_files(
            "mnist",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
            {
                "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            },
        ),
    ),
    "fashion-mnist": Source(
        summary="10,000 test (or split=train: 60,000) pictures of clothes, 28 x 28 pixels -> one of 10 kinds",
        home="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
        citation="Xiao, Rasul & Vollgraf 2017, Fashion-MNIST: a novel image dataset for benchmarking machine learning "
        "algorithms, arXiv:1708.07747",
        files=_idx_files(
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
    ),
    "cifar10": Source(
        summary="10,000 test (or split=train: 50,000) colour pictures, 3 x 32 x 32 pixels -> one of 10 things",
        home="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence="none stated",
        citation="Krizhevsky 2009, Learning multiple layers of features from tiny images, technical report, U. Toronto",
        files=_archived_files(
            "cifar10",
            "cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            (
                "cifar-10-batches-bin/test_batch.bin",
                *(f"cifar-10-batches-bin/data_batch_{i}.bin" for i in range(1, 6)),
            ),
        ),
    ),
    "cifar100": Source(
        summary="10,000 test (or split=train: 50,000) colour pictures, 3 x 32 x 32 pixels -> one of 100 things",
        home="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence="none stated",
        citation="Krizhevsky 2009, Learning multiple layers of features from tiny images, technical report, U. Toronto",
        files=_archived_files(
            "cifar100",
            "cifar-100-binary.tar.gz",
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            ("cifar-100-binary/test.bin", "cifar-100-binary/train.bin"),
        ),
    ),
}
