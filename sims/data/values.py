"""Data as values, which settings hold, configs write as tables, and which load themselves.

A value names data and knows how to load them: a named data set, or a file with the options that say what to take of it.
This module imports nothing heavy, so that ``--help`` need not wait.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from biorrr.errors import InputError
from biorrr.sims.lab.settings import Settings, SettingsError, key_of, option, parsed
from biorrr.sims.lab.settings import kinds as types_of

if TYPE_CHECKING:
    from biorrr.sims.data.stores import Store

D = TypeVar("D", bound="Data")


class DataError(InputError):
    """Data that cannot be used, with the reason and what to do about it."""


@dataclass(frozen=True, kw_only=True)
class Data(Settings):
    """Base of all data values: frozen, checked by their fields, equal if their fields are equal.

    A subclass that stands for one kind of data has a ``kind``. Other subclasses group kinds: a setting declared as
    ``data: Samples`` takes every kind of samples.
    """

    kind: ClassVar[str] = ""
    made_on_the_spot: ClassVar[bool] = False  # its many options are given as synthetic:m=40, or with --set data.m=40

    def load(self) -> Any:
        """Read the data.

        The result has a ``name``, a ``checksum`` of its numbers, ``used`` (what was chosen in the file, by name) and
        ``notes`` (what was left out or guessed). Files must not change while they are read.
        """
        from biorrr.sims.data.files import check_stamps, file_stamp

        stamps = {path: file_stamp(path) for path in self.files}
        try:
            loaded = self._read()
        finally:
            check_stamps(stamps)  # what is wrong with a file may be that it is being written
        return loaded

    def checksum(self) -> str:
        """Return the checksum of the numbers, ``load().checksum``: take that where the data are loaded anyway."""
        return self.load().checksum

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of the user's that are read."""
        return ()

    def _read(self) -> Any:
        raise NotImplementedError

    def plain(self) -> str | dict[str, Any]:
        """Return the value as TOML holds it: a table, or a name alone where all options have their defaults."""
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"kind": self.kind} | {key_of(name): value for name, value in given.items() if value is not None}

    @property
    def name(self) -> str:
        """Name of the data set, or path of the file."""
        return self.kind

    def __str__(self) -> str:
        return self.name

    # -- making values -------------------------------------------------------------------------------------------------

    @classmethod
    def kinds(cls) -> list[type[Self]]:
        """Return the kinds of data below this class, in the order of their declaration."""
        from biorrr.sims.data import kinds  # noqa: F401 (declares them)

        return [cls] if cls.kind else [one for one in _subclasses(cls) if one.kind]

    @classmethod
    def file_kinds(cls) -> list[type[FileData]]:
        """Return the kinds between which the contents of a file decide."""
        return [one for one in cls.kinds() if issubclass(one, FileData) and one.needs]

    @classmethod
    def made_from(cls, given: Any, options: Mapping[str, Any] = {}) -> Self:
        """Make a value of one of the kinds below this class.

        Parameters
        ----------
        given
            A value; a table as :meth:`plain` makes it; the name of a data set, alone or with options after a colon
            (``"synthetic:m=40,noise=0.5"``); or the path of a file. Nothing is read here: unless the table or the
            options say the kind of a file, its contents decide when it is loaded.
        options
            Fields of the value, in place of those ``given``. Text is read as the field's type.
        """
        if isinstance(given, Data):
            if not isinstance(given, cls):
                raise DataError(f"data: must be {cls._wanted()} (got {given}, which is {given.kind})")
            return _made(type(given), vars(given) | dict(options))
        if isinstance(given, Mapping):
            table = {str(key).replace("-", "_"): value for key, value in given.items()}
            is_file = "file" in table
            place = table.pop("file" if is_file else "name", None)
            return cls._of_fields(place, {**table, **options}, is_file)
        if not isinstance(given, str | Path):
            raise SettingsError(f"data: must be {cls._wanted()}, as text or as a table (got {given!r})")
        name, colon, written = str(given).partition(":")
        if colon and any(name == kind.kind for kind in cls.kinds()):
            parts = (part.partition("=") for part in written.split(","))
            return cls._of_fields(name, {key.strip(): value.strip() for key, _, value in parts} | dict(options))
        return cls._of_fields(str(given), dict(options))

    @classmethod
    def _of_fields(cls, place: Any, fields: dict[str, Any], is_file: bool = False) -> Self:
        """Make the value that is found at ``place``, the name of a data set or, if ``is_file``, a path."""
        kinds = {one.kind: one for one in cls.kinds()}
        kind = fields.pop("kind", None) or cls.kind or None
        if kind is not None and kind not in kinds:
            raise DataError(f"kind: must be one of {', '.join(kinds)} (got {kind!r})")
        if kind is None and not is_file and isinstance(place, str) and place in kinds:
            kind = place
        if kind is not None:
            chosen = kinds[kind]
            if issubclass(chosen, FileData):
                fields["file"] = place
            return _made(chosen, fields)
        if not isinstance(place, str) or not place:
            raise DataError(f"data: must be {cls._wanted()} (got {place!r})")
        near = difflib.get_close_matches(place, kinds, n=1)
        if near and not is_file and not Path(place).exists() and not Path(place).suffix:
            raise DataError(f"{place}: no such data set or file; did you mean {near[0]!r}?")
        return _made(cls._kind_with(place, fields), fields | {"file": place})

    @classmethod
    def _kind_with(cls, place: str, fields: Mapping[str, Any]) -> type[Self]:
        """Return the kind of a file that takes most of the options given; the undecided kind if there are none."""
        files = [one for one in cls.kinds() if issubclass(one, FileData)]
        if not files:
            raise DataError(f"{place}: no such data set; there are {', '.join(one.kind for one in cls.kinds())}")
        files.sort(key=lambda one: bool(one.needs))  # first that which its contents decide
        return max(files, key=lambda one: len(set(fields) & set(types_of(one))))

    @classmethod
    def _wanted(cls) -> str:
        named = any(not issubclass(one, FileData) for one in cls.kinds())
        files = [f"a file with {one.holds}" for one in cls.file_kinds()]
        return " or ".join(["a name that `biorrr data` lists"] * named + files)


