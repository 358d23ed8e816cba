"""The command line: ``biorrr <command>``. Only the command that is asked for is imported."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from biorrr.errors import BiorrrError
from biorrr.interrupt import PRESSED
from biorrr.sims.experiments import experiment_names, find_experiment, summary_of
from biorrr.sims.start import SENTENCE, once
from biorrr.sims.start import main as main

# Commands that are no experiments: where they are, and what they do.
TOOLS = {
    "live": (
        "biorrr.sims.cli.live",
        "Write a page on which a circuit learns in the browser, and open it.",
    ),
    "report": (
        "biorrr.sims.cli.report",
        "Write a page to look at in a browser, of one run or several side by side.",
    ),
    "doctor": (
        "biorrr.sims.cli.doctor",
        "Show versions, compiler, engines that work here: what to paste into a bug report.",
    ),
    "sweep": (
        "biorrr.sims.sweeps.points",
        "Run an experiment over many settings and seeds, in one table.",
    ),
    "resume": (
        "biorrr.sims.cli.resume",
        "Continue a run that was cut short, from its last checkpoint, or a sweep.",
    ),
    "data": (
        "biorrr.sims.data.look",
        "List the data sets: where from, licence, citation, whether found.",
    ),
}
# Commands as the help lists them; an experiment that is not named here comes last.
GROUPS = {
    "Start": ("learn", "plateau", "symmetry", "wiring", "family", "live"),
    "The paper": ("compare", "paper"),
    "Biology": ("hierarchy", "robustness", "timing", "theories", "interneurons"),
    "Your data": ("communication", "data"),
    "Tools": ("sweep", "report", "resume", "doctor"),
}


def commands() -> list[str]:
    """Return the names of all commands: the experiments, then the tools."""
    return [*experiment_names(), *TOOLS]


def find_command(name: str) -> Callable[..., None]:
    """Import a command. That of an experiment, or of a tool with settings, has ``settings`` and
    ``run``.
    """
    if name in TOOLS:
        return importlib.import_module(TOOLS[name][0]).command
    experiment = find_experiment(name)
    from biorrr.sims.cli.options import command
    from biorrr.sims.lab.lab import carry_out

    return command(
        experiment.settings, functools.partial(carry_out, experiment), name, experiment.about
    )


class LazyCommands(TyperGroup):
    """The commands as stubs for help and completion; the real one is imported when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in commands():
            about = TOOLS[name][1] if name in TOOLS else summary_of(name)
            self.commands[name] = TyperCommand(name, short_help=about)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by their groups."""
        named = [name for group in GROUPS.values() for name in group]
        more = [name for name in self.commands if name not in named]
        for title, names in (GROUPS | ({"More": more} if more else {})).items():
            rows = [(f"{name:13}", self.commands[name].get_short_help_str()) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that ``args`` begin with, import it, and return what is left of
        ``args``.
        """
        name, stub, rest = super().resolve_command(ctx, args)
        if name is None or stub is None:  # while completing what is not yet a command
            return name, stub, rest
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, context_settings=HELP)(find_command(name))
        return name, typer.main.get_command(single), rest


HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    cls=LazyCommands,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def biorrr(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Simulate a cortical microcircuit that learns by calcium plateau potentials."""
    if version:
        print(f"biorrr {importlib.metadata.version('biorrr')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(args: list[str]) -> int:
    """Run one command line; returns its exit code: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    with warnings.catch_warnings():
        # Ours are meant for the user, whatever the filters outside. Pyparsing's for programmers are
        # UserWarnings too.
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        is_new = once()

        def say_once(message, *_, **__) -> None:
            if is_new(str(message)):
                print(f"biorrr: warning: {message}", file=sys.stderr)

        warnings.showwarning = say_once
        try:
            # 130 after a KeyboardInterrupt
            code = app(args, prog_name="biorrr", standalone_mode=False) or 0
        except Exception as error:
            code = getattr(error, "exit_code", 1)
            # Libraries turn an interrupt into errors of their own.
            if code == 130 or not PRESSED.is_set():
                # Looked for here and not parsed, so that it also holds for errors of parsing.
                if "--debug" in args:
                    traceback.print_exc()
                else:
                    print(f"biorrr: {_sentence(error)}", file=sys.stderr)
                return code
    if code == 130 or PRESSED.is_set():
        sys.stderr.write(SENTENCE)
        return 130
    return code


def _sentence(error: Exception) -> str:
    """Put an error in words for the user."""
    if hasattr(error, "format_message"):  # an error of parsing
        context = getattr(error, "ctx", None)
        said = error.format_message()
        stop = "" if said.endswith((".", "?", "!")) else "."
        return f"{said}{stop} See {context.command_path if context else 'biorrr'} --help."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, BiorrrError):
        return str(error)
    return (
        f"unexpected {type(error).__name__}: {error}; this is a fault of biorrr: please report it,"
        " with what --debug and `biorrr doctor` print"
    )
