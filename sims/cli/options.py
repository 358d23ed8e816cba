"""Settings as options of a command: one declaration makes both."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from biorrr.sims.lab.run_folder import RunFolder
from biorrr.sims.lab.settings import Kind, Settings, key_of, kinds, listed_fields, parsed, resolve

VALUES = {int: "INTEGER", float: "NUMBER", str: "TEXT"}  # in the help


def command(
    cls: type[Settings],
    run: Callable[[Any, RunFolder], Any],
    name: str | None = None,
    about: str | None = None,
) -> Callable[..., None]:
    """Make the function that typer turns into a command.

    Parameters
    ----------
    cls
        The command's settings; each field becomes an option.
    run
        Called with the resolved settings and the run folder, not yet open.
    name
        Of the command; that of the module of ``run`` unless given.
    about
        The command's help; the docstring of ``run`` unless given.
    """
    experiment = name or run.__module__.rpartition(".")[2]

    # The options every experiment has beside its settings. ``debug`` is only declared: main looks
    # for it itself.
    def call(
        *,
        out: Annotated[
            Path | None,
            typer.Option(
                help="run folder to fill  [default: runs/<experiment>-<date>-<time>]", metavar="DIR"
            ),
        ] = None,
        force: Annotated[
            bool, typer.Option("--force", help="replace the run that is already in the folder")
        ] = False,
        config: Annotated[
            Path | None,
            typer.Option(
                help="TOML file with settings, such as config.toml of a run", metavar="FILE"
            ),
        ] = None,
        assignments: Annotated[
            list[str] | None,
            typer.Option(
                "--set",
                help="one setting, in place of that of the config; may be repeated",
                metavar="KEY=VALUE",
            ),
        ] = None,
        debug: Annotated[
            bool, typer.Option("--debug", help="show the traceback of an error")
        ] = False,
        **options: Any,
    ) -> None:
        # Figures go to files: no window system is needed.
        os.environ.setdefault("MPLBACKEND", "agg")
        given = {name: value for name, value in options.items() if value not in (None, [])}
        settings = resolve(cls, config, assignments or (), given)
        run(settings, RunFolder(experiment, out, force, config))

    parameters = [_parameter(field, *kinds(cls)[field.name]) for field in listed_fields(cls)]
    parameters += [_parameter(field, *types) for field, *types in data_options(cls)]
    *frame, _ = inspect.signature(call, eval_str=True).parameters.values()
    parameters += frame
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__doc__ = about or run.__doc__
    call.settings, call.run = cls, run  # type: ignore[attr-defined]
    return call


def _parameter(
    field: dataclasses.Field[Any], kind: Any, optional: bool, many: bool, length: int | None
) -> inspect.Parameter:
    """Make the parameter that typer makes an option of; None means that the user did not give
    it.
    """
    metadata, key = field.metadata, key_of(field.name)
    choices = metadata["choices"] or ()
    shown = "" if optional else f"  [default: {in_help(key, field.default)}]"
    made = typer.Option(
        f"--{key}/--no-{key}" if kind is bool else f"--{key}",
        *([f"-{metadata['short']}"] if metadata["short"] else []),
        help=metadata["help"] + shown,
        show_default=False,
        metavar=_metavar(kind, metadata),
        autocompletion=lambda incomplete: [one for one in choices if one.startswith(incomplete)],
        # A number in whose place a word may stand is read as either; settings refuse other words.
        parser=((lambda text: parsed(kind, False, text)) if kind is float and choices else None),
    )
    if issubclass(kind, Settings):  # data: a name or a file, with options of its own beside it
        kind = str
    value: Any = tuple[(kind,) * length] if length else list[kind] if many else kind  # type: ignore[misc]
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[value | None, made],
    )


def _metavar(kind: Any, metadata: Any) -> str | None:
    """Return what stands for the value in the help: the choices, where there are any."""
    if not metadata["choices"]:
        return metadata["metavar"] or VALUES.get(kind)
    return "|".join([*([VALUES[kind]] if kind is float else []), *metadata["choices"]])


def in_help(key: str, value: Any) -> str:
    """Return the default of an option as the user would write it."""
    if isinstance(value, tuple):
        return ", ".join(in_help(key, one) for one in value)
    if isinstance(value, bool):
        return key if value else f"no-{key}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def data_options(cls: type[Settings]) -> list[tuple[Any, ...]]:
    """Return the options beside --data: field, type, whether it may be None, whether it is a list,
    its length.

    They are the fields of all kinds of files that the settings take; options of named data sets are
    --set data.KEY.
    """
    kind, _, many, _ = kinds(cls).get("data", Kind(str))
    if many or not issubclass(kind, Settings):
        return []
    found: dict[str, tuple[Any, ...]] = {}
    for one in kind.kinds():  # type: ignore[attr-defined]
        for field in dataclasses.fields(one) if "file" in one.__dataclass_fields__ else ():
            if field.name != "file" and field.name not in cls.__dataclass_fields__:
                found.setdefault(field.name, (field, *kinds(one)[field.name]))
    return [*found.values()]
