"""Names of data, which settings hold and configs write as tables.

Each names a data set, or a file with the options that say what to take of it, and its method loads
the data. This module imports nothing heavy, so that ``--help`` need not wait.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Data(Settings):
    """Base of all data values: frozen, checked by their fields, equal if their fields are equal.

    Named data sets and classes without subclasses are the kinds of data.
    """

    set_name: ClassVar[str] = ""  # of a named data set

    @property
    def name(self) -> str:
        """Name of the data set, or path of the file."""
        return self.set_name

    def load(self) -> Dataset:
        """Read the data. Files must not change while they are read."""
        from biorrr.sims.data.files import check_stamps, file_stamp

        stamps = {path: file_stamp(path) for path in self.files}
        try:
            loaded = self._read()
        finally:
            check_stamps(stamps)  # what is wrong with a file may be that it is being written
        return loaded

    def checksum(self) -> str:
        """Return the checksum of the numbers, ``load().checksum``: take that where the data are
        loaded anyway.
        """
        return self.load().checksum

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of the user's that are read."""
        return ()

    def _read(self) -> Dataset:
        raise NotImplementedError

    def plain(self) -> str | dict[str, Any]:
        """Return the value as TOML holds it: a table, or a name alone where all options have their
        defaults.
        """
        if self.set_name and self == type(self)():
            return self.set_name
        given = {
            key_of(field.name): getattr(self, field.name) for field in dataclasses.fields(self)
        }
        table = {key: value for key, value in given.items() if value is not None}
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
            here: a name in .nwb, ``source`` or ``target`` say that a file is a recording.
        options
            Fields of the value, in place of those ``given``. Text is read as the field's type.
        """
        if isinstance(given, Data):
            return _made(type(given), vars(given) | dict(options))
        named = {one.set_name: one for one in cls.kinds() if one.set_name}
        fields = _table(given, named) | dict(options)
        place = fields.get("name", fields.get("file"))
        if not isinstance(place, str):
            raise SettingsError(
                "data: must be a name that `biorrr data` lists or a file, as text or as a table"
                f" (got {given!r})"
            )
        if fields.pop("name", None) in named:
            return _made(named[place], fields)
        hint = did_you_mean(place, named)
        mistyped = (
            hint and isinstance(given, str) and not Path(place).exists() and not Path(place).suffix
        )
        if "file" not in fields or mistyped:
            raise DataError(
                f"{place}: no such data set or file" + (hint or f"; there are {', '.join(named)}")
            )
        files: list[Any] = [one for one in cls.kinds() if not one.set_name]
        return _made(next(one for one in files if one.is_meant(fields)), fields)


@dataclass(frozen=True, kw_only=True)
class FileData(Data):
    """Base of data in a file of the user's."""

    file: str = option(dataclasses.MISSING, "path of the file", metavar="FILE", kw_only=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file."""
        return (Path(self.file),)

    @property
    def name(self) -> str:
        """Path of the file."""
        return self.file

    @classmethod
    def is_meant(cls, fields: Mapping[str, Any]) -> bool:
        """Return True if ``fields``, with the path of a file, say that it is of this kind."""
        raise NotImplementedError


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


def _made(kind: type[D], fields: Mapping[str, Any]) -> D:
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