@dataclass(frozen=True, kw_only=True)
class FileData(Data):
    """Base of the data in a file of the user's."""

    file: str = option(dataclasses.MISSING, "path of the file", metavar="FILE", kw_only=False)

    holds: ClassVar[str] = ""  # what such a file holds, in words
    needs: ClassVar[tuple[str, ...]] = ()  # names of arrays by which a file of arrays is known

    @property
    def files(self) -> tuple[Path, ...]:
        """The file."""
        return (Path(self.file),)

    @classmethod
    def fits(cls, store: Store) -> bool:
        """Return True if the store may hold data of this kind."""
        return store.is_nwb or set(cls.needs) <= set(store.names)

    @property
    def name(self) -> str:
        """Path of the file."""
        return self.file


@dataclass(frozen=True, kw_only=True)
class Samples(Data):
    """Data with X and Y, which every circuit can learn: :meth:`load` returns a :class:`~biorrr.sims.data.Dataset`."""


def _subclasses(cls: type[D]) -> Iterator[type[D]]:
    for one in cls.__subclasses__():
        yield one
        yield from _subclasses(one)


def kind_in(store: Store, wanted: type[Data]) -> type[FileData]:
    """Return the kind of data that a file holds, by its contents; refuse one that holds none or several."""
    kinds = wanted.file_kinds()
    fitting = [one for one in kinds if one.fits(store)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        wants = ", or ".join(one.holds for one in kinds)
        raise DataError(f"{store.path}: must hold {wants} (got {store.described})")
    ways = ", ".join(f"--kind {one.kind} takes {one.holds}" for one in fitting)
    raise DataError(f"{store.path}: holds data of several kinds; {ways}")


def _made(kind: type[D], fields: Mapping[str, Any]) -> D:
    """Make a value of ``kind`` from fields, of which text is read as the field's type."""
    known = types_of(kind)
    place = fields.get("file", kind.kind)
    values = {}
    for name, value in fields.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            there = [key_of(one) for one in known if one != "file"]
            remedy = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(there) or 'no options'}"
            raise DataError(f"{place}: no option {key_of(name)!r}; {remedy}")
        of_type, _, many = known[name]
        values[name] = parsed(of_type, many, value) if isinstance(value, str) else value
    try:
        return kind(**values)
    except SettingsError as error:
        raise DataError(f"{place}: {error}") from None
