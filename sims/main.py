"""The command line: ``biorrr <command>``. Only the command that is asked for is imported."""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

COMMANDS = {
    "learn": "Let the circuit learn data and compare it with the exact solution.",
    "plateau": "Show plateau potentials, and that they come to carry the back-propagated error.",
    "symmetry": "Show how the interneurons' two sets of weights, Q and R, find each other.",
    "wiring": "Draw the circuit with the weights it has learned.",
    "compare": "Race the circuit against the algorithms the paper compares with.",
    "images": "Compare Bio-RRMSE with backprop on picture classification.",
    "communication": "Let the circuit learn the V1-V2 communication subspace and predict held-out trials.",
    "robustness": "Depart from the paper's circuit in many ways, and see how far it still learns.",
    "report": "Write a page to look at in a browser, of one run or several side by side.",
    "bench": "Measure how fast the circuit is, beside the same equations in NumPy, numba, JAX and C.",
    "doctor": "Show versions, compiler, engines that work here: what to paste into a bug report.",
    "sweep": "Run an experiment over many settings and seeds, in one table.",
    "resume": "Continue a run that was cut short, from its last checkpoint, or a sweep.",
    "data": "List the data sets: where from, licence, citation, whether found.",
}

# Of the commands whose module is not biorrr.sims.<command>.
MODULES = {"data": "biorrr.sims.data.listing", "sweep": "biorrr.sims.sweeps.run"}


class LazyCommands(TyperGroup):
    """The commands as one-line stubs for help and completion; the real one is imported when it is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that ``args`` begin with, import it, and return what is left of ``args``."""
        name, stub, rest = super().resolve_command(ctx, args)
        if name is None or stub is None:  # while completing what is not yet a command
            return name, stub, rest
        module = importlib.import_module(MODULES.get(name, f"biorrr.sims.{name}"))
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name)(module.command)
        return name, typer.main.get_command(single), rest


app = typer.Typer(cls=LazyCommands, rich_markup_mode=None, pretty_exceptions_enable=False)

for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(lambda: None)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"biorrr {version('biorrr')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def biorrr(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Simulate a cortical microcircuit that learns by calcium plateau potentials."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(args: list[str]) -> int:
    """Run one command line; returns its exit code: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    with warnings.catch_warnings():
        # Ours are meant for the user, whatever the filters outside. Pyparsing's for programmers are UserWarnings too.
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        said: set[str] = set()

        def say_once(message, *_, **__) -> None:
            if str(message) not in said:
                said.add(str(message))
                print(f"biorrr: warning: {message}", file=sys.stderr)

        warnings.showwarning = say_once
        try:
            code = app(args, prog_name="biorrr", standalone_mode=False) or 0
        except typer.Abort:  # how typer before 0.21 hands on a KeyboardInterrupt; later it returns 130
            code = 130
        except Exception as error:
            # Looked for here and not parsed, so that it also holds for errors of parsing.
            if "--debug" in args:
                traceback.print_exc()
            else:
                print(f"biorrr: {_sentence(error)}", file=sys.stderr)
            return getattr(error, "exit_code", 1)
    if code == 130:
        print("biorrr: interrupted", file=sys.stderr)
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
    if isinstance(error, ValueError) or type(error).__module__.startswith("biorrr."):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; run again with --debug to see where"


def main() -> None:
    """Entry point of the ``biorrr`` command."""
    sys.exit(run(sys.argv[1:]))
