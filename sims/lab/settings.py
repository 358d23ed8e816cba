"""Settings of an experiment: one frozen dataclass from which options, configs and checks all
follow.
"""

from __future__ import annotations

import dataclasses
import math
import platform
import tomllib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from biorrr.errors import InputError
from biorrr.hints import did_you_mean
from biorrr.sims.lab.run_folder import PROVENANCE, VERSIONS, read_config

WORDS = {bool: "true or false", int: "a whole number", float: "a finite number", str: "text"}


class SettingsError(InputError):
    """A setting that does not exist or cannot have this value."""

    exit_code = 2


def option(
    default: Any,
    help: str,
    *,
    short: str | None = None,
    choices: Sequence[str] | None = None,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    metavar: str | None = None,
    kw_only: bool = True,
) -> Any:
    """Declare a field of :class:`Settings`.

    Parameters
    ----------
    default
        Its value unless told otherwise; None where the experiment works it out from the data.
    help
        What it is, in words that also serve as the remedy when a value is refused.
    short
        One-letter option beside the long one.
    choices, at_least, at_most
        The values allowed; bounds belong to the range. Choices of a number are words that may stand
        in its place.
    metavar
        What stands for the value in the help, where its type does not say enough.
    kw_only
        False for a field that may be given by position.
    """
    return dataclasses.field(
        default=default,
        kw_only=kw_only,
        metadata={
            "help": help,
            "short": short,
            "choices": choices,
            "bounds": (at_least, at_most),
            "metavar": metavar,
        },
    )


def data_option(default: Any, what: str = "") -> Any:
    """Declare the data, or a tuple of several, that circuits learn unless told otherwise; ``what``
    begins the help.
    """
    words = "a name that `biorrr data` lists, a file with X and Y, or a recording of two areas"
    several = "; may be repeated" if isinstance(default, tuple) else ""
    return option(default, f"{what and f'{what}: '}{words}{several}", metavar="NAME|FILE")


@dataclass(frozen=True)
@typing.dataclass_transform(kw_only_default=True, frozen_default=True)
class Settings:
    """Base of the settings of every experiment; each subclass is a frozen dataclass.

    Fields are made with :func:`option` and hold whole numbers, numbers, text, true or false, tuples
    of these, or None. A field's name is the long option's name and the key in a config, with ``_``
    for ``-``. Values are checked here, wherever they come from. A class keyword gives an inherited
    field another default: ``class OwnSettings(ExperimentSettings, seeds=8)``.
    """

    def __init_subclass__(cls, **defaults: Any) -> None:
        for name, default in defaults.items():
            metadata = cls.__dataclass_fields__[name].metadata
            cls.__annotations__[name] = typing.get_type_hints(cls.__base__)[name]
            setattr(cls, name, dataclasses.field(default=default, metadata=metadata))
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, (kind, optional, many, length) in kinds(type(self)).items():
            value = getattr(self, name)
            if value is None and optional:
                continue
            metadata = type(self).__dataclass_fields__[name].metadata
            if many:
                if (
                    not isinstance(value, list | tuple)
                    or not value
                    or len(value) != (length or len(value))
                ):
                    wanted = f"{length} values" if length else "a list of values"
                    raise SettingsError(
                        f"{key_of(name)}: must be {wanted} (got {value!r}); {metadata['help']}"
                    )
                checked = tuple(_checked(name, kind, item, metadata) for item in value)
            else:
                checked = _checked(name, kind, value, metadata)
            object.__setattr__(self, name, checked)

    @property
    def every_data(self) -> tuple[Any, ...]:
        """Names of the data that an experiment with these settings reads, each of which loads
        them.
        """
        data = getattr(self, "data", ())
        return data if isinstance(data, tuple) else (data,)


class BasicSettings(Settings):
    """Settings of every experiment."""

    engine: str = option(
        "auto", "engine that simulates the circuit", choices=("auto", "numpy", "cpp")
    )
    seed: int = option(0, "seed of the initial weights and of the order of samples", at_least=0)
    seeds: int = option(1, "number of seeds, counted from --seed on", at_least=1)
    format: str = option("png", "file format of the figures", choices=("png", "pdf", "svg"))
    checkpoint: float = option(30.0, "seconds between checkpoints", at_least=0)

    @property
    def every_seed(self) -> range:
        """The seeds to run."""
        return range(self.seed, self.seed + self.seeds)


class ExperimentSettings(BasicSettings):
    """Settings of an experiment that simulates the paper's circuit, or one of the user's."""

    circuit: str | None = option(
        None,
        "your own function that returns the circuit to be simulated",
        metavar="MODULE:FUNCTION|FILE.py:FUNCTION",
    )

    def make_circuit(self, kind: Callable[..., Any] | None = None, **arguments: Any) -> Any:
        """Make the circuit to simulate: a ``kind``, by default a Microcircuit, or what the user's
        function returns for ``arguments``.
        """
        from biorrr import circuit as circuits

        arguments = {"engine": self.engine} | arguments
        if self.circuit is None:
            return (kind or circuits.Microcircuit)(**arguments)
        from biorrr.sims.lab.own_circuits import make_circuit

        return make_circuit(self.circuit, **arguments)


NO_NUMBERS = ("format", "checkpoint")  # settings that change none


def listed_fields(cls: type[Settings]) -> list[dataclasses.Field]:
    """Return the fields in the order of the help; those of all experiments come last."""
    common = ExperimentSettings.__dataclass_fields__
    return sorted(dataclasses.fields(cls), key=lambda field: field.name in common)


class Kind(NamedTuple):
    """The kind of value that a field of settings holds."""

    type: type  # of the value, or of each value of a tuple
    optional: bool = False  # whether it may be None
    many: bool = False  # whether it is a tuple
    length: int | None = None  # of a tuple of fixed length


