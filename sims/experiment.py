"""The frame of every experiment: its settings become options, its run gets a folder and the same few extra options."""

from __future__ import annotations

import dataclasses
import inspect
import os
import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from biorrr.sims.folder import RunFolder
from biorrr.sims.settings import Settings, key_of, kinds, resolve

# What results can depend on, beside the settings.
VERSIONS = ("biorrr", "numpy", "scipy", "brian2")

# The options every experiment has beside its settings: name, type, default, option.
FRAME = (
    (
        "out",
        Path | None,
        None,
        typer.Option("--out", help="folder to fill", show_default="runs/<experiment>-<date>-<time>", metavar="DIR"),
    ),
    ("force", bool, False, typer.Option("--force", help="replace the run that is in the folder")),
    (
        "config",
        Path | None,
        None,
        typer.Option("--config", help="settings from a TOML file, such as a run's config.toml", metavar="FILE"),
    ),
    (
        "assignments",
        list[str] | None,
        None,
        typer.Option("--set", help="one setting, over the config's; may be repeated", metavar="KEY=VALUE"),
    ),
    ("debug", bool, False, typer.Option("--debug", help="show the traceback of an error")),
)


def provenance(experiment: str, **more: str | bool) -> dict[str, Any]:
    """Say what wrote a config: the experiment, the versions its results can depend on, and whatever is told."""
    return {
        "experiment": experiment,
        "python": platform.python_version(),
        **{name: version(name) for name in VERSIONS},
        **more,
    }


class StoppedError(Exception):
    """A run that ended early with what it had recorded saved; ends the command with this message and exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def command(cls: type[Settings], run: Callable[[Any, RunFolder], None]) -> Callable[..., None]:
    """Make the function that typer turns into a command.

    Parameters
    ----------
    cls
        The experiment's settings; each field becomes an option.
    run
        Called with the resolved settings and the run folder, not yet open. Its module is named after the experiment,
        and its docstring is the command's help.
    """
    experiment = run.__module__.rpartition(".")[2]

    # ``debug`` is only declared: main looks for it itself.
    def call(out: Path | None, force: bool, config: Path | None, assignments: list[str] | None, debug: bool, **options):
        os.environ.setdefault("MPLBACKEND", "agg")  # figures go to files: no window system is needed
        given = {name: value for name, value in options.items() if value not in (None, [])}
        run(resolve(cls, config, assignments or (), given), RunFolder(experiment, out, force, config))

    parameters = [_parameter(field, *kinds(cls)[field.name]) for field in dataclasses.fields(cls)]
    for name, kind, default, made in FRAME:
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, made])
        )
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__doc__ = run.__doc__
    call.settings, call.run = cls, run  # type: ignore[attr-defined]
    return call


def _parameter(field: dataclasses.Field[Any], kind: Any, optional: bool, many: bool) -> inspect.Parameter:
    """Make the parameter that typer makes an option of; None means that the user did not give it."""
    metadata = field.metadata
    key = key_of(field.name)
    default: Any = field.default
    shown = ",".join(map(str, default)) if many else str(default)
    made = typer.Option(
        f"--{key}/--no-{key}" if kind is bool else f"--{key}",
        *([f"-{metadata['short']}"] if metadata["short"] else []),
        help=metadata["help"],
        show_default=False if optional else shown,
        metavar="|".join(metadata["choices"]) if metadata["choices"] else None,
        autocompletion=_completion(metadata),
    )
    value = list[kind] if many else kind
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[value | None, made]
    )


def _completion(metadata: Mapping) -> Callable[[str], list[str]] | None:
    if metadata["choices"]:
        return lambda incomplete: [choice for choice in metadata["choices"] if choice.startswith(incomplete)]
    return metadata["completion"]
