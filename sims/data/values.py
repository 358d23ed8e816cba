"""Names of data, which settings hold and configs write as tables.

Each names a data set, or a file of the user's with the options that say what to take of it, and its
method loads the data. This module imports nothing heavy, so that ``--help`` need not wait.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from biorrr.errors import InputError
from biorrr.hints import did_you_mean
from biorrr.sims.lab.settings import Settings, SettingsError, key_of, option, parsed
from biorrr.sims.lab.settings import kinds as types_of

if TYPE_CHECKING:
    from biorrr.sims.data.dataset import Dataset

D = TypeVar("D", bound="Data")


class DataError(InputError):
    """Data that cannot be used, with the reason and what to do about it."""


class Data(Settings):
    """Base of all data values: frozen, checked by their fields, equal if their fields are equal.

    Named data sets and classes without subclasses are the kinds of data.
    """

    set_name: ClassVar[str] = ""  # of a named data set

    @property
    def name(self) -> str:
        """Name of the data set, or path of the file."""
        return self.set_name or vars(self)["file"]

    def load(self) -> Dataset:
        """Read the data."""
        raise NotImplementedError

    def plain(self) -> str | dict[str, Any]:
        """Return the value as TOML holds it: a table, or a name alone where all options have their
        defaults.
        """
        if self.set_name and self == type(self)():
            return self.set_name
        table = {key_of(name): value for name, value in vars(self).items() if value is not None}
        return {"name": self.set_name} | table if self.set_name else table

    def __str__(self) -> str:
        return self.name

    @classmethod
    def kinds(cls) -> list[type[Self]]:
        """Return the kinds of data below this class, in the order of their declaration."""
        below = [kind for one in cls.__subclasses__() for kind in one.kinds()]
        return [cls, *below] if cls.set_name or not below else below

    @classmethod
    def made_from(cls, given: Any, options: Mapping[str, Any] = {}) -> Any:
        """Make a value of one of the kinds below this class.

        Parameters
        ----------
        given
            A value; the name of a data set; the path of a file; or a table with ``name`` or
            ``file`` and options, as :meth:`plain` makes it or as text in TOML. Nothing is read
            here: an .nwb file, or an .npz file with ``source`` or ``target``, is a recording.
        options
            Fields of the value, in place of those ``given``. Text is read as the field's type.
        """
        if isinstance(given, Data):
            return make(type(given), vars(given) | dict(options))
        named = {one.set_name: one for one in cls.kinds() if one.set_name}
        fields = _table(given, named) | dict(options)
        place = fields.get("name", fields.get("file"))
        if not isinstance(place, str):
            raise SettingsError(
                "data: must be a name that `biorrr data` lists or a file, as text or as a table"
                f" (got {given!r})"
            )
        if fields.pop("name", None) in named:
            return make(named[place], fields)
        ending, hint = Path(place).suffix.lower(), did_you_mean(place, named)
        mistyped = hint and isinstance(given, str) and not Path(place).exists() and not ending
        if "file" not in fields or mistyped or cls is not Data:
            raise DataError(
                f"{place}: no such data set or file" + (hint or f"; there are {', '.join(named)}")
            )
        has_areas = ending == ".npz" and {"source", "target"} & fields.keys()
        return make(Pair if ending == ".nwb" or has_areas else Arrays, fields)


def file_option() -> Any:
    """Declare the path of a file of the user's."""
    return option(dataclasses.MISSING, "path of the file", metavar="FILE", kw_only=False)


class Pair(Data):
    """Two areas of a recording, bin by bin and trial by trial: X of the source, Y of the target."""

    file: str = file_option()
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

    def load(self) -> Dataset:
        """Read the activity of the two areas."""
        from biorrr.sims.recordings.recording import Recording

        chosen = {"area": self.area, "trials": self.trials, "series": self.series}
        with closing(Recording.of_file(self.file, **chosen)) as recording:
            return recording.take(self)

    def __str__(self) -> str:
        both = f", {self.source} to {self.target}" if self.source and self.target else ""
        return self.file + both


class Arrays(Data):
    """X and Y in one .npz or .mat file, by name, or each in a .npy or .csv file of its own."""

    file: str = file_option()
    y: str | None = option(
        None,
        "file with Y, if --data holds X alone (.csv, .npy); or name of Y in an .npz or .mat file",
        metavar="FILE|NAME",
        kw_only=False,
    )
    x: str | None = option(None, "name of X in an .npz or .mat file", metavar="NAME")

    def load(self) -> Dataset:
        """Read the arrays."""
        from biorrr.sims.data.arrays import read_samples
        from biorrr.sims.data.dataset import Dataset

        return Dataset(str(self), *read_samples(Path(self.file), self.x, self.y))

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.file, self.x, self.y)))


def _table(given: Any, named: Collection[str]) -> dict[str, Any]:
    """Return data as a table of fields, with the name of a data set or the path of a file; empty if
    it is neither.
    """
    text = str(given) if isinstance(given, str | Path) else ""
    if text.startswith("{"):
        try:
            given = tomllib.loads(f"data = {text}")["data"]
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(
                'data: must be a table of TOML, such as {name = "synthetic", m = 40} (got'
                f" {text}; {error})"
            ) from None
    if isinstance(given, Mapping):
        return {str(key).replace("-", "_"): value for key, value in given.items()}
    return {"name" if text in named else "file": text} if text else {}


def make(kind: type[D], fields: Mapping[str, Any]) -> D:
    """Make a value of ``kind`` from fields, of which text is read as the field's type."""
    known = types_of(kind)
    place = fields.get("file", kind.set_name)
    values = {}
    for name, value in fields.items():
        if name not in known:
            there = [key_of(one) for one in known if one != "file"]
            remedy = (
                did_you_mean(key_of(name), there)
                or f"; it takes {', '.join(there) or 'no options'}"
            )
            raise DataError(f"{place}: no option {key_of(name)!r}{remedy}")
        of_type, _, many, _ = known[name]
        values[name] = parsed(of_type, many, value) if isinstance(value, str) else value
    try:
        return kind(**values)
    except SettingsError as error:
        raise DataError(f"{place}: {error}") from None


def load(
    data: str | Path | Mapping[str, Any] | Data, y: str | Path | None = None, **options: Any
) -> Dataset:
    """Load data with X and Y.

    Parameters
    ----------
    data
        A name of :data:`CATALOGUE`; the path of an .npz or .mat file with X and Y, of a .npy or
        .csv file with X, or of a recording; a table, as config files hold it; or a value.
    y
        Path of Y's file, where Y has its own, or the name of Y in an .npz or .mat file.
    options
        Fields of the value, e.g. ``m=40`` for synthetic, ``x="spikes"`` for the name of X in a .mat
        file, or ``source="VISp", target="VISl"`` for a recording.

    Examples
    --------
    >>> load("synthetic", samples=100, m=5, n=4).X.shape
    (100, 5)
    """
    given = options if y is None else options | {"y": str(y)}
    return Data.made_from(data, given).load()