def kinds(cls: type[Settings]) -> dict[str, Kind]:
    """Return the kind of each field."""
    found = {}
    hints = typing.get_type_hints(cls)
    for name in (field.name for field in dataclasses.fields(cls)):
        hint = hints[name]
        optional = isinstance(hint, types.UnionType)
        hint = typing.get_args(hint)[0] if optional else hint
        inner = typing.get_args(hint) if typing.get_origin(hint) is tuple else ()
        length = len(inner) if inner and Ellipsis not in inner else None
        found[name] = Kind(inner[0] if inner else hint, optional, bool(inner), length)
    return found


def _checked(name: str, kind: Any, value: Any, metadata: Mapping) -> Any:
    """Return ``value`` as a ``kind`` within the field's bounds and choices."""
    if issubclass(kind, Settings):  # data, which are values with fields of their own
        return kind.made_from(value)  # type: ignore[attr-defined]
    choices = metadata["choices"]
    if choices and value in choices:
        return value
    if kind is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if type(value) is int and value.bit_length() > 63:
        raise SettingsError(f"{key_of(name)}: must fit 64 bits (got more); {metadata['help']}")
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        words = (
            " or ".join([WORDS[kind], *map(repr, choices)])
            if choices and kind is float
            else WORDS[kind]
        )
        raise SettingsError(f"{key_of(name)}: must be {words} (got {value!r}); {metadata['help']}")
    if choices and kind is not float:
        raise SettingsError(
            f"{key_of(name)}: must be one of {', '.join(choices)} (got"
            f" {value!r}){did_you_mean(str(value), choices)}"
        )
    low, high = metadata["bounds"]
    if kind in (int, float) and not low <= value <= high:
        wanted = f"be at least {low}" if high == math.inf else f"lie in [{low}, {high}]"
        raise SettingsError(f"{key_of(name)}: must {wanted} (got {value}); {metadata['help']}")
    return value


def key_of(name: str) -> str:
    """Spell a field's name as the user does, in options and configs."""
    return name.replace("_", "-")


def resolve(
    cls: type[Settings],
    config: Path | None = None,
    assignments: Sequence[str] = (),
    given: Mapping[str, Any] = {},
    folder: Path | None = None,
) -> Settings:
    """Make settings from, later ones winning: defaults, a config file, ``key=value`` assignments,
    options ``given``.

    ``folder`` is the run folder that the config lies in, where it is read from one.
    """
    values = read_config(config, folder) if config else {}
    values.pop(PROVENANCE, None)
    values = {field_named(cls, key, f"in {config}"): value for key, value in values.items()}
    beside: dict[str, dict[str, Any]] = {}  # by name of a field that holds data, options of these
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise SettingsError(f"set: must be key=value (got {assignment!r})")
        key, _, part = key.strip().partition(".")
        name = field_named(cls, key, "of --set")
        kind, _, many, _ = kinds(cls)[name]
        if part and issubclass(kind, Settings) and not many:  # such as data.source
            beside.setdefault(name, {})[part.replace("-", "_")] = text.strip()
        else:
            values[name] = parsed(kind, many, text.strip())
    given = dict(given)
    for name in [*given.keys() - kinds(cls).keys()]:  # an option of --data
        beside.setdefault("data", {})[name] = given.pop(name)
    values |= given
    for name, options in beside.items():
        known = values.get(name, cls.__dataclass_fields__[name].default)
        if known is None:
            raise SettingsError(
                f"{key_of(next(iter(options)))}: is chosen of a file; name it with --{key_of(name)}"
            )
        values[name] = kinds(cls)[name].type.made_from(known, options)  # type: ignore[attr-defined]
    return cls(**values)


def field_named(cls: type[Settings], key: str, where: str) -> str:
    """Return the name of the field that ``key`` means."""
    known = [key_of(field.name) for field in dataclasses.fields(cls)]
    if key_of(key) not in known:
        remedy = did_you_mean(key_of(key), known) or f"; the settings are {', '.join(known)}"
        raise SettingsError(f"{key}: no such setting, {where}{remedy}")
    return key.replace("-", "_")


def parsed(kind: type, many: bool, text: str) -> Any:
    """Read the value written as ``text``, as TOML has it, but without quotes; text that is not one
    is left for the check to refuse.
    """
    if not many and (kind is str or issubclass(kind, Settings)):
        return text
    bare = text.removeprefix("[").removesuffix("]")
    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(f"value = [{bare}]" if many else f"value = {text}")["value"]
    parts = [part.strip().strip("'\"") for part in bare.split(",")]
    return [parsed(kind, False, part) for part in parts] if many else text


def provenance(experiment: str, **more: str | bool) -> dict[str, Any]:
    """Say what wrote a config: the experiment, the versions its results can depend on, and
    ``more``.
    """
    from importlib.metadata import version

    return {
        "experiment": experiment,
        "python": platform.python_version(),
        **{name: version(name) for name in VERSIONS},
        **more,
    }


def config_text(settings: Settings, provenance: Mapping[str, Any]) -> str:
    """Write the settings as TOML that :func:`resolve` reads back, with what made them in a table of
    its own.
    """
    import tomli_w

    values = {
        key_of(field.name): getattr(settings, field.name) for field in listed_fields(type(settings))
    }
    values = {key: plain(value) for key, value in values.items() if value is not None}
    return tomli_w.dumps({**values, PROVENANCE: dict(provenance)})


def plain(value: Any) -> Any:
    """Return the value of a setting as TOML and JSON hold it: data are tables."""
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return value.plain() if isinstance(value, Settings) else value  # type: ignore[attr-defined]
