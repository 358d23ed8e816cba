"""The data sets by name, and the one function that loads any of them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from biorrr.sims.data import cifar, digits, mediamill, mnist, planted, synthetic, user_files, v1v2
from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.source import Source


@dataclass(frozen=True)
class Entry:
    """A named data set: what is known of it and what loads it; the loader's keyword arguments are its options."""

    source: Source
    load: Callable[..., Dataset]


CATALOGUE = {
    "digits": Entry(digits.SOURCE, digits.load),
    "synthetic": Entry(synthetic.SOURCE, synthetic.load),
    "v1v2": Entry(v1v2.SOURCE, v1v2.load),
    "planted": Entry(planted.SOURCE, planted.load),
    "mediamill": Entry(mediamill.SOURCE, mediamill.load),
    "mnist": Entry(mnist.MNIST, mnist.load_mnist),
    "fashion-mnist": Entry(mnist.FASHION, mnist.load_fashion),
    "cifar10": Entry(cifar.CIFAR10, cifar.load_cifar10),
    "cifar100": Entry(cifar.CIFAR100, cifar.load_cifar100),
}


def load(name: str | Path, y_path: str | Path | None = None, **options: int | float | bool | str) -> Dataset:
    """Load a data set by name, or the user's own files.

    Parameters
    ----------
    name
        A name of :data:`CATALOGUE`, alone or with options after a colon (``"synthetic:m=40,noise=0.5"``); or the path
        of an .npz or .mat file that holds X and Y; or the path of X's .npy or .csv file, alone with ``y_path`` or
        as ``"x.csv,y.csv"``; or a recording with its options, ``"session.nwb:source=VISp,target=VISl,bin=0.1"``.
    y_path
        Path of Y's file, where Y has its own.
    options
        Of the named data set, e.g. ``target="V1"`` for v1v2, ``swap=True`` for mediamill, ``split="train"`` for
        pictures.

    Examples
    --------
    >>> load("synthetic:samples=100,m=5", n=4).X.shape
    (100, 5)
    """
    text = str(name)
    called, _, written = text.partition(":")
    if called in CATALOGUE and y_path is None:
        return CATALOGUE[called].load(**_options(called, CATALOGUE[called].load, written, options))
    from biorrr.sims.recordings import loading

    if y_path is None and (recording := loading.split_name(text)) is not None:
        path, written = recording
        return loading.load_pair(path, **_options(path, loading.load_pair, written, options))
    if options:
        raise DataError(f"{text}: files take no options (got {', '.join(options)})")
    if y_path is not None:
        return user_files.load(Path(name), Path(y_path))
    if not Path(text).exists():
        if "," in text:
            return user_files.load(*(Path(part.strip()) for part in text.split(",")))
        if not Path(text).suffix and (near := difflib.get_close_matches(called, CATALOGUE, n=1)):
            raise DataError(f"{text}: no such data set or file; did you mean {near[0]!r}?")
    return user_files.load(Path(text))


def _options(called: str, loader: Callable[..., Dataset], written: str, given: dict) -> dict:
    """Join options ``written`` as ``key=value,key=value``, typed like the loader's defaults, with those ``given``."""
    parameters = inspect.signature(loader).parameters
    parameters = {name: one for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    parts = [part.partition("=") for part in written.split(",")] if written else []
    for key in [key.strip() for key, *_ in parts] + list(given):
        if key not in parameters:
            near = difflib.get_close_matches(key, parameters, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(parameters) or 'no options'}"
            raise DataError(f"{called}: no option {key!r}; {remedy}")
    typed = {key.strip(): _typed(f"{called} {key}", value, parameters[key.strip()].default) for key, _, value in parts}
    return typed | given


def _typed(option: str, value: str, default: int | float | bool | str) -> int | float | bool | str:
    kind = type(default)
    try:
        return {"true": True, "false": False}[value.strip().lower()] if kind is bool else kind(value.strip())
    except (ValueError, KeyError):
        words = {bool: "true or false", int: "a whole number", float: "a number"}
        raise DataError(f"{option}: must be {words[kind]} (got {value!r})") from None
